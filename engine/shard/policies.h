// shard/policies.h: the policies of collections as one shard stores them, each with the time up to
// which its history may lack plays.

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "shard/history_whole.h"
#include "shard/parts.h"

namespace seendb {

/// What a shard says of a collection's name.
struct CollectionClaim {
  uint64_t making = 0;           ///< Making::number
  bool deleting = false;         ///< what it holds under the name is being deleted
  std::optional<Policy> policy;  ///< nothing: it holds nothing
  uint64_t revision = 0;         ///< PolicyMark::revision; 0: there is no mark
  bool changed = false;          ///< by software that knows no marks, after that revision
};
using CollectionClaims = std::map<std::string, CollectionClaim, std::less<>>;
/// Of every name that a collection has or had here.
CollectionClaims ClaimsOf(const FamilySet& families);

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

/// Stores the policy that holds, unless the shard has it. kCorruption where fixed fields differ,
/// and the shard holds something by its own.
Status AdoptPolicy(ShardParts& shard, const Collection& known) REQUIRES_SHARED(shard.use);

}  // namespace seendb
