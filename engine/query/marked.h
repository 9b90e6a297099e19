// query/marked.h: which candidates of a filter request are of a group that the user marked. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/marks_codec.h"
#include "query/candidates.h"
#include "seendb/events.h"

namespace seendb {

/// kInvalidArgument with "/items/<index>/of", "/items/<index>/same_as/<place>" and the like for the
/// first candidate with too many groups, or a group that is empty or too long; with "/groups" where
/// there are fewer than items.
Status CheckCandidateGroups(const FilterRequest& request);

/// Whether any candidate has groups.
bool AsksForMarks(const FilterRequest& request);

/// Gives the candidates of [begin, end) that are marked, and not excluded, `verdict`, that of the
/// source of marks; notes their groups, and which candidates a time is missed of. A repeat has what
/// its first has. Precondition: ProbeRange and MarkRepeats were called for all up to `end`. Cost: a
/// binary search a group.
void FindMarked(std::span<const SourceView> sources, const MarkList& marks,
                const FilterRequest& request, uint32_t verdict, size_t begin, size_t end,
                Candidates* candidates);

}  // namespace seendb
