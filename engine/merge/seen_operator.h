// merge/seen_operator.h: the merge operator of the families seen/<collection>/<bucket>, and the
// compaction filter that seals them.
//
// Total: it never fails and never throws for what it reads. A damaged operand or value is set
// aside in the value's damage section and counted. While `SeenRules::sealing` is set, a full merge
// yields the sealed encoding and the compaction filter re-encodes whole values, so that one
// forced compaction seals a bucket.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include "base/counters.h"
#include "filter/seen_filter.h"
#include "merge/operands_merged.h"

namespace seendb {

/// Stored with a database; another name is refused.
inline constexpr char kSeenOperatorName[] = "seendb.seen.v1";

/// What one bucket's operator and compaction filter go by. Until `Bind` (the policy is stored in
/// the database that is just being opened) everything is kept as exact lists, which later merges
/// re-encode. The ceiling and the sealing flag may change while they run.
struct SeenRules {
  std::atomic<uint64_t> bytes_max{0};  ///< the policy's ceiling
  std::atomic<bool> sealing{false};    ///< a seal is running
  std::shared_ptr<Counters> counters;  ///< never null

  /// Sets everything but the ceiling, once.
  void Bind(const FilterRules& rules) {
    fixed_ = rules;
    bound_.store(true, std::memory_order_release);
  }

  /// The rules as of now.
  FilterRules Current() const {
    FilterRules rules;
    if (bound_.load(std::memory_order_acquire)) {
      rules = fixed_;
      rules.bytes_max = bytes_max.load(std::memory_order_relaxed);
    } else {
      rules.exact = true;
      rules.bytes_max = UINT64_MAX;
    }
    return rules;
  }

 private:
  FilterRules fixed_;
  std::atomic<bool> bound_{false};
};

/// The operator for a bucket's family.
std::shared_ptr<rocksdb::MergeOperator> NewSeenOperator(std::shared_ptr<const SeenRules> rules);

/// Makes the compaction filter that re-encodes whole values while `rules->sealing`.
std::shared_ptr<rocksdb::CompactionFilterFactory> NewSealFilterFactory(
    std::shared_ptr<const SeenRules> rules);

}  // namespace seendb
