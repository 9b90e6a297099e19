// shard/served_check.h: hits of impressions checked against the ids that impressions keep
// (Policy::impression_ids).

#pragma once

#include <span>

#include "format/user_codec.h"
#include "seendb/id.h"
#include "shard/filter_scratch.h"

namespace seendb {

/// Goes over the verdicts of items [begin, end) that rest on impressions. Where the entry with the
/// item's fingerprint keeps the id of another item, the sources behind the impressions decide; an
/// item that none of them has is unseen, and noted in `scratch.candidates.refuted`. Where the entry
/// keeps no id, the fingerprint decides. `marks`: the user's overrides, or null.
void CheckServed(std::span<const IdRef> items, const CollectionMarks* marks, size_t begin,
                 size_t end, FilterScratch& scratch);

}  // namespace seendb
