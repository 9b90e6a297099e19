// items/item_operator.h: the merge operator of the family "items": the join of states (state.h).
// Total: rows that can't be read are counted, and the rest stays, marked as having lost something.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <rocksdb/merge_operator.h>

namespace seendb::items {

/// Stored with a database; another name is refused.
inline constexpr char kItemOperatorName[] = "seendb.items.v1";

/// `damaged` counts rows that could not be read.
std::shared_ptr<rocksdb::MergeOperator> NewItemOperator(
    std::shared_ptr<std::atomic<uint64_t>> damaged);

}  // namespace seendb::items
