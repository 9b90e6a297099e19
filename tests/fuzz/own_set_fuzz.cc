// Arbitrary bytes as a user's own set: refused, or read to a set that is written and read again as
// itself; the union of it with itself is itself.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "format/own_set_codec.h"
#include "fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string value = seendb::fuzz::ValueOf(
      std::string_view(reinterpret_cast<const char*>(data), size), seendb::Tag::kOwnSet);
  seendb::StoredOwnSet set;
  if (!set.Parse(value)) return 0;
  std::string written;
  set.Encode(&written);
  seendb::StoredOwnSet again;
  if (!again.Parse(written) || again.items != set.items || again.said != set.said ||
      again.said_ms != set.said_ms || again.ends_ms() != set.ends_ms() ||
      again.damage.entries.size() != set.damage.entries.size()) {
    std::abort();
  }
  seendb::OwnSetUnion all;
  if (!all.Add(written) || !all.Add(value)) std::abort();
  std::string united;
  all.Encode(&united);
  if (set.damage.empty() && united != written) std::abort();
  return 0;
}
