#include "format/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb {

uint64_t HashBytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void Seal32(std::string* out) { PutU32(out, static_cast<uint32_t>(HashBytes(*out))); }

bool Open32(std::string_view value, Tag tag, std::string_view* body) {
  if (value.size() < 5 || static_cast<uint8_t>(value[0]) != static_cast<uint8_t>(tag)) return false;
  const std::string_view covered = value.substr(0, value.size() - 4);
  uint32_t stored = 0;
  for (size_t i = 0; i < 4; ++i) {
    stored |= static_cast<uint32_t>(static_cast<uint8_t>(value[covered.size() + i])) << (8 * i);
  }
  if (stored != static_cast<uint32_t>(HashBytes(covered))) return false;
  *body = covered.substr(1);
  return true;
}

}  // namespace seendb
