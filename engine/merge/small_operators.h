// merge/small_operators.h: the merge operators of the families impressions/<collection>,
// exposures/<collection>, counts/<collection>, history/<collection>/<bucket>, users and own. Total,
// like the one for seen filters.

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include "base/counters.h"
#include "base/sync.h"
#include "merge/operands_merged.h"
#include "seendb/policy.h"

namespace seendb {

/// Stored with a database; another name is refused.
inline constexpr char kImpressionsOperatorName[] = "seendb.impressions.v1";
inline constexpr char kUsersOperatorName[] = "seendb.users.v1";
inline constexpr char kCountsOperatorName[] = "seendb.counts.v1";
inline constexpr char kOwnOperatorName[] = "seendb.own.v1";
inline constexpr char kHistoryOperatorName[] = "seendb.history.v2";
/// The greatest state alone counted: what a later report did not say was lost.
inline constexpr char kFirstHistoryOperatorName[] = "seendb.history.v1";

/// What a collection's impressions operator goes by.
struct ImpressionRules {
  std::atomic<uint32_t> limit{100};  ///< newest entries kept
  std::atomic<bool> ids{false};      ///< their items' ids stay
  /// Older entries need not stay: no answer counts them. The least number: all stay.
  std::atomic<int64_t> forget_before_ms{std::numeric_limits<int64_t>::min()};
  std::shared_ptr<Counters> counters;  ///< never null
};

/// For how long a collection counts by which kinds of groups; null: by all as long as ever.
using CountedKindsPtr = std::shared_ptr<const std::vector<CountedKind>>;

/// Rules of a collection's counts operator. Threads: any.
class CountRules {
 public:
  /// See ImpressionRules: by the longest time that any kind counts.
  std::atomic<int64_t> forget_before_ms{std::numeric_limits<int64_t>::min()};
  std::shared_ptr<Counters> counters;  ///< never null

  void SetKinds(const std::vector<CountedKind>& kinds);
  /// Cost: a lock, where there are any.
  CountedKindsPtr kinds() const;

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  CountedKindsPtr kinds_ GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};
};

/// The rule of the compaction filter of the family own.
struct OwnRules {
  /// Sets that ended up to then go. The least number: none does.
  std::atomic<int64_t> ended_by_ms{std::numeric_limits<int64_t>::min()};
};

/// Makes them those of a policy, for its impressions, or for its exposures. All exposures stay
/// until somebody says up to when they don't count.
void SetImpressionRules(const Policy& policy, ImpressionRules* rules);
void SetExposureRules(const Policy& policy, ImpressionRules* rules);

/// Union keeping the newest time of each item and surface, then the newest `limit`.
std::shared_ptr<rocksdb::MergeOperator> NewImpressionsOperator(
    std::shared_ptr<const ImpressionRules> rules);

/// Makes the compaction filter that takes what is older than `rules->forget_before_ms`, out of
/// whole values: no merge meets those of users who have nothing new.
std::shared_ptr<rocksdb::CompactionFilterFactory> NewExpiryFilterFactory(
    std::shared_ptr<const ImpressionRules> rules);
std::shared_ptr<rocksdb::CompactionFilterFactory> NewExpiryFilterFactory(
    std::shared_ptr<const CountRules> rules);

/// The same of users' own sets that have ended.
std::shared_ptr<rocksdb::CompactionFilterFactory> NewExpiryFilterFactory(
    std::shared_ptr<const OwnRules> rules);

/// Union of a user's counted events (counts_codec.h).
std::shared_ptr<rocksdb::MergeOperator> NewCountsOperator(std::shared_ptr<const CountRules> rules);

/// The join of the states of an item (history_state.h).
std::shared_ptr<rocksdb::MergeOperator> NewHistoryOperator(std::shared_ptr<Counters> counters);

/// Union of user records (user_codec.h).
std::shared_ptr<rocksdb::MergeOperator> NewUsersOperator(std::shared_ptr<Counters> counters);

/// Union of a user's marks (marks_codec.h), and of what was said of a set (own_set_codec.h).
std::shared_ptr<rocksdb::MergeOperator> NewOwnOperator(std::shared_ptr<Counters> counters);

}  // namespace seendb
