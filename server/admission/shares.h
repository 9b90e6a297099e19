// server/admission/shares.h: which part of a lane's queue and memory belongs to whom.

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "admission/overload.h"
#include "admission/ticket.h"

namespace seendb::admission {

/// The work that waits in a lane and the bytes that are held, by tenant. A tenant counts as active
/// for a second after it asked. Threads: one at a time. Cost: a look-up.
class TenantShares {
 public:
  /// Tenants kept apart; what others do is nobody's.
  static constexpr size_t kMaxTenants = 4'096;
  /// How long a tenant that asks nothing counts.
  static constexpr Duration kActive = std::chrono::seconds(1);

  /// A tenant (not 0) of that weight asks for `work`, of a lane of `parallel` threads.
  void Asked(uint64_t key, double weight, Duration work, size_t parallel, Time now);
  /// Its weight by the weights of all that are active; 1: alone, or not known.
  double ShareOf(uint64_t key) const;
  /// Whether others are active.
  bool HasOthers(uint64_t key) const;
  /// What it asks of the lane by what the lane can do.
  double LoadOf(uint64_t key, Time now) const;
  /// What it has waiting and holds.
  Duration WorkOf(uint64_t key) const;
  uint64_t BytesOf(uint64_t key) const;
  /// Adds to both, or takes from both what was added. False, and nothing is done, for a tenant that
  /// is not known: what is not counted is not to be taken back.
  bool Add(uint64_t key, Duration work, int64_t bytes);

 private:
  struct One {
    uint64_t key = 0;
    double weight = 1;
    Time last{};
    LoadMeter load;
    Duration work{0};
    uint64_t bytes = 0;
    bool active = false;
  };
  const One* Find(uint64_t key) const;
  void Expire(Time now);
  void ForgetIfDone(std::list<One>::iterator one);

  std::list<One> active_;   // the one that asked longest ago first
  std::list<One> resting_;  // that have something waiting still
  std::unordered_map<uint64_t, std::list<One>::iterator> by_key_;
  double active_weight_ = 0;
};

}  // namespace seendb::admission
