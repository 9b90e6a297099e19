// Makes fingerprints out of ids. It needs neither a C++ library nor a C library but memcpy, memset
// and memcmp: wasm/seendb_local.cc is made of it, too.

#pragma once

#include "seendb_local.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb_local_hash {

constexpr size_t kMostDigits = 20;
constexpr uint64_t kSeed = 0x5EE0'DB01'5EE0'DB01ULL;
constexpr unsigned kDroppedBits = 16;

inline uint64_t OfBytes(const seendb_local_key& key, const void* bytes, size_t size) {
  const uint64_t hash = key.version >= 2
                            ? XXH3_64bits_withSecret(bytes, size, key.secret, sizeof(key.secret))
                            : XXH3_64bits_withSeed(bytes, size, kSeed);
  return hash >> kDroppedBits;
}

inline uint64_t OfNumber(const seendb_local_key& key, uint64_t number) {
  uint8_t bytes[1 + sizeof(number)] = {0xFF};
  for (size_t i = 0; i < sizeof(number); ++i) bytes[1 + i] = static_cast<uint8_t>(number >> 8 * i);
  return OfBytes(key, bytes, sizeof(bytes));
}

inline bool ToNumber(const char* text, size_t size, uint64_t* number) {
  if (size == 0 || size > kMostDigits || (text[0] == '0' && size > 1)) return false;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    const auto digit = static_cast<uint64_t>(text[i] - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

inline uint64_t OfText(const seendb_local_key& key, const char* text, size_t size) {
  uint64_t number = 0;
  return ToNumber(text, size, &number) ? OfNumber(key, number) : OfBytes(key, text, size);
}

}  // namespace seendb_local_hash
