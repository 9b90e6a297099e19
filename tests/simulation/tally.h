// tests/simulation/tally.h: what a simulation did, and what went wrong.

#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "simulation/script.h"

namespace seendb::simulation {

/// A promise that was not kept.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sums; several runs are added up.
struct Tally {
  double months = 0;
  std::array<uint64_t, kVerbs> done{};
  uint64_t exposures = 0, shown = 0;  ///< accepted; items that were seen by them
  uint64_t marks = 0, marked = 0;     ///< the same
  uint64_t counted = 0;               ///< events, in counts that were compared
  uint64_t plays = 0, impressions = 0, answers = 0, candidates = 0, degraded = 0, forgotten = 0;
  uint64_t opened = 0, crashes = 0, power_cuts = 0, failures = 0, lost_calls = 0, layers = 0;
  uint64_t healed = 0, beside = 0;               ///< in place; operations while a shard was stopped
  uint64_t pages = 0, entries = 0, lookups = 0;  ///< of history; what was read to compare not
  /// Items never sent before, in collections that may be wrong; those called seen; how many the
  /// policies allow, and the variance of that.
  uint64_t fresh = 0, wrong = 0;
  double allowed = 0, variance = 0;
  /// Items that are expired or erased, or of another collection; those called seen; how many the
  /// policies allow.
  uint64_t past = 0, past_wrong = 0;
  double past_allowed = 0;
  /// Seen items, and those whose reason named a bucket they were not played in.
  uint64_t explained = 0, misnamed = 0;
  /// Answers that history was asked about, items it refuted, and those that can't be called seen
  /// since history is whole.
  uint64_t verified = 0, refuted = 0, vouched = 0;
  uint64_t first_plays = 0;             ///< of a day, told
  uint64_t ingested = 0, repeated = 0;  ///< events of logs, accepted; left out

  void Add(const Tally& other);
  /// Whether the false positives fit the budget, with room for chance (five standard deviations,
  /// of which a filter that serves many requests makes the chances fewer: three items more). Items
  /// of the past are asked about again and again, so their chances are far fewer: much more room,
  /// which items that came back for good would still burst.
  bool WithinBudget() const;
  std::string ToText() const;
};

}  // namespace seendb::simulation
