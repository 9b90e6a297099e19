// engine/filter/hash.h: fingerprints of items, and the shard of a user.
//
// Source: XXH3-64 (xxHash specification 0.1.1); MurmurHash2 as in Apache Kafka's default
// partitioner. Both are part of the format. Fingerprints here are of hash version 1; those of a
// database, whatever its version, are made by its ItemHash (item_hash.h).
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "seendb/id.h"

namespace seendb {

/// 48 bits of hash, in the low bits; the others are zero.
using Fingerprint = uint64_t;

inline constexpr Fingerprint kFingerprintMask = (uint64_t{1} << 48) - 1;
/// Bytes of a packed fingerprint, little-endian.
inline constexpr size_t kFingerprintBytes = 6;
/// The versions of fingerprints that a database's identity may name; new databases have the newest.
inline constexpr uint32_t kOldestHashVersion = 1;
inline constexpr uint32_t kNewestHashVersion = 2;
/// XXH3's seed.
inline constexpr uint64_t kHashSeed = 0x5EE0'DB01'5EE0'DB01ULL;

/// Version 1: the top 48 bits of XXH3-64 of the canonical id: an integer is the byte 0xFF (which no
/// UTF-8 holds, so that no text equals it) and 8 bytes little-endian; text is its bytes.
Fingerprint FingerprintOf(const IdRef& id) noexcept;

/// The same for many; `out` holds ids.size().
void FingerprintsOf(std::span<const IdRef> ids, Fingerprint* out) noexcept;

/// Reads and writes a packed fingerprint: exactly kFingerprintBytes at `p`, unaligned.
inline Fingerprint LoadFingerprint(const uint8_t* p) noexcept {
  uint32_t low = 0;
  uint16_t high = 0;
  std::memcpy(&low, p, sizeof(low));
  std::memcpy(&high, p + sizeof(low), sizeof(high));
  return low | (static_cast<uint64_t>(high) << 32);
}
inline void StoreFingerprint(Fingerprint fp, uint8_t* p) noexcept {
  const auto low = static_cast<uint32_t>(fp);
  const auto high = static_cast<uint16_t>(fp >> 32);
  std::memcpy(p, &low, sizeof(low));
  std::memcpy(p + sizeof(low), &high, sizeof(high));
}

/// Kafka's 32-bit hash of a key (org.apache.kafka.common.utils.Utils.murmur2).
int32_t KafkaMurmur2(std::string_view key) noexcept;

/// The shard that owns a user: Kafka's default partitioner on the user's canonical text.
/// Precondition: shards > 0.
uint32_t ShardOf(std::string_view user_text, uint32_t shards) noexcept;
/// The same without making the text of an integer id.
uint32_t ShardOf(const IdRef& user, uint32_t shards) noexcept;

}  // namespace seendb
