#include "admission/tenants.h"

#include <algorithm>
#include <functional>

namespace seendb::admission {
namespace {

/// What may be asked at once, as time at the tenant's rate.
constexpr int64_t kBurstNs = 1'000'000'000;
/// The most that is owed, likewise.
constexpr int64_t kMostDebtNs = 900'000'000'000;

}  // namespace

void Tenant::Set(double requests_per_s, double weight) {
  const double step = requests_per_s > 0 ? 1e9 / requests_per_s : 0;
  step_ns_.store(static_cast<int64_t>(step), std::memory_order_relaxed);
  weight_.store(weight, std::memory_order_relaxed);
}

bool Tenant::TakeTurn(Time now, Duration* wait) {
  const int64_t step = step_ns_.load(std::memory_order_relaxed);
  if (step == 0) return true;
  const int64_t now_ns = Duration(now.time_since_epoch()).count();
  const int64_t burst = std::max(kBurstNs, step);
  int64_t due = due_ns_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::max(due, now_ns) + step;
    if (next - now_ns > burst) {
      *wait = Duration(next - now_ns - burst);
      return false;
    }
  } while (!due_ns_.compare_exchange_weak(due, next, std::memory_order_relaxed));
  return true;
}

void Tenant::Charge(double turns, Time now) {
  const int64_t step = step_ns_.load(std::memory_order_relaxed);
  if (step == 0 || !(turns > 0)) return;
  const int64_t now_ns = Duration(now.time_since_epoch()).count();
  const double most = static_cast<double>(kMostDebtNs);
  const auto more = static_cast<int64_t>(std::min(turns * static_cast<double>(step), most));
  int64_t due = due_ns_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::max(due, std::min(std::max(due, now_ns) + more, now_ns + kMostDebtNs));
  } while (!due_ns_.compare_exchange_weak(due, next, std::memory_order_relaxed));
}

Tenant* Tenants::Named(std::string_view name, double requests_per_s, double weight) {
  const MutexLock lock(mutex_);
  auto found = all_.find(name);
  if (found == all_.end()) {
    const uint64_t key = all_.size() + 1;
    found = all_.emplace(name, std::make_unique<Tenant>(std::string(name), key)).first;
  }
  found->second->Set(requests_per_s, weight);
  return found->second.get();
}

std::vector<std::pair<std::string, Duration>> Tenants::Work() const {
  std::vector<std::pair<std::string, Duration>> work;
  const MutexLock lock(mutex_);
  for (const auto& [name, tenant] : all_) work.emplace_back(name, tenant->work());
  return work;
}

uint64_t KeyOfPeer(std::string_view address) noexcept {
  if (address.empty()) return 0;
  return std::max<uint64_t>(1, std::hash<std::string_view>{}(address));
}

}  // namespace seendb::admission
