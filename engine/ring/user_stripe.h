// ring/user_stripe.h: how what a slot holds is divided among locks: by user and collection.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filter/keyed_hash.h"

namespace seendb {

inline constexpr size_t kUserStripes = 16;

/// The hash of a user in a collection: a stripe is chosen by its top bits, a place of the stripe's
/// table by the low ones.
inline uint64_t HashOfUser(uint16_t collection, std::string_view user) {
  return KeyedHash(user) ^ (static_cast<uint64_t>(collection) * 0x9E37'79B9'7F4A'7C15ULL);
}
inline size_t UserStripeOf(uint64_t hash) { return hash >> 60; }

}  // namespace seendb
