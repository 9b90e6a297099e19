// shard/repeats.h: the answer's repeats, where too few candidates are unseen: query/repeats.h with
// the times of plays that history has.

#pragma once

#include "query/repeats.h"
#include "shard/filter.h"
#include "shard/filter_scratch.h"

namespace seendb {

/// Fills in `response->repeats`. Preconditions: IsShort, and `scratch` has the sources and the
/// verdicts of all candidates; the sources were read before. `overrides`: of the user, or null.
/// `admit`: see TakeRepeats.
void FindRepeats(const ShardParts& shard, const FilterRead& read, const CollectionMarks* overrides,
                 int64_t now_ms, const FilterScratch& scratch, const AdmitRepeat& admit,
                 FilterResponse* response);

}  // namespace seendb
