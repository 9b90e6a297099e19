// Arbitrary bytes as impressions: refused, or read to a list that is written and read again as
// itself; Normalize is idempotent on it.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "format/impressions_codec.h"
#include "fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Bits 1 and 2 of the first byte say of which version a body is.
  const int extras = size > 0 ? (data[0] >> 1) & 3 : 0;
  const std::string value =
      seendb::fuzz::ValueOf(std::string_view(reinterpret_cast<const char*>(data), size),
                            extras >= 2   ? seendb::Tag::kImpressionsWithSurfaces
                            : extras == 1 ? seendb::Tag::kImpressionsWithIds
                                          : seendb::Tag::kImpressions);
  seendb::ImpressionList list;
  if (!list.Parse(value)) return 0;
  std::string written;
  list.Encode(&written);
  seendb::ImpressionList again;
  if (!again.Parse(written) || again.entries != list.entries ||
      again.damage.entries.size() != list.damage.entries.size()) {
    std::abort();
  }
  list.Normalize(20);
  again.Normalize(20);
  again.Normalize(20);
  if (again.entries != list.entries || list.entries.size() > 20) std::abort();
  return 0;
}
