// query/elsewhere.h: what a user has seen in other collections than the one that a filter request
// is answered in: each was asked by itself, and what it said of a candidate stands here by its
// position. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "query/candidates.h"
#include "seendb/events.h"

namespace seendb {

/// See the head of this file. Threads: one at a time.
class SeenElsewhere {
 public:
  /// Takes the answer of a collection, `reasons` of all items. `collection`: Reason::collection of
  /// it. The reason of an earlier one stays.
  void Take(const std::vector<Reason>& reasons, uint16_t collection);

  bool Has(size_t position) const { return position < seen_.size() && seen_[position] != 0; }
  /// Why, each once.
  const std::vector<Reason>& reasons() const { return reasons_; }
  /// Gives the undecided candidates of a range their verdicts. `first`: that of reasons()[0].
  void Decide(uint32_t first, size_t begin, size_t end, Candidates* candidates) const;

 private:
  uint32_t NumberOf(const Reason& reason);

  std::vector<uint32_t> seen_;  // by position: 1 + the index of its reason, 0: unseen
  std::vector<Reason> reasons_;
};

}  // namespace seendb
