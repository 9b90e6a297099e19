// query/counted.h: how many of a user's counted events are not longer ago than a time. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/counts_codec.h"
#include "seendb/counts.h"

namespace seendb {

/// Answers how often. Its list must be normalized, and outlive it.
class Counted {
 public:
  /// `kinds`: for how long the policy counts by which kinds; they must outlive it, too.
  explicit Counted(const CountList& list, std::span<const CountedKind> kinds = {});

  /// How many events of a key are not before a time. Of `kServed` the reservations that are open
  /// count too (facts.md, "Counts and caps"). kMaxCountsOfKey may stand for more.
  uint32_t Events(std::string_view key, Fact fact, int64_t since_ms, int64_t now_ms) const;
  /// The groups that a request asks for; those of one time by name. `*more`: there are others.
  std::vector<GroupCounts> Groups(const CountsRequest& request, int64_t now_ms, bool* more) const;

 private:
  // Entries of one key, newest first.
  using OfKey = std::span<const CountEntry>;
  /// Those that count by their kind.
  OfKey NotTooOld(OfKey of_key, int64_t now_ms) const;
  FactCounts Count(OfKey of_key, Fact fact, int64_t now_ms) const;

  const std::span<const CountEntry> entries_;
  const std::span<const CountedKind> kinds_;
  int64_t complete_from_ms_;  // of what is older some may have been left out
};

}  // namespace seendb
