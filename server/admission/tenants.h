// server/admission/tenants.h: the limits of those who ask, one Tenant for each token.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/rate.h"
#include "admission/ticket.h"
#include "base/sync.h"

namespace seendb::admission {

/// How much one may have a second; 0: no limit.
struct TenantLimits {
  double requests_per_s = 0;
  double decoded_bytes_per_s = 0;  ///< of bodies, decompressed
  double work_ms_per_s = 0;        ///< of the server's threads
};

/// One who asks, over all threads. Threads: any. Cost: a compare-and-swap for each limit.
class Tenant {
 public:
  /// `key` tells tenants apart (never 0).
  Tenant(std::string name, uint64_t key) : name_(std::move(name)), key_(key) {}

  /// From now on: such limits, a second's worth at once, and such a weight beside the others' under
  /// overload.
  void Set(const TenantLimits& limits, double weight);
  /// Whether it may ask once more at `now` (kNone); if not, which limit says so, and `*wait` when
  /// it may.
  Reason Admit(Time now, Duration* wait);
  /// It has had so many requests more than it asked for.
  void Charge(double requests, Time now) { requests_.Charge(requests, now); }
  /// So many bytes of its bodies were decoded.
  void AddBytes(size_t bytes, Time now) { bytes_.Charge(static_cast<double>(bytes), now); }
  /// It was worked for, until `now`.
  void AddWork(Duration took, Time now);

  const std::string& name() const { return name_; }
  uint64_t key() const { return key_; }
  double weight() const { return weight_.load(std::memory_order_relaxed); }
  Duration work() const { return Duration(work_ns_.load(std::memory_order_relaxed)); }

 private:
  const std::string name_;
  const uint64_t key_;
  std::atomic<double> weight_{1};
  Rate requests_, bytes_, work_ms_;
  std::atomic<int64_t> work_ns_{0};
};

/// The tenants that have names. They are never forgotten, so that a new file of tokens leaves their
/// accounts and what they have used of their rate as they are. Threads: any.
class Tenants {
 public:
  /// The tenant of that name, made where there is none, with limits as in Tenant::Set.
  Tenant* Named(std::string_view name, const TenantLimits& limits, double weight);
  /// What each was worked for.
  std::vector<std::pair<std::string, Duration>> Work() const;

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, std::unique_ptr<Tenant>, std::less<>> all_ GUARDED_BY(mutex_);
};

/// Ticket::tenant_key of a client without a token: of its address. 0 for none.
uint64_t KeyOfPeer(std::string_view address) noexcept;

}  // namespace seendb::admission
