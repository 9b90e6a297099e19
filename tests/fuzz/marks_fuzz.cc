// Arbitrary bytes as marks: refused, or read to a list that is written and read again as itself;
// Normalize changes nothing of it but the number of deletions, and leaves each group's mark.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "format/marks_codec.h"
#include "fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string value = seendb::fuzz::ValueOf(
      std::string_view(reinterpret_cast<const char*>(data), size), seendb::Tag::kMarks);
  seendb::MarkList list;
  if (!list.Parse(value)) return 0;
  std::string written;
  list.Encode(&written);
  seendb::MarkList again;
  if (!again.Parse(written) || again.marks != list.marks || again.deletions != list.deletions ||
      again.damage.entries.size() != list.damage.entries.size()) {
    std::abort();
  }
  seendb::MarkList united;
  united.Add(again);
  united.Add(list);
  united.Normalize();
  if (united.marks != list.marks || united.groups() > united.marks.size()) std::abort();
  for (const seendb::StoredMark& mark : list.marks) {
    const seendb::StoredMark* const found = list.Find(mark.group);
    if (found == nullptr || found->until_ms < mark.until_ms) std::abort();
  }
  united.Normalize(20);
  if (united.deletions.size() > 20) std::abort();
  return 0;
}
