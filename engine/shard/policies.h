// shard/policies.h: the policies of collections as one shard stores them, each with the time up to
// which its history may lack plays.

#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "shard/history_whole.h"
#include "shard/parts.h"

namespace seendb {

/// CollectionFamilies::history_incomplete_up_to_ms as it is and as it will be under another policy.
struct HistoryIncomplete {
  int64_t before = kNeverMs, after = kNeverMs;
  bool changes() const { return before != after; }
};

/// For a collection under the policy it is to have. `recorded_by`: the policy that plays go by
/// until all shards know the other; null where there is none.
HistoryIncomplete HistoryIncompleteUnder(const ShardParts& shard, const Collection& wanted,
                                         const Policy* recorded_by, int64_t now_ms)
    REQUIRES_SHARED(shard.use);

/// Stores the policy, synced, and makes the families it needs. Where history lacks more for the
/// change, it is not trusted at all until ConfirmPolicy says that plays go by the policy.
Status AnnouncePolicy(const ShardParts& shard, const Collection& wanted,
                      const HistoryIncomplete& incomplete) REQUIRES_SHARED(shard.use);
Status ConfirmPolicy(const ShardParts& shard, const Collection& wanted,
                     const HistoryIncomplete& incomplete) REQUIRES_SHARED(shard.use);

/// Stores a policy that the first shard has, unless this one has the same. kCorruption where fixed
/// fields differ, and the shard holds something by its own.
Status AdoptPolicy(ShardParts& shard, const Collection& known) REQUIRES_SHARED(shard.use);

}  // namespace seendb
