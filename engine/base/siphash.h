// base/siphash.h: a hash with a secret key. Without the key, the hash of a text can't be predicted,
// not even from the hashes of other texts.
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
/// Parses 32 hexadecimal digits as 16 bytes. Nothing for any other text.
std::optional<std::array<uint8_t, 16>> ParseKeyBytes(std::string_view text);
/// Parses 32 hexadecimal digits as a HashKey. Nothing for any other text.
std::optional<HashKey> ParseHashKey(std::string_view text);
/// Writes the key as 32 hexadecimal digits.
std::string HashKeyToText(const HashKey& key);
/// A key out of the system's source of randomness.
HashKey RandomHashKey();

/// SipHash-2-4 of `text`.
uint64_t SipHash(const HashKey& key, std::string_view text) noexcept;

}  // namespace seendb
