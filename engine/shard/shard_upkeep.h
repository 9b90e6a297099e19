// shard/shard_upkeep.h: background work of one shard: what falls due, and the same by hand.
//
// Threads: any. Work by hand waits while the shard is being opened anew. What falls due passes over
// such a shard: whoever opens it anew drains and so syncs it.

#pragma once

#include <cstdint>
#include <functional>

#include "shard/buckets.h"
#include "shard/collection.h"
#include "shard/parts.h"

namespace seendb {

/// See the head of this file. Refers to the shard, which outlives it.
class ShardUpkeep {
 public:
  explicit ShardUpkeep(ShardParts& parts) : parts_(parts) {}

  /// For an opening, before anybody writes: see maintenance.h.
  Status Begin(const CollectionMap& collections);

  // ---- What falls due ----

  Status DrainIfDue();
  Status NoteClock(int64_t now_ms);
  Status FlushUsers();
  Status Maintain(const CollectionMap& collections);
  /// Opens the shard anew where its disk failed and it has rested; `*healed`: that was done. With
  /// `wait` false it leaves alone a shard that somebody else heals.
  Status HealIfDue(bool wait, bool* healed);
  /// Makes what was written survive power loss. With `passed_over` it does not wait for a shard
  /// that is being opened anew, but says so there.
  Status Sync(bool* passed_over);

  // ---- By hand ----

  /// Turns the ring and drains it.
  Status Drain();
  Status Seal(const Collection& collection, const std::function<bool(const Bucket&)>& wanted);
  Status DropFilters(const Collection& collection, const OldestKept& oldest_kept);
  Status DropHistory(const Collection& collection, const OldestKept& oldest_kept);
  Status TrimHistory(const Collection& collection);
  Status Compact();
  /// Removes from disk what erasures left there (traces.h).
  Status PurgeTraces();

 private:
  ShardParts& parts_;
};

}  // namespace seendb
