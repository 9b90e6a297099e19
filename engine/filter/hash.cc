#include "filter/hash.h"

#include <bit>
#include <cassert>
#include <charconv>

#include "filter/xxh3_number.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(std::endian::native == std::endian::little, "formats are read in place");

namespace seendb {
namespace {

// What the specification makes of its own secret and of our seed.
constexpr uint64_t kFlipLow = (0x1F67'B3B7'A4A4'4072ULL ^ 0x78E5'C0CC'4EE6'79CBULL) + kHashSeed;
constexpr uint64_t kFlipHigh = (0x2172'FFCC'7DD0'5A82ULL ^ 0x8E24'43F7'7446'08B8ULL) - kHashSeed;

inline Fingerprint HashNumber(uint64_t number) noexcept {
  return Xxh3OfNumber(number, kFlipLow, kFlipHigh) >> kDroppedHashBits;
}

inline Fingerprint HashText(std::string_view text) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), kHashSeed) >> kDroppedHashBits;
}

inline Fingerprint Hash(const IdRef& id) noexcept {
  return id.is_number() ? HashNumber(id.number()) : HashText(id.text());
}

}  // namespace

Fingerprint FingerprintOf(const IdRef& id) noexcept { return Hash(id); }

void FingerprintsOf(std::span<const IdRef> ids, Fingerprint* out) noexcept {
  for (size_t i = 0; i < ids.size(); ++i) out[i] = Hash(ids[i]);
}

int32_t KafkaMurmur2(std::string_view key) noexcept {
  constexpr uint32_t kSeed = 0x9747B28C;
  constexpr uint32_t kMultiplier = 0x5BD1E995;
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(key[i]));
  };
  uint32_t hash = kSeed ^ static_cast<uint32_t>(key.size());
  size_t i = 0;
  for (; i + 4 <= key.size(); i += 4) {
    uint32_t word = 0;
    std::memcpy(&word, key.data() + i, sizeof(word));
    word *= kMultiplier;
    word ^= word >> 24;
    word *= kMultiplier;
    hash = (hash * kMultiplier) ^ word;
  }
  const size_t tail = key.size() - i;
  if (tail >= 3) hash ^= byte(i + 2) << 16;
  if (tail >= 2) hash ^= byte(i + 1) << 8;
  if (tail >= 1) hash = (hash ^ byte(i)) * kMultiplier;
  hash ^= hash >> 13;
  hash *= kMultiplier;
  hash ^= hash >> 15;
  return static_cast<int32_t>(hash);
}

uint32_t ShardOf(std::string_view user_text, uint32_t shards) noexcept {
  assert(shards > 0);
  return (static_cast<uint32_t>(KafkaMurmur2(user_text)) & 0x7FFF'FFFFU) % shards;
}

uint32_t ShardOf(const IdRef& user, uint32_t shards) noexcept {
  if (!user.is_number()) return ShardOf(user.text(), shards);
  char digits[kMaxDecimalDigits];
  const auto end = std::to_chars(digits, digits + sizeof(digits), user.number()).ptr;
  return ShardOf(std::string_view(digits, static_cast<size_t>(end - digits)), shards);
}

}  // namespace seendb
