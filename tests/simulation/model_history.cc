#include "simulation/model_history.h"

#include <algorithm>

#include "simulation/calendar.h"
#include "simulation/model.h"

namespace seendb::simulation {
namespace {

int64_t OldestKeptBucket(const Policy& policy, int64_t now_ms) {
  return BucketAt(policy, now_ms - int64_t{policy.history.days} * 86'400'000);
}

}  // namespace

// ---- What happens ----

HistoryModel::Verdict HistoryModel::Judge(const std::string& collection, const std::string& user,
                                          int64_t at_ms) const {
  const HistoryPolicy& policy = model_.PolicyOf(collection).history;
  if (!policy.enabled) return Verdict::kFilterOnly;
  bool paused = false;
  if (const auto toggles = toggles_.find(user); toggles != toggles_.end()) {
    for (const auto& [from_ms, on] : toggles->second) {
      if (from_ms <= at_ms) paused = on;
    }
  }
  if (!paused) return Verdict::kBoth;
  return policy.when_paused == WhenPaused::kFilterIgnores ? Verdict::kNothing
                                                          : Verdict::kFilterOnly;
}

// Of several deletions the engine keeps the last, and forgets it when nothing of its time can be
// sent any more, by a clock that may have been set back since.
std::set<int64_t> HistoryModel::TimesOf(const std::string& collection, const std::string& user,
                                        const std::string& item, int64_t at_ms) const {
  const Of* of = Find(collection, user);
  if (of == nullptr || !of->ahead.contains(item)) return {at_ms};
  const std::vector<DeletedAhead>& deletions = of->ahead.at(item);
  std::set<int64_t> times;
  bool one_is_there = false;
  for (auto at = deletions.rbegin(); at != deletions.rend() && !one_is_there; ++at) {
    for (const int64_t end_ms : at->ends) {
      times.insert(at_ms > at->asked_ms && at_ms < end_ms ? end_ms + 1 : at_ms);
    }
    one_is_there = at->sure && *at->ends.begin() >= forgotten_below_ms_;
  }
  if (!one_is_there) times.insert(at_ms);
  return times;
}

void HistoryModel::Open(const std::string& collection, const std::string& user,
                        const std::string& item) {
  open_[model_.ShardOf(user)].insert({collection, user, item});
}

// The same state told again is sure if one of the calls is, and lost only with the first.
void HistoryModel::Insert(Of* of, const std::string& item, const ItemState& state) {
  std::vector<ItemState>& states = of->items[item];
  const auto known = std::find_if(states.begin(), states.end(),
                                  [&](const ItemState& other) { return other.IsSameAs(state); });
  if (known == states.end()) {
    states.push_back(state);
  } else if (!known->sure) {
    *known = state;
  } else if (state.sure && state.call == 0) {
    known->call = 0;
  }
}

void HistoryModel::Add(const std::string& collection, const std::string& user,
                       const std::string& item, ItemState state) {
  if (model_.PolicyOf(collection).history.ids_only) state.watch = {};
  Insert(&of_[collection][user], item, state);
  Open(collection, user, item);
}

void HistoryModel::EndLift(const std::string& collection, const std::string& user,
                           const std::string& item, int64_t at_ms, bool acknowledged,
                           uint64_t call) {
  Of& of = of_[collection][user];
  const auto at = of.lifts.find(item);
  if (at == of.lifts.end()) return;
  Lift& lift = at->second;
  const bool again = lift.ended && lift.sure && lift.call == call;
  if (at_ms <= lift.at_ms || (lift.ended && lift.sure && !again)) return;
  lift = acknowledged ? Lift{at_ms, true, true, call} : Lift{lift.at_ms, true, false, 0};
  Open(collection, user, item);
}

void HistoryModel::Delete(const std::string& collection, const std::string& user,
                          const std::vector<std::string>& items, bool acknowledged) {
  Of& of = of_[collection][user];
  forgotten_below_ms_ = std::max(forgotten_below_ms_, model_.OldestTakenMs());
  for (const std::string& item : items) {
    DeleteOne(collection, &of, item, acknowledged);
    Open(collection, user, item);
  }
  if (acknowledged) Synced(model_.ShardOf(user));
}

// What is known and counts is covered, wherever in the future it lies; else everything up to now.
void HistoryModel::DeleteOne(const std::string& collection, Of* of, const std::string& item,
                             bool acknowledged) {
  int64_t least_ms = model_.now_ms;
  std::set<int64_t> ends;  // what may be its end
  const auto lift = of->lifts.find(item);
  const bool again =
      model_.PolicyOf(collection).history.deleted_items == DeletedItems::kRecommendAgain;
  if (again && lift != of->lifts.end()) {
    if (!lift->second.sure) ends.insert(least_ms);
    least_ms = std::max(least_ms, lift->second.at_ms);
  }
  bool none = false;
  std::set<int64_t> maybe;
  const std::vector<Moment> winners = Winners(collection, *of, item, &none);
  const bool one = winners.size() == 1 && !none;
  for (const Moment& moment : winners) {
    if (moment.at_ms <= of->covered_sure_ms) continue;
    if (one && moment.at_ms > of->covered_maybe_ms) {
      least_ms = std::max(least_ms, moment.at_ms);
    } else {
      maybe.insert(std::max(least_ms, moment.at_ms));
    }
  }
  for (const int64_t at_ms : maybe) Insert(of, item, {at_ms, true, {}, false, 0});
  Insert(of, item, {least_ms, true, {}, acknowledged, 0});
  ends.insert(least_ms);
  ends.insert(maybe.begin(), maybe.end());
  const bool surely_ahead = *ends.begin() > model_.now_ms;
  std::erase_if(ends, [&](int64_t end_ms) { return end_ms <= model_.now_ms; });
  if (!ends.empty()) {
    of->ahead[item].push_back({model_.now_ms, ends, acknowledged && surely_ahead});
  }
  if (!again) return;
  if (acknowledged) {
    of->lifts[item] = {model_.now_ms, false, true, 0};
  } else {
    Lift& known = of->lifts[item];
    known = {std::max(model_.now_ms, known.at_ms), false, false, 0};
  }
}

void HistoryModel::Clear(const std::string& collection, const std::string& user,
                         bool acknowledged) {
  Of& of = of_[collection][user];
  int64_t sure_ms = model_.now_ms, maybe_ms = model_.now_ms;
  for (const auto& [item, states] : of.items) {
    for (const ItemState& state : states) {
      if (state.tombstone) continue;
      maybe_ms = std::max(maybe_ms, state.at_ms);
      if (state.sure) sure_ms = std::max(sure_ms, state.at_ms);
    }
  }
  of.covered_maybe_ms = std::max(of.covered_maybe_ms, maybe_ms);
  if (!acknowledged) return;
  of.covered_sure_ms = std::max(of.covered_sure_ms, sure_ms);
  Synced(model_.ShardOf(user));
}

void HistoryModel::Pause(const std::string& user, bool paused) {
  const Recording before = RecordingOf(user);
  if (before.paused == paused) return;
  forgotten_below_ms_ = std::max(forgotten_below_ms_, model_.OldestTakenMs());
  toggles_[user].emplace_back(std::max(model_.now_ms, before.since_ms), paused);
  // Plays that came in the pause, when the clock was ahead, are known to the filters alone.
  if (!paused && model_.now_ms < model_.newest_now_ms) {
    for (const auto& [collection, policy] : model_.policies()) {
      int64_t& to = incomplete_to_.try_emplace(collection, INT64_MIN).first->second;
      const int64_t bucket = BucketAt(policy, model_.newest_now_ms + policy.max_future_ms);
      to = std::max(to, FirstMsOf(policy, bucket + 1));
    }
  }
  Synced(model_.ShardOf(user));
}

void HistoryModel::EndLifts(const std::string& collection, const std::string& user) {
  of_[collection][user].lifts.clear();
  of_[collection][user].ahead.clear();
}

void HistoryModel::Erase(const std::string& user) {
  if (const auto toggles = toggles_.find(user); toggles != toggles_.end()) toggles->second.clear();
  for (auto& [collection, users] : of_) {
    const auto of = users.find(user);
    if (of == users.end()) continue;
    of->second.items.clear();
    of->second.lifts.clear();
    of->second.ahead.clear();
  }
}

void HistoryModel::Age(const std::string& collection, const Policy& policy) {
  int64_t& below = lost_below_.try_emplace(collection, INT64_MIN).first->second;
  below = std::max(below, OldestKeptBucket(policy, model_.now_ms));
}

// ---- What is there ----

const HistoryModel::Of* HistoryModel::Find(const std::string& collection,
                                           const std::string& user) const {
  const auto users = of_.find(collection);
  if (users == of_.end()) return nullptr;
  const auto of = users->second.find(user);
  return of == users->second.end() ? nullptr : &of->second;
}

// The moments that may be the item's last, the greatest first; `*none` if it may have none.
std::vector<Moment> HistoryModel::Winners(const std::string& collection, const Of& of,
                                          const std::string& item, bool* none) const {
  *none = true;
  const auto at = of.items.find(item);
  if (at == of.items.end()) return {};
  std::map<Moment, bool, std::greater<>> moments;  // whether one of its states is sure
  for (const ItemState& state : at->second) {
    bool& sure = moments[state.moment()];
    sure = sure || state.sure;
  }
  const Policy& policy = model_.PolicyOf(collection);
  std::vector<Moment> winners;
  for (const auto& [moment, sure] : moments) {
    winners.push_back(moment);
    if (!sure || BucketAt(policy, moment.at_ms) < lost_below_.at(collection)) continue;
    *none = false;
    break;
  }
  return winners;
}

bool HistoryModel::Hidden(const std::string& collection, const Of& of, const Moment& moment) const {
  const Policy& policy = model_.PolicyOf(collection);
  return moment.tombstone || moment.at_ms <= of.covered_sure_ms ||
         BucketAt(policy, moment.at_ms) < OldestKeptBucket(policy, model_.now_ms);
}

bool HistoryModel::MayBeHidden(const std::string& collection, const Of& of,
                               const Moment& moment) const {
  return Hidden(collection, of, moment) || moment.at_ms <= of.covered_maybe_ms ||
         BucketAt(model_.PolicyOf(collection), moment.at_ms) < lost_below_.at(collection);
}

Outlook HistoryModel::Expect(const std::string& collection, const std::string& user,
                             const std::string& item) const {
  Outlook outlook;
  const Of* of = Find(collection, user);
  if (of == nullptr) return {true};
  for (const Moment& moment : Winners(collection, *of, item, &outlook.absent)) {
    if (MayBeHidden(collection, *of, moment)) outlook.absent = true;
    if (Hidden(collection, *of, moment)) continue;
    outlook.shown.push_back(ShownAt(collection, *of, of->items.at(item), moment.at_ms));
  }
  return outlook;
}

void HistoryModel::Learn(const std::string& collection, const std::string& user,
                         const std::string& item, bool shown) {
  const auto of = of_[collection].find(user);
  if (of == of_[collection].end()) return;
  bool none = false;
  const auto winners = Winners(collection, of->second, item, &none);
  if (winners.size() != 1 || none || winners[0].tombstone) return;
  Of& line = of->second;
  const int64_t at_ms = winners[0].at_ms;
  if (shown) {
    line.covered_maybe_ms = std::min(line.covered_maybe_ms, at_ms - 1);
  } else if (at_ms <= line.covered_maybe_ms && !Hidden(collection, line, winners[0])) {
    line.covered_sure_ms = at_ms;
  }
}

Recording HistoryModel::RecordingOf(const std::string& user) const {
  const auto toggles = toggles_.find(user);
  if (toggles == toggles_.end() || toggles->second.empty()) return {};
  return {toggles->second.back().second, toggles->second.back().first};
}

Recording HistoryModel::RecordingAfter(const std::string& user, bool paused) const {
  const Recording before = RecordingOf(user);
  if (before.paused == paused) return before;
  return {paused, std::max(model_.now_ms, before.since_ms)};
}

const Lift* HistoryModel::LiftOf(const std::string& collection, const std::string& user,
                                 const std::string& item) const {
  const Of* of = Find(collection, user);
  if (of == nullptr) return nullptr;
  const auto lift = of->lifts.find(item);
  return lift == of->lifts.end() ? nullptr : &lift->second;
}

std::vector<std::string> HistoryModel::ItemsOf(const std::string& collection,
                                               const std::string& user) const {
  std::vector<std::string> items;
  if (const Of* of = Find(collection, user)) {
    for (const auto& [item, states] : of->items) items.push_back(item);
  }
  return items;
}

std::vector<std::string> HistoryModel::UsersOf(const std::string& collection) const {
  std::vector<std::string> users;
  const auto at = of_.find(collection);
  if (at == of_.end()) return users;
  for (const auto& [user, of] : at->second) users.push_back(user);
  return users;
}

std::vector<std::string> HistoryModel::PausedUsers() const {
  std::vector<std::string> users;
  for (const auto& [user, toggles] : toggles_) users.push_back(user);
  return users;
}

// ---- The cap ----

void HistoryModel::Evict(bool sure) {
  for (auto& [collection, users] : of_) {
    if (!model_.PolicyOf(collection).history.enabled) continue;
    for (auto& [user, of] : users) EvictOf(collection, &of, sure);
  }
}

// Of each item the latest that it may be: no list of a possible world is later. Entries of the time
// of the last within the cap stay; in another possible world that may be a later one.
void HistoryModel::EvictOf(const std::string& collection, Of* of, bool sure) {
  std::vector<int64_t> times;
  for (const auto& [item, states] : of->items) {
    bool none = false;
    const auto winners = Winners(collection, *of, item, &none);
    sure = sure && winners.size() == 1 && !none &&
           Hidden(collection, *of, winners[0]) == MayBeHidden(collection, *of, winners[0]);
    const auto shown = std::find_if(winners.begin(), winners.end(), [&](const Moment& moment) {
      return !Hidden(collection, *of, moment);
    });
    if (shown != winners.end()) times.push_back(shown->at_ms);
  }
  const size_t most = model_.PolicyOf(collection).history.max_entries;
  if (times.size() <= most) return;
  std::sort(times.begin(), times.end(), std::greater<>());
  if (!sure) {
    of->covered_maybe_ms = std::max(of->covered_maybe_ms, times[most]);
    return;
  }
  const auto older =
      std::upper_bound(times.begin(), times.end(), times[most - 1], std::greater<>());
  if (older == times.end()) return;
  of->covered_maybe_ms = std::max(of->covered_maybe_ms, *older);
  of->covered_sure_ms = std::max(of->covered_sure_ms, *older);
}

}  // namespace seendb::simulation
