// server/admission/tenants.h: the limits of those who ask, one Tenant for each token.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/ticket.h"
#include "base/sync.h"

namespace seendb::admission {

/// One who asks, over all threads. Threads: any. Cost: one compare-and-swap.
class Tenant {
 public:
  /// `key` tells tenants apart (never 0).
  Tenant(std::string name, uint64_t key) : name_(std::move(name)), key_(key) {}

  /// From now on: so many requests a second, a second's worth at once (0: no limit), and such a
  /// weight beside the others' under overload.
  void Set(double requests_per_s, double weight);
  /// Whether it may ask once more at `now`; if not, `*wait` says when it may.
  bool TakeTurn(Time now, Duration* wait);
  /// It has had so many turns more than it asked for: what it asks next waits until its rate has
  /// caught up, 15 minutes at most. Nothing without a rate.
  void Charge(double turns, Time now);
  /// It was worked for.
  void AddWork(Duration took) { work_ns_.fetch_add(took.count(), std::memory_order_relaxed); }

  const std::string& name() const { return name_; }
  uint64_t key() const { return key_; }
  double weight() const { return weight_.load(std::memory_order_relaxed); }
  Duration work() const { return Duration(work_ns_.load(std::memory_order_relaxed)); }

 private:
  const std::string name_;
  const uint64_t key_;
  std::atomic<double> weight_{1};
  std::atomic<int64_t> step_ns_{0};  // between two requests; 0: no limit
  std::atomic<int64_t> due_ns_{0};   // when all that was asked would have been at that rate
  std::atomic<int64_t> work_ns_{0};
};

/// The tenants that have names. They are never forgotten, so that a new file of tokens leaves their
/// accounts and what they have used of their rate as they are. Threads: any.
class Tenants {
 public:
  /// The tenant of that name, made where there is none, with limits as in Tenant::Set.
  Tenant* Named(std::string_view name, double requests_per_s, double weight);
  /// What each was worked for.
  std::vector<std::pair<std::string, Duration>> Work() const;

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, std::unique_ptr<Tenant>, std::less<>> all_ GUARDED_BY(mutex_);
};

/// Ticket::tenant_key of a client without a token: of its address. 0 for none.
uint64_t KeyOfPeer(std::string_view address) noexcept;

}  // namespace seendb::admission
