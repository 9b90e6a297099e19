// Shards whose disk failed, or was full, come back without a restart: they are closed and opened
// anew. RocksDB's own recovery is not used: it goes on behind a log whose end is torn.

#include <algorithm>

#include "engine_impl.h"

namespace seendb {
namespace {

constexpr int64_t kFirstPauseMs = 250;
constexpr int64_t kLongestPauseMs = 8'000;

}  // namespace

// What is staged stays staged: it holds every acknowledged play that is not drained, whatever the
// failed disk kept of the journal. Draining it, and writing the logs' contents into tables, leaves
// nothing that depends on bytes a failed sync may have lost.
Status EngineImpl::HealShard(Shard& shard) {
  {
    const Gate::Scope inside(*shard.use);
    const Status tried = shard.store->TryDisk();
    if (!tried.ok()) return tried;
    shard.store->GiveUp();  // or a long seal would keep everybody out of the gate
  }
  {
    const Gate::Exclusive alone(*shard.use);
    const Status reopened = shard.store->Reopen();
    if (!reopened.ok()) return reopened;
    const Status known = shard.ring->Reopened();
    if (!known.ok()) return known;
  }
  const Gate::Scope inside(*shard.use);
  const Status flushed = shard.store->FlushAll();
  if (!flushed.ok()) return flushed;
  shard.ring->Rotate();
  return shard.ring->DrainClosed();
}

Status EngineImpl::Heal() {
  const std::lock_guard one(heal_mutex_);
  const auto now = std::chrono::steady_clock::now();
  Status first;
  bool any = false;
  for (Shard& shard : shards_) {
    {
      const Gate::Scope inside(*shard.use);
      if (shard.store->CheckWritable().ok()) {
        shard.heal_tries = 0;
        continue;
      }
    }
    if (options_.background && shard.heal_tries > 0 && now < shard.heal_next) continue;
    Status healed = HealShard(shard);
    any = any || healed.ok();
    const int64_t pause_ms =
        std::min(kFirstPauseMs << std::min(shard.heal_tries, 10), kLongestPauseMs);
    ++shard.heal_tries;
    shard.heal_next = now + std::chrono::milliseconds(pause_ms);
    if (first.ok() && !healed.ok()) first = std::move(healed);
  }
  if (!any) return first;
  // A policy that failed to be stored may be stored after all.
  const std::lock_guard change(admin_mutex_);
  Status reconciled = ReconcileCollections(false);
  return first.ok() ? reconciled : first;
}

}  // namespace seendb
