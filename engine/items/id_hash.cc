#include "items/id_hash.h"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb::items {
namespace {

uint64_t ProcessSeed() {
  static const uint64_t seed = [] {
    std::random_device chance;
    return uint64_t{chance()} << 32 | chance();
  }();
  return seed;
}

}  // namespace

uint64_t HashId(const IdRef& id) {
  if (!id.is_number()) return HashText(id.text());
  const uint64_t number = id.number();
  return XXH3_64bits_withSeed(&number, sizeof(number), ~ProcessSeed());
}

uint64_t HashText(std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), ProcessSeed());
}

}  // namespace seendb::items
