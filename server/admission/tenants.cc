#include "admission/tenants.h"

#include <algorithm>
#include <functional>

namespace seendb::admission {
void Tenant::Set(const TenantLimits& limits, double weight) {
  requests_.Set(limits.requests_per_s);
  bytes_.Set(limits.decoded_bytes_per_s);
  work_ms_.Set(limits.work_ms_per_s);
  weight_.store(weight, std::memory_order_relaxed);
}

Reason Tenant::Admit(Time now, Duration* wait) {
  if (!bytes_.Ready(now, wait)) return Reason::kRateOfBytes;
  if (!work_ms_.Ready(now, wait)) return Reason::kRateOfWork;
  return requests_.Take(now, wait) ? Reason::kNone : Reason::kRate;
}

void Tenant::AddWork(Duration took, Time now) {
  work_ns_.fetch_add(took.count(), std::memory_order_relaxed);
  work_ms_.Charge(std::chrono::duration<double, std::milli>(took).count(), now);
}

Tenant* Tenants::Named(std::string_view name, const TenantLimits& limits, double weight) {
  const MutexLock lock(mutex_);
  auto found = all_.find(name);
  if (found == all_.end()) {
    const uint64_t key = all_.size() + 1;
    found = all_.emplace(name, std::make_unique<Tenant>(std::string(name), key)).first;
  }
  found->second->Set(limits, weight);
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
