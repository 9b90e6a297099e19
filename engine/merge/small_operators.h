// merge/small_operators.h: the merge operators of the families impressions/<collection>,
// history/<collection>/<bucket> and users. Total, like the one for seen filters.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <rocksdb/merge_operator.h>

#include "base/counters.h"
#include "merge/operands_merged.h"
#include "seendb/policy.h"

namespace seendb {

/// Stored with a database; another name is refused.
inline constexpr char kImpressionsOperatorName[] = "seendb.impressions.v1";
inline constexpr char kUsersOperatorName[] = "seendb.users.v1";
inline constexpr char kHistoryOperatorName[] = "seendb.history.v2";
/// The greatest state alone counted: what a later report did not say was lost.
inline constexpr char kFirstHistoryOperatorName[] = "seendb.history.v1";

/// What a collection's impressions operator goes by.
struct ImpressionRules {
  std::atomic<uint32_t> limit{100};    ///< newest entries kept
  std::atomic<bool> ids{false};        ///< their items' ids stay
  std::shared_ptr<Counters> counters;  ///< never null
};

/// Makes them those of a policy.
void SetImpressionRules(const Policy& policy, ImpressionRules* rules);

/// Union keeping each item's newest time, then the newest `limit`.
std::shared_ptr<rocksdb::MergeOperator> NewImpressionsOperator(
    std::shared_ptr<const ImpressionRules> rules);

/// The join of the states of an item (history_state.h).
std::shared_ptr<rocksdb::MergeOperator> NewHistoryOperator(std::shared_ptr<Counters> counters);

/// Union of user records (user_codec.h).
std::shared_ptr<rocksdb::MergeOperator> NewUsersOperator(std::shared_ptr<Counters> counters);

}  // namespace seendb
