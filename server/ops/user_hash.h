// server/ops/user_hash.h: a keyed hash of users, for logs: lines about one user can be found
// together, and the user can't be read off them.
//
// Source: SipHash-2-4 (Aumasson, Bernstein 2012). A seeded xxHash would not do: from one user that
// is known and its hash the seed can be computed, and with it the hashes of all other users.
// Threads: plain values.

#pragma once

#include <cstdint>
#include <string>

#include "base/siphash.h"
#include "seendb/id.h"

namespace seendb::ops {

/// SipHash-2-4 of an id's canonical text. Allocates nothing.
uint64_t HashUser(const HashKey& key, const IdRef& user) noexcept;

/// A hash as logs have it: 16 hexadecimal digits.
std::string HashText(uint64_t hash);

}  // namespace seendb::ops
