// Where the model is certain that history is whole (consistency.md, "Verified answers"): less often
// than it is, never more.

#include <algorithm>
#include <iterator>

#include "simulation/calendar.h"
#include "simulation/model.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kHour = 3'600'000;

}  // namespace

// What days made fewer once is below lost_below_.
void HistoryModel::Change(const std::string& collection, const Policy& before,
                          const Policy& after) {
  const bool same = before.history.enabled == after.history.enabled &&
                    before.served_is_seen == after.served_is_seen &&
                    before.max_future_ms == after.max_future_ms;
  if (same) return;
  int64_t& to = incomplete_to_.try_emplace(collection, INT64_MIN).first->second;
  to = std::max(to, model_.now_ms + std::max(before.max_future_ms, after.max_future_ms) + kHour);
}

void HistoryModel::Distrust(const std::string& collection) {
  incomplete_to_[collection] = INT64_MAX;
}

void HistoryModel::BeginAnew(const std::string& collection) {
  Distrust(collection);
  for (auto& [user, of] : of_[collection]) {
    of.lifts.clear();
    of.ahead.clear();
    of.covered_sure_ms = of.covered_maybe_ms = INT64_MIN;
  }
}

bool HistoryModel::IsWhole(const std::string& collection, const std::string& user) const {
  const Policy& policy = model_.PolicyOf(collection);
  if (!policy.history.enabled || policy.served_is_seen) return false;
  const int64_t oldest = model_.OldestRead(collection);
  if (oldest <= lost_below_.at(collection)) return false;
  const int64_t begin_ms = FirstMsOf(policy, oldest);
  const auto incomplete = incomplete_to_.find(collection);
  if (incomplete != incomplete_to_.end() && begin_ms <= incomplete->second) return false;
  const Of* of = Find(collection, user);
  if (of != nullptr && begin_ms <= of->covered_maybe_ms) return false;
  const auto toggles = toggles_.find(user);
  if (toggles == toggles_.end()) return true;
  for (auto at = toggles->second.begin(); at != toggles->second.end(); ++at) {
    const auto resumed = std::next(at);
    if (!at->second) continue;
    if (resumed == toggles->second.end()) return false;
    if (resumed->first + policy.max_future_ms + kHour >= begin_ms) return false;
  }
  return true;
}

bool HistoryModel::MayKnow(const std::string& collection, const std::string& user,
                           const std::string& item, int64_t bucket) const {
  const Of* of = Find(collection, user);
  if (of == nullptr) return false;
  const auto states = of->items.find(item);
  if (states == of->items.end()) return false;
  const Policy& policy = model_.PolicyOf(collection);
  return std::any_of(states->second.begin(), states->second.end(), [&](const ItemState& state) {
    return BucketAt(policy, state.at_ms) >= bucket;
  });
}

}  // namespace seendb::simulation
