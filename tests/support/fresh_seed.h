// tests/support/fresh_seed.h: a seed that nobody chose.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>

#include <xxhash.h>

namespace seendb::test {

/// Follows SEENDB_TREE and `name`, so that a commit is tested with the same seeds everywhere and
/// each commit with others (tools/test); random where that is not set, as in tools/torture.
inline uint64_t FreshSeed(std::string_view name) {
  if (const char* tree = std::getenv("SEENDB_TREE")) {
    return XXH3_64bits_withSeed(name.data(), name.size(), std::strtoull(tree, nullptr, 10));
  }
  std::random_device chance;
  return (uint64_t{chance()} << 32) | chance();
}

}  // namespace seendb::test
