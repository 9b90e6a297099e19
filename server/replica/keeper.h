// server/replica/keeper.h: sees to it that the shards are here that the placement says, on a thread
// of its own. Wanted and absent: it is fetched, two at a time; so is the copy of one whose log has
// lost what comes next. One that surely no node has begins empty (cluster/empty_start.h). Here and
// not wanted: it goes once the others have long been serving (cluster/view.h).

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/sync.h"
#include "cluster/empty_start.h"
#include "cluster/view.h"
#include "kafka/handle.h"
#include "replica/progress.h"
#include "replica/replicas.h"
#include "threads/worker.h"

namespace seendb::replica {

/// See the head of this file. Everything pointed to is borrowed. Threads: Start and Stop from one;
/// others from any.
class Keeper {
 public:
  Keeper(const ReplicasOptions& options, Engine* engine, Progress* progress)
      : options_(options), engine_(engine), progress_(progress) {}
  ~Keeper() { Stop(); }

  void Start();
  /// Waits for what is being fetched.
  void Stop();
  std::vector<std::string> Problems() const;
  /// As Replicas::LogMarginMs.
  std::optional<int64_t> LogMarginMs() const;
  /// See NodeReport::none. Waits for nothing.
  std::set<uint32_t> None() const;
  /// As Replicas::BeginEmpty.
  Status BeginEmpty(uint32_t partition);

 private:
  /// Says that a shard is about to lie here, until it is gone.
  class Coming;

  /// Asks now and then how long the log is kept.
  void AskRetention();
  void Run();
  void Look();
  void Drop(uint32_t partition);
  void Fetch(uint32_t partition);
  Status FetchNow(uint32_t partition);
  /// Does that which brings a shard on a thread of its own; one that fails is tried again.
  void Begin(uint32_t partition, std::function<Status()> bring);
  Status ReplaceNow(uint32_t partition, int64_t copy_from);
  Result<std::string> Copy(uint32_t partition, int64_t least);
  /// Whether no node has the partition. Ok: none has.
  Status CheckNobodyHas(uint32_t partition);
  /// Attaches a shard that holds nothing, and reads the log from `beginning` on. `lost`: what is
  /// lost for good; empty: nothing is.
  Status AttachEmpty(uint32_t partition, int64_t beginning, const std::string& lost);
  /// What keeps a person from having it begin empty.
  Status CheckMayBeginEmpty(uint32_t partition) const;
  /// One thread at a time brings a shard.
  bool TakeTurn(uint32_t partition);
  void EndTurn(uint32_t partition);
  /// Which shards have a folder in the database, open or not.
  void LookAtDisk();
  /// Of those that are wanted and absent: what others say of them.
  void NoteEmptyStarts(const cluster::Meta& meta,
                       const std::map<std::string, cluster::NodeView>& views);
  /// The first offset that the log has.
  Result<int64_t> BeginningOf(uint32_t partition) const;
  /// `why` empty: it is well.
  void Note(uint32_t partition, const std::string& why);

  const ReplicasOptions& options_;
  Engine* const engine_;
  Progress* const progress_;
  cluster::ServingSince serving_;
  std::set<uint32_t> dropping_;  // of the thread
  uint32_t fetch_first_ = 0;     // likewise: those that were tried come last
  Time ask_retention_at_ = {};   // likewise
  std::map<uint32_t, std::thread> fetchers_;

  mutable Mutex mutex_{LockRank::kLeaf};
  CondVar turn_;
  std::set<uint32_t> fetched_ GUARDED_BY(mutex_);   // their threads have ended
  std::set<uint32_t> bringing_ GUARDED_BY(mutex_);  // a thread brings it
  std::set<uint32_t> coming_ GUARDED_BY(mutex_);    // whole, and not attached yet
  std::map<uint32_t, cluster::EmptyStart> empty_ GUARDED_BY(mutex_);
  std::optional<std::set<uint32_t>> on_disk_ GUARDED_BY(mutex_);  // nothing: not known
  std::map<uint32_t, std::string> problems_ GUARDED_BY(mutex_);
  std::optional<int64_t> retention_ms_ GUARDED_BY(mutex_);  // of the log; nothing: not known
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::replica
