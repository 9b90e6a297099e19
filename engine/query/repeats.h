// query/repeats.h: which seen candidates come back where too few are unseen (WhenShort), and when
// each was last seen. Pure.
//
// Lists have times. A play has the end of its bucket as its time; the caller may know better by
// history.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "format/user_codec.h"
#include "query/candidates.h"
#include "seendb/events.h"
#include "seendb/policy.h"

namespace seendb {

/// A candidate that facts alone made seen.
struct SeenCandidate {
  uint32_t position = 0;  ///< in the request
  /// The latest time that is known of it and of its groups; kNeverMs: none.
  int64_t listed_ms = kNeverMs;
  int64_t played_ms = kNeverMs;
  std::optional<int64_t> played_bucket = {};  ///< the newest, of which `played_ms` is the end
};

/// kInvalidArgument with "/when_short/<member>" for the first member out of range.
Status CheckWhenShort(const WhenShort& asked, uint64_t max_candidates);

/// Whether the answer has too few unseen ones. `response` is finished but for the repeats.
bool IsShort(const FilterRequest& request, const FilterResponse& response);

/// The candidates that facts alone made seen, each item once, with their times by lists and by
/// buckets. `listed_ms` has the times of their groups too: history, which may know a play's time
/// better, does not know these. `overrides`: plays that they lift don't count; null: none.
/// `scratch` is overwritten.
/// Precondition: the verdicts of all are decided. Cost: one probe of them against every source.
std::vector<SeenCandidate> SeenByFacts(std::span<const SourceView> sources,
                                       const Candidates& candidates, const Policy& policy,
                                       const CollectionMarks* overrides, Candidates* scratch);

/// Whether the page takes one more candidate, which is then on it.
using AdmitRepeat = std::function<bool(uint32_t position)>;

/// Fills in the positions of those last seen not later than `gap_ms` before `now_ms` that the page
/// takes, the one longest ago first, at most `asked.max`.
void TakeRepeats(std::vector<SeenCandidate> seen, const WhenShort& asked, int64_t now_ms,
                 const AdmitRepeat& admit, std::vector<uint32_t>* repeats);

}  // namespace seendb
