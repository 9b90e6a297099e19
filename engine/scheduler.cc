#include "scheduler.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

namespace seendb {
struct Scheduler::Running {
  using Steady = std::chrono::steady_clock;

  // When a shard's turn comes; the earliest is on top of the queue.
  struct Turn {
    Steady::time_point due;
    uint32_t shard;
    bool operator<(const Turn& other) const { return due > other.due; }
  };

  explicit Running(Lane given) : lane(std::move(given)) {}

  // The next shard whose turn has come; nothing once the lane is to stop.
  std::optional<uint32_t> Next() {
    const MutexLock lock(mutex);
    while (!stopping) {
      if (turns.empty()) {
        wake.Wait(mutex);
      } else if (turns.top().due > Steady::now()) {
        wake.WaitUntil(mutex, turns.top().due);
      } else {
        const uint32_t shard = turns.top().shard;
        turns.pop();
        return shard;
      }
    }
    return {};
  }
  void Enter(uint32_t shard) {
    {
      const MutexLock lock(mutex);
      turns.push({Steady::now() + lane.every, shard});
    }
    wake.NotifyOne();
  }
  void Stop() {
    {
      const MutexLock lock(mutex);
      stopping = true;
    }
    wake.NotifyAll();
  }

  const Lane lane;
  Mutex mutex{LockRank::kLeaf};
  CondVar wake;
  std::priority_queue<Turn> turns GUARDED_BY(mutex);  // of shards that nobody works on
  bool stopping GUARDED_BY(mutex) = false;
};

Scheduler::Scheduler(std::vector<Lane> lanes, ProblemList* problems, Counters* counters)
    : problems_(problems), counters_(counters) {
  for (Lane& lane : lanes) {
    Running& running = *lanes_.emplace_back(std::make_unique<Running>(std::move(lane)));
    const uint32_t shards = running.lane.shards;
    for (uint32_t shard = 0; shard < shards; ++shard) running.Enter(shard);
    for (uint32_t i = 0; i < std::min(running.lane.threads, shards); ++i) {
      threads_.emplace_back([this, &running] { Serve(&running); });
    }
  }
}

Scheduler::~Scheduler() {
  for (const std::unique_ptr<Running>& lane : lanes_) lane->Stop();
  for (std::thread& thread : threads_) thread.join();
}

void Scheduler::Serve(Running* lane) {
  while (const std::optional<uint32_t> shard = lane->Next()) {
    Note(*lane, *shard, lane->lane.work(*shard));
    lane->Enter(*shard);
  }
}

void Scheduler::Note(const Running& lane, uint32_t shard, const Status& ended) {
  std::string prefix = lane.lane.name;
  if (lane.lane.shards > 1) prefix += " of shard " + std::to_string(shard);
  prefix += ": ";
  problems_->Clear(prefix);  // what went wrong last time, if it still does, is new
  if (ended.ok()) return;
  counters_->background_errors.fetch_add(1, std::memory_order_relaxed);
  problems_->Add(prefix + ended.ToString());
}

}  // namespace seendb
