// Background work: threads of their own for syncs, drains, healing, users' records and maintenance,
// so that a long seal delays no drain and a long drain no sync.

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "engine_impl.h"

namespace seendb {
namespace {

// How often background threads look for work.
constexpr int64_t kLookMs = 250;
// How long an erasure, a clear or a pause is only in the log, at most; but for the flush itself.
constexpr int64_t kFlushUsersMs = 1'000;

}  // namespace

Status EngineImpl::SyncFree() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  Status noted = NoteClockIfDue();
  Status synced = InEachShard([](Shard& shard) {
    bool passed_over = false;
    return shard.Sync(&passed_over);
  });
  return synced.ok() ? noted : synced;
}

// A shard that is being opened anew is drained, and so synced, by whoever does that.
Status EngineImpl::RotateAndDrain() {
  return InEachShard([](Shard& shard) { return shard.DrainIfDue(); });
}

// One flush per shard for all that changed since the last.
Status EngineImpl::FlushUsers() {
  return InEachShard([](Shard& shard) { return shard.FlushUsers(); });
}

// ---- Healing ----

// A policy that failed to be stored may be stored after all.
Status EngineImpl::ReconcileHealed() {
  const MutexLock change(admin_mutex_);
  const Status finished = FinishDeletions();
  return finished.ok() ? ReconcileCollections(false) : finished;
}

// By hand: one after the other.
Status EngineImpl::Heal() {
  bool any = false;
  const Status first = InEachShard([&](Shard& shard) { return shard.HealIfDue(&any); });
  if (!any) return first;
  const Status reconciled = ReconcileHealed();
  return first.ok() ? reconciled : first;
}

// In the background: each shard on a thread of its own, so that one whose disk is slow keeps no
// other waiting. The first failure of those that ended since the last look.
Status EngineImpl::HealApart() {
  Status first;
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (const auto at = healing_.find(i); at != healing_.end()) {
      if (at->second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
      Status ended = at->second.get();
      healing_.erase(at);
      if (first.ok()) first = std::move(ended);
    }
    Shard& shard = *shards_[i];
    if (!shard.WantsHealing()) continue;
    healing_[i] = std::async(std::launch::async, [this, &shard] {
      bool healed = false;
      Status status = shard.HealIfDue(&healed);
      return healed ? ReconcileHealed() : status;
    });
  }
  return first;
}

// ---- Threads ----

bool EngineImpl::StopsWithin(int64_t ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  const MutexLock lock(background_mutex_);
  while (!stopping_ && background_wake_.WaitUntil(background_mutex_, end)) continue;
  return stopping_;
}

void EngineImpl::BackgroundLoop(const char* name, int64_t every_ms,
                                const std::function<Status()>& work) {
  const std::string prefix = std::string(name) + ": ";
  while (!StopsWithin(every_ms)) {
    const Status status = work();
    problems_.Clear(prefix);  // what went wrong last time, if it still does, is new
    if (!status.ok()) {
      counters_->background_errors.fetch_add(1, std::memory_order_relaxed);
      problems_.Add(prefix + status.ToString());
    }
  }
}

void EngineImpl::StartBackground() {
  const auto start = [this](const char* name, int64_t every_ms, Status (EngineImpl::*work)()) {
    threads_.emplace_back([this, name, every_ms, work] {
      BackgroundLoop(name, every_ms, [this, work] { return (this->*work)(); });
    });
  };
  start("sync", options_.sync_interval_ms, &EngineImpl::SyncFree);
  start("drain", kLookMs, &EngineImpl::RotateAndDrain);
  start("healing", kLookMs, &EngineImpl::HealApart);
  start("user records", kFlushUsersMs, &EngineImpl::FlushUsers);
  start("maintenance", kLookMs, &EngineImpl::RunMaintenance);
}

void EngineImpl::StopBackground() {
  {
    const MutexLock lock(background_mutex_);
    stopping_ = true;
  }
  background_wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  healing_.clear();  // waits
}

}  // namespace seendb
