// support/options.h: how tests open databases.

#pragma once

#include "seendb/options.h"

namespace seendb::test {

/// A database whose items are hashed by the same key in each run: what its filters falsely call
/// seen is the same in each run, too.
inline Options FixedOptions() {
  Options options;
  options.item_hash_key = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return options;
}

/// Two items that have one fingerprint by that key, found by trying 2^29 numbers.
inline constexpr char kTwin[] = "2861397";
inline constexpr char kOtherTwin[] = "71154258";

}  // namespace seendb::test
