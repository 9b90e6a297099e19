// filter/xxh3_number.h: XXH3-64 of the nine canonical bytes of an integer id.

#pragma once

#include <cstdint>

namespace seendb {

/// The bits of a hash that a fingerprint leaves out, the low ones.
inline constexpr unsigned kDroppedHashBits = 16;

/// XXH3-64 of the byte 0xFF and `number` in 8 bytes little-endian, worked out in registers: made in
/// memory, they would be read back across two stores, which costs more than the hash. The terms are
/// those of the specification for inputs of 9-16 bytes; `flip_low` and `flip_high` are what it
/// makes of the secret's bytes 24-39 and 40-55, and of the seed.
inline uint64_t Xxh3OfNumber(uint64_t number, uint64_t flip_low, uint64_t flip_high) noexcept {
  constexpr uint64_t kCanonicalBytes = 1 + sizeof(number);
  constexpr uint64_t kAvalanche = 0x1656'6791'9E37'79F9ULL;
  const uint64_t low = (0xFF | (number << 8)) ^ flip_low;  // canonical bytes 0-7
  const uint64_t high = number ^ flip_high;                // canonical bytes 1-8
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(low) * high;
  uint64_t hash = kCanonicalBytes + __builtin_bswap64(low) + high +
                  (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64));
  hash = (hash ^ (hash >> 37)) * kAvalanche;
  return hash ^ (hash >> 32);
}

}  // namespace seendb
