// Shards whose disk failed, or was full, come back without a restart: they are closed and opened
// anew. RocksDB's own recovery is not used: it goes on behind a log whose end is torn.

#include <algorithm>

#include "engine_impl.h"

namespace seendb {
namespace {

constexpr int64_t kFirstPauseMs = 250;
constexpr int64_t kLongestPauseMs = 8'000;

}  // namespace

Status EngineImpl::HealShard(Shard& shard) {
  {
    const Gate::Scope inside(*shard.use);
    const Status tried = shard.store->TryDisk();
    if (!tried.ok()) return tried;
    shard.store->GiveUp();  // or a long seal would keep everybody out of the gate
  }
  return RecoverShard(shard, true);
}

// What is staged stays staged: it holds every acknowledged play that is not drained, whatever the
// failed disk kept of the journal. Draining it, and writing the logs' contents into tables, leaves
// nothing that depends on bytes a failed sync may have lost. Until then nothing of a log is
// ingested: the shard would store offsets beyond plays that only memory has.
Status EngineImpl::RecoverShard(Shard& shard, bool reopen) {
  {
    const Gate::Exclusive alone(*shard.use);
    const Status reopened = reopen ? shard.store->Reopen() : Status();
    if (!reopened.ok()) return reopened;
    shard.store->ClearProblems(kSealProblem);  // its buckets are looked at anew
    shard.recovering = true;
    const Status known = shard.ring->Reopened();
    if (!known.ok()) return known;
    const Status settled = shard.sources->Settle(shard.store.get());
    if (!settled.ok()) return settled;
  }
  {
    const Gate::Scope inside(*shard.use);
    const Status flushed = shard.store->FlushAll();
    if (!flushed.ok()) return flushed;
    shard.ring->Rotate();
    const Status drained = shard.ring->DrainClosed();
    if (!drained.ok()) return drained;
  }
  const Gate::Exclusive alone(*shard.use);
  shard.recovering = false;
  return {};
}

Status EngineImpl::Heal() {
  const std::lock_guard one(heal_mutex_);
  const auto now = std::chrono::steady_clock::now();
  Status first;
  bool any = false;
  for (Shard& shard : shards_) {
    bool opened = false, recovering = false;
    {
      const Gate::Scope inside(*shard.use);
      opened = shard.store->CheckWritable().ok();
      recovering = shard.recovering;
    }
    if (opened && !recovering) {
      shard.heal_tries = 0;
      continue;
    }
    if (options_.background && shard.heal_tries > 0 && now < shard.heal_next) continue;
    Status healed = opened ? RecoverShard(shard, false) : HealShard(shard);
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
