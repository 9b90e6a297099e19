// server/admission/admission.h: what decides which requests are answered, for the whole process.
//
//   Admission admission(settings);
//   Lane* lane = admission.AddLane({.name = "io0"});   // before serving; one for each I/O thread
//   admission.Tick(now);                               // every 100 to 200 ms, from one thread
//
// Without overload it is a queue that is empty most of the time. It holds no thread and no clock.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "admission/degrade.h"
#include "admission/lane.h"
#include "admission/settings.h"
#include "admission/tenants.h"
#include "base/sync.h"

namespace seendb::admission {

/// See the head of this file. Threads: any, but for AddLane.
class Admission {
 public:
  explicit Admission(const Settings& settings = {});
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();

  /// A new lane, owned by this. Before serving, from one thread.
  Lane* AddLane(LaneOptions options);
  /// All lanes, in the order of their making.
  const std::vector<std::unique_ptr<Lane>>& lanes() const { return lanes_; }

  /// Other settings; lanes take them up with the next request.
  void Set(const Settings& settings);
  Settings Current() const;
  /// Grows with each Set.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  Degrade& degrade() { return degrade_; }
  const Degrade& degrade() const { return degrade_; }
  Tenants& tenants() { return tenants_; }
  const Tenants& tenants() const { return tenants_; }

  /// The load of all: the mean over the lanes of I/O threads, or the most of a pool's, whichever is
  /// more. `full`: as if nothing were degraded.
  double Load(bool full, Time now) const;
  /// The most of a single lane.
  double MaxLoad(Time now) const;
  /// Whether a lane is overloaded, and whether any is.
  static bool Overloaded(const Lane& lane, Time now);
  bool Overloaded(Time now) const;
  /// A connection was refused at the door.
  void CountAtDoor() { door_refused_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t door_refused() const { return door_refused_.load(std::memory_order_relaxed); }

  /// What a Tick noticed.
  struct Change {
    bool began = false, ended = false;                 ///< an episode of overload, of any lane
    Duration lasted{0};                                ///< of one that ended
    uint64_t refused = 0, answered = 0, degraded = 0;  ///< during it
    std::optional<int> level;                          ///< of degradation, where it changed
  };
  /// Steps the degradation, follows the episodes.
  Change Tick(Time now);
  /// An answer was degraded for the load.
  void CountDegraded() { degraded_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t degraded() const { return degraded_.load(std::memory_order_relaxed); }

 private:
  struct Totals {
    uint64_t refused = 0, answered = 0, degraded = 0;
  };
  Totals Sum() const;

  mutable Mutex mutex_{LockRank::kInner};  // a pool's lane asks under the pool's lock
  Settings settings_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{1};
  Degrade degrade_;
  Tenants tenants_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::atomic<uint64_t> door_refused_{0}, degraded_{0};
  // Of Tick's thread.
  bool episode_ = false;
  Time began_{}, over_at_{};
  Totals at_begin_;
};

}  // namespace seendb::admission
