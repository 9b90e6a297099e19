#include "filter/keyed_hash.h"

#include <array>
#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb {
namespace {

// As large as XXH3's own secret.
using Secret = std::array<uint32_t, 48>;
static_assert(sizeof(Secret) >= XXH3_SECRET_SIZE_MIN);

Secret DrawSecret() {
  std::random_device random;
  Secret secret;
  for (uint32_t& word : secret) word = random();
  return secret;
}

uint64_t Hash(const void* bytes, size_t size) noexcept {
  static const Secret secret = DrawSecret();
  return XXH3_64bits_withSecret(bytes, size, secret.data(), sizeof(secret));
}

}  // namespace

uint64_t KeyedHash(std::string_view bytes) noexcept { return Hash(bytes.data(), bytes.size()); }

uint64_t KeyedHash(uint64_t first, uint64_t second) noexcept {
  const uint64_t both[] = {first, second};
  return Hash(both, sizeof(both));
}

}  // namespace seendb
