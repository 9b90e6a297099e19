#include "filter/hash.h"

#include <bit>
#include <cassert>
#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(std::endian::native == std::endian::little, "formats are read in place");

namespace seendb {
namespace {

constexpr unsigned kDroppedBits = 16;

/// XXH3-64 of the nine canonical bytes of an integer, worked out in registers: made in memory,
/// they would be read back across two stores, which costs more than the hash. The terms are those
/// of the specification for inputs of 9-16 bytes; the secret's words are its bytes 24-55.
inline Fingerprint HashNumber(uint64_t number) noexcept {
  constexpr uint64_t kCanonicalBytes = 1 + sizeof(number);
  constexpr uint64_t kFlipLow = (0x1F67'B3B7'A4A4'4072ULL ^ 0x78E5'C0CC'4EE6'79CBULL) + kHashSeed;
  constexpr uint64_t kFlipHigh = (0x2172'FFCC'7DD0'5A82ULL ^ 0x8E24'43F7'7446'08B8ULL) - kHashSeed;
  constexpr uint64_t kAvalanche = 0x1656'6791'9E37'79F9ULL;
  const uint64_t low = (0xFF | (number << 8)) ^ kFlipLow;  // canonical bytes 0-7
  const uint64_t high = number ^ kFlipHigh;                // canonical bytes 1-8
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(low) * high;
  uint64_t hash = kCanonicalBytes + __builtin_bswap64(low) + high +
                  (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64));
  hash = (hash ^ (hash >> 37)) * kAvalanche;
  return (hash ^ (hash >> 32)) >> kDroppedBits;
}

inline Fingerprint HashText(std::string_view text) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), kHashSeed) >> kDroppedBits;
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
