// shard/user_hash.h: the hash of a user that the tables of a shard in memory go by.
//
// Its key is random in each process: nobody can choose ids that all fall into the same place. It is
// stored nowhere. Threads: a pure function.

#pragma once

#include <cstdint>
#include <string_view>

namespace seendb {

/// XXH3-64 with a secret that this process has drawn.
uint64_t KeyedHash(std::string_view user) noexcept;

}  // namespace seendb
