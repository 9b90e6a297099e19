// shard/shard_catalog.h: the collections as one shard keeps them: asked and told by the engine's
// catalog (catalog.h), which sees to the order among shards.
//
// Threads: any; one change at a time. Each call waits while the shard is being opened anew, but for
// Claims.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shard/makings.h"
#include "shard/parts.h"
#include "shard/policies.h"

namespace seendb {

/// See the head of this file. Refers to the shard, which outlives it.
class ShardCatalog {
 public:
  explicit ShardCatalog(ShardParts& parts) : parts_(parts) {}

  // ---- Policies (policies.h) ----

  /// Nothing where not even an opening for reading succeeded, and while the shard is being opened
  /// anew: it does not wait.
  std::optional<CollectionClaims> Claims();
  Status Adopt(const Collection& known);
  HistoryIncomplete HistoryIncompleteUnder(const Collection& wanted, const Policy* recorded_by,
                                           int64_t now_ms);
  Status Announce(const Collection& wanted, const HistoryIncomplete& incomplete);
  Status Confirm(const Collection& wanted, const HistoryIncomplete& incomplete);

  // ---- Collections that go, or begin anew (makings.h) ----

  void StopWrites(const std::string& name);
  void ResumeWrites(const std::string& name);
  bool HoldsAny(const Collection& collection);
  Status BeginDeletion(const std::string& name, uint64_t making);
  Status FinishDeletion(const std::string& name);
  Status BeginAnew(const Collection& wanted);

 private:
  ShardParts& parts_;
};

}  // namespace seendb
