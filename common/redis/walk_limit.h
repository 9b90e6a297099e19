// redis/walk_limit.h: where a walk of an old store's keys or members has to have come to its end. A
// Redis, or who answers in its place, does not decide for how long it is walked.

#pragma once

#include <algorithm>
#include <cstdint>

namespace seendb::redis {

/// Most members of a key that are believed. A user with a play each second has so many in three
/// years.
inline constexpr uint64_t kKeyMembersMost = 100'000'000;

/// Counts the pieces of one walk, and what they bring, against what the store said that there is.
/// An honest walk repeats some where its table changes its size meanwhile, finds what is new, and
/// has pieces that bring nothing where most of a table is empty: each has room here.
class WalkLimit {
 public:
  /// The store said that there are `entries`, and is asked for about `at_once` of them each time.
  WalkLimit(uint64_t entries, uint64_t at_once)
      : entries_(std::min(entries, kEntriesMost) * 4 + 100'000),
        pieces_(std::min(entries, kEntriesMost) / at_once * 64 + 1'000) {}

  /// A piece came that is not the last and brought so many; false: the walk does not end.
  bool Take(uint64_t brought) {
    if (pieces_ == 0 || entries_ < brought) return false;
    --pieces_;
    entries_ -= brought;
    return true;
  }

 private:
  static constexpr uint64_t kEntriesMost = 1'000'000'000;

  uint64_t entries_, pieces_;
};

}  // namespace seendb::redis
