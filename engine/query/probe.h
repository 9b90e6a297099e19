// query/probe.h: decides which candidates of a filter request are seen.
//
// Candidates are hashed once and probed against one source after the other, in the order of the
// sources; a candidate that a source has is not probed again. Pure: no I/O, no locks.

#pragma once

#include <cstddef>
#include <span>

#include "format/user_codec.h"
#include "query/candidates.h"
#include "seendb/events.h"

namespace seendb {

/// Sets the verdicts of the items [begin, end) of the request. Cost: 2-10 ns per candidate and
/// source.
void ProbeRange(std::span<const SourceView> sources, size_t begin, size_t end,
                Candidates* candidates);

/// Makes items of [begin, end) unseen that were deleted from history and may be recommended again,
/// unless they were served since.
void LiftOverrides(std::span<const SourceView> sources, const CollectionMarks& marks, size_t begin,
                   size_t end, Candidates* candidates);

/// Finds the candidates of [begin, end) that came before in the request; ranges come ascending, and
/// candidates->distinct was begun.
void MarkRepeats(std::span<const IdRef> items, size_t begin, size_t end, Candidates* candidates);

/// Appends the verdicts of [begin, end) to the answer, repeats as such. True once `request.limit`
/// unseen items are found: the items behind the last of them are not examined.
bool Collect(std::span<const SourceView> sources, const Candidates& candidates,
             const FilterRequest& request, size_t begin, size_t end, FilterResponse* response);

}  // namespace seendb
