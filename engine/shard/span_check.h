// shard/span_check.h: plays of a bucket that a span only touches, told apart by their times where
// the exact history has them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "shard/filter.h"
#include "shard/filter_scratch.h"

namespace seendb {

/// Looks at the candidates of [begin, end) that a touched bucket alone made seen, where history is
/// whole in that bucket. One whose newest report or deletion is not before `from_ms` is in the
/// span: `candidates.in_span`. One whose newest lies in the bucket and before is not: its verdict
/// becomes 0. One that history does not have in the bucket stays seen: only `verify` refutes.
/// Precondition: the sources were read before. Cost: one batched read per bucket of history.
void CheckSpan(const ShardParts& shard, const FilterRead& read, int64_t touched_bucket,
               int64_t from_ms, size_t begin, size_t end, FilterScratch& scratch);

}  // namespace seendb
