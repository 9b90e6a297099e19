// filter/keyed_hash.h: the hash that tables in memory go by, of whatever clients name.
//
// Its key is random in each process and stored nowhere: nobody can choose ids that all fall into
// the same place of a table, which would make each look-up walk over all of them.
//
// Source: XXH3-64 with a secret of its own (xxHash specification 0.1.1).
// Threads: pure functions. Cost: a few ns for an id of usual length.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seendb {

uint64_t KeyedHash(std::string_view bytes) noexcept;
/// Of two numbers together, say the hashes of a user and of an item.
uint64_t KeyedHash(uint64_t first, uint64_t second) noexcept;

/// For std::unordered_map and its like.
struct KeyedHasher {
  using is_transparent = void;
  size_t operator()(std::string_view bytes) const noexcept { return KeyedHash(bytes); }
  size_t operator()(uint64_t number) const noexcept { return KeyedHash(number, 0); }
};

}  // namespace seendb
