#include "admission/shares.h"

namespace seendb::admission {

void TenantShares::Asked(uint64_t key, double weight, Duration work, size_t parallel, Time now) {
  Expire(now);
  if (key == 0) return;
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    if (by_key_.size() >= kMaxTenants) return;
    found = by_key_.emplace(key, active_.emplace(active_.end())).first;
    found->second->key = key;
  } else {
    One& one = *found->second;
    if (one.active) active_weight_ -= one.weight;
    active_.splice(active_.end(), one.active ? active_ : resting_, found->second);
  }
  One& one = *found->second;
  one.active = true;
  one.weight = weight;
  one.last = now;
  one.load.Offer(work, parallel, now);
  active_weight_ += weight;
}

void TenantShares::Expire(Time now) {
  while (!active_.empty() && now - active_.front().last > kActive) {
    const auto one = active_.begin();
    one->active = false;
    active_weight_ -= one->weight;
    resting_.splice(resting_.end(), active_, one);
    ForgetIfDone(one);
  }
  if (active_.empty()) active_weight_ = 0;  // what rounding left
}

void TenantShares::ForgetIfDone(std::list<One>::iterator one) {
  if (one->active || one->work != Duration(0) || one->bytes != 0) return;
  by_key_.erase(one->key);
  resting_.erase(one);
}

const TenantShares::One* TenantShares::Find(uint64_t key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &*found->second;
}

double TenantShares::ShareOf(uint64_t key) const {
  const One* const one = Find(key);
  if (one == nullptr || !one->active || active_weight_ <= 0) return 1;
  return one->weight / active_weight_;
}

bool TenantShares::HasOthers(uint64_t key) const {
  const One* const one = Find(key);
  return one != nullptr && active_.size() > (one->active ? 1u : 0u);
}

double TenantShares::LoadOf(uint64_t key, Time now) const {
  const One* const one = Find(key);
  return one == nullptr ? 0 : one->load.At(now);
}

Duration TenantShares::WorkOf(uint64_t key) const {
  const One* const one = Find(key);
  return one == nullptr ? Duration(0) : one->work;
}

uint64_t TenantShares::BytesOf(uint64_t key) const {
  const One* const one = Find(key);
  return one == nullptr ? 0 : one->bytes;
}

bool TenantShares::Add(uint64_t key, Duration work, int64_t bytes) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return false;
  found->second->work += work;
  found->second->bytes += static_cast<uint64_t>(bytes);
  ForgetIfDone(found->second);
  return true;
}

}  // namespace seendb::admission
