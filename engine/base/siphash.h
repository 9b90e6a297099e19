// base/siphash.h: a hash with a secret key: who does not know the key can't tell the hash of a
// text, however many other hashes are known.
//
// Source: SipHash-2-4 (Aumasson, Bernstein 2012). Threads: plain values and pure functions.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seendb {

/// A key of 128 bits.
struct HashKey {
  uint64_t low = 0, high = 0;
  bool operator==(const HashKey&) const = default;
};

/// 16 bytes in their order, as SipHash takes its key.
HashKey HashKeyOf(const std::array<uint8_t, 16>& bytes) noexcept;
/// Reads 32 hexadecimal digits: the 16 bytes. Nothing for any other text.
std::optional<std::array<uint8_t, 16>> ParseKeyBytes(std::string_view text);
/// The same as a key.
std::optional<HashKey> ParseHashKey(std::string_view text);
/// As ParseHashKey reads it.
std::string HashKeyToText(const HashKey& key);
/// A key out of the system's source of randomness.
HashKey RandomHashKey();

/// SipHash-2-4 of `text`.
uint64_t SipHash(const HashKey& key, std::string_view text) noexcept;

}  // namespace seendb
