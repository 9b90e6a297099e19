// server/ops/user_hash.h: a keyed hash of users, for logs: lines about one user can be found
// together, and the user can't be read off them.
//
// Source: SipHash-2-4 (Aumasson, Bernstein 2012). A seeded xxHash would not do: from one user that
// is known and its hash the seed can be computed, and with it the hashes of all other users.
// Threads: plain values.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "seendb/id.h"

namespace seendb::ops {

/// A key of 128 bits.
struct HashKey {
  uint64_t low = 0, high = 0;
};

/// Reads 32 hexadecimal digits: 16 bytes in their order, as SipHash takes its key. Nothing for any
/// other text.
std::optional<HashKey> ParseHashKey(std::string_view text);
/// A key out of the system's source of randomness.
HashKey RandomHashKey();

/// SipHash-2-4 of `text`.
uint64_t SipHash(const HashKey& key, std::string_view text) noexcept;
/// The same of an id's canonical text. Allocates nothing.
uint64_t HashUser(const HashKey& key, const IdRef& user) noexcept;

}  // namespace seendb::ops
