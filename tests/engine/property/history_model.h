// tests/engine/property/history_model.h: what history must answer, worked out in the plainest way:
// every state of every item in a map, every rule of consistency.md applied when asked.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "seendb/engine.h"

namespace seendb {

/// A play as the model takes it.
struct ModelPlay {
  std::string collection, user, item;
  int64_t at_ms = 0;
  int32_t progress_s = 0, duration_s = 0;
  std::string device, fields;
};

/// See the head of this file. Times are the engine's clock's.
class HistoryModel {
 public:
  std::map<std::string, Policy> policies;
  int64_t now_ms = 0;

  /// Whether the play is accepted.
  bool Play(const ModelPlay& play) {
    const Policy& policy = policies.at(play.collection);
    User& user = users_[play.user];
    const int64_t oldest =
        BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.retention) + 1;
    if (play.at_ms < BucketBeginMs(policy, oldest)) return false;
    if (play.at_ms > now_ms + policy.max_future_ms) return false;
    if (user.erased_at_ms && play.at_ms <= *user.erased_at_ms) return false;
    Of& of = user.of[play.collection];
    const bool paused = policy.history.enabled && PausedAt(user, play.at_ms);
    if (paused && policy.history.when_paused == WhenPaused::kFilterIgnores) return true;
    int64_t& bucket = of.seen.emplace(play.item, INT64_MIN).first->second;
    bucket = std::max(bucket, BucketIndexOf(policy, play.at_ms));
    const auto lifted = of.lifted.find(play.item);
    if (lifted != of.lifted.end() && play.at_ms > lifted->second.at_ms) {
      lifted->second = {play.at_ms, true};
    }
    if (!policy.history.enabled || paused) return true;
    of.newest_ms = std::max(of.newest_ms, play.at_ms);
    State state{play.at_ms, false, {}};
    if (!policy.history.ids_only) {
      state.play = {play.progress_s, play.duration_s, play.device, play.fields};
    }
    Take(&of.states[play.item], state);
    return true;
  }
  void Delete(const std::string& collection, const std::string& name,
              const std::vector<std::string>& items) {
    const Policy& policy = policies.at(collection);
    User& user = users_[name];
    Of& of = user.of[collection];
    for (const std::string& item : items) {
      int64_t at_ms = now_ms;
      const auto known = of.states.find(item);
      if (known != of.states.end() && known->second.at_ms > Watermark(user, of)) {
        at_ms = std::max(at_ms, known->second.at_ms);
      }
      if (policy.history.deleted_items == DeletedItems::kRecommendAgain) {
        const auto lifted = of.lifted.find(item);
        if (lifted != of.lifted.end()) at_ms = std::max(at_ms, lifted->second.at_ms);
        of.lifted[item] = {now_ms, false};
      }
      Take(&of.states[item], {at_ms, true, {}});
    }
  }
  void Clear(const std::string& collection, const std::string& user) {
    Of& of = users_[user].of[collection];
    of.cleared_ms = std::max({of.cleared_ms, now_ms, of.newest_ms});
  }
  /// `until_ms`: up to when plays are refused, as the engine says.
  void Erase(const std::string& name, int64_t until_ms) {
    User& user = users_[name];
    int64_t newest_ms = now_ms;
    bool without_times = false;  // of a bucket to come, whose plays may be as late as any
    for (const auto& [collection, of] : user.of) {
      const Policy& policy = policies.at(collection);
      const int64_t reach_ms = now_ms + policy.max_future_ms;
      newest_ms = std::max(newest_ms, std::min(of.newest_ms, reach_ms));
      for (const auto& [item, bucket] : of.seen) {
        const bool ahead = bucket > BucketIndexOf(policy, now_ms);
        without_times = without_times || (ahead && !policy.history.enabled);
      }
    }
    newest_ms = std::max(newest_ms, user.erased_at_ms.value_or(newest_ms));
    if (without_times) {
      EXPECT_GE(until_ms, newest_ms);
      EXPECT_LE(until_ms, now_ms + Policy().max_future_ms);
    } else {
      EXPECT_EQ(until_ms, newest_ms);
    }
    user.erased_at_ms = until_ms;
    user.toggles.clear();
    for (auto& [collection, of] : user.of) {
      of.states.clear();
      of.seen.clear();
      of.lifted.clear();
      of.newest_ms = INT64_MIN;
    }
  }
  void Pause(const std::string& name, bool paused) {
    User& user = users_[name];
    const bool was = !user.toggles.empty() && user.toggles.back().second;
    if (was == paused) return;
    const int64_t last = user.toggles.empty() ? now_ms : user.toggles.back().first;
    user.toggles.emplace_back(std::max(now_ms, last), paused);
  }
  /// What lies beyond the cap leaves, but for what is of the time of the last within it.
  void Trim() {
    for (auto& [name, user] : users_) {
      for (auto& [collection, of] : user.of) {
        const Policy& policy = policies.at(collection);
        if (!policy.history.enabled) continue;
        const std::vector<HistoryEntry> all = Entries(name, collection, false);
        const size_t most = policy.history.max_entries;
        const auto older = [&](const HistoryEntry& entry) {
          return entry.at_ms < all[most - 1].at_ms;
        };
        if (all.size() <= most) continue;
        const auto first = std::find_if(all.begin(), all.end(), older);
        if (first != all.end()) of.evicted_ms = std::max(of.evicted_ms, first->at_ms);
      }
    }
  }

  /// The list of one collection: the newest first, of one time by item.
  std::vector<HistoryEntry> Entries(const std::string& name, const std::string& collection,
                                    bool capped = true) {
    const Policy& policy = policies.at(collection);
    std::vector<HistoryEntry> entries;
    for (const auto& [item, state] : users_[name].of[collection].states) {
      if (const auto entry = Lookup(name, collection, item)) entries.push_back(*entry);
    }
    std::sort(entries.begin(), entries.end(), Newer);
    if (capped && entries.size() > policy.history.max_entries) {
      entries.resize(policy.history.max_entries);
    }
    return entries;
  }
  /// The list of several.
  std::vector<HistoryEntry> Page(const std::string& name, const std::set<std::string>& of) {
    std::vector<HistoryEntry> all;
    for (const std::string& collection : of) {
      for (HistoryEntry& entry : Entries(name, collection)) all.push_back(std::move(entry));
    }
    std::sort(all.begin(), all.end(), Newer);
    return all;
  }
  std::optional<HistoryEntry> Lookup(const std::string& name, const std::string& collection,
                                     const std::string& item) {
    const Policy& policy = policies.at(collection);
    User& user = users_[name];
    Of& of = user.of[collection];
    const auto at = of.states.find(item);
    if (at == of.states.end()) return {};
    const State& state = at->second;
    const int64_t oldest = BucketIndexOf(policy, now_ms - policy.history.days * 86'400'000LL);
    if (state.tombstone || state.at_ms <= Watermark(user, of)) return {};
    if (BucketIndexOf(policy, state.at_ms) < oldest) return {};
    const auto& [progress, duration, device, fields] = state.play;
    return HistoryEntry{collection, item, state.at_ms, progress, duration, device, fields};
  }
  bool Seen(const std::string& name, const std::string& collection, const std::string& item) {
    const Policy& policy = policies.at(collection);
    Of& of = users_[name].of[collection];
    const auto lifted = of.lifted.find(item);
    if (lifted != of.lifted.end() && !lifted->second.cancelled) return false;
    const auto at = of.seen.find(item);
    const int64_t oldest = BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.window) + 1;
    return at != of.seen.end() && at->second >= oldest;
  }
  Recording RecordingOf(const std::string& name) {
    const User& user = users_[name];
    if (user.toggles.empty()) return {};
    return {user.toggles.back().second, user.toggles.back().first};
  }

 private:
  struct State {
    int64_t at_ms = INT64_MIN;
    bool tombstone = false;
    std::tuple<int32_t, int32_t, std::string, std::string> play;
  };
  struct Lifted {
    int64_t at_ms;
    bool cancelled;
  };
  struct Of {
    std::map<std::string, State> states;
    std::map<std::string, int64_t> seen;  // the newest bucket
    std::map<std::string, Lifted> lifted;
    int64_t newest_ms = INT64_MIN, cleared_ms = INT64_MIN, evicted_ms = INT64_MIN;
  };
  struct User {
    std::map<std::string, Of> of;
    std::vector<std::pair<int64_t, bool>> toggles;
    std::optional<int64_t> erased_at_ms;
  };

  // Of equal times a deletion, then the greater bytes: numbers here are below 64, whose bytes are
  // ordered as 0, -1, 1, 2, ...; texts by their length, then their letters.
  static auto Rank(const State& state) {
    const auto& [progress, duration, device, fields] = state.play;
    const int32_t zigzag = progress < 0 ? -2 * progress - 1 : 2 * progress;
    return std::make_tuple(state.at_ms, state.tombstone, zigzag, duration, device.size(), device,
                           fields.size(), fields);
  }
  static void Take(State* known, const State& state) {
    if (Rank(state) > Rank(*known)) *known = state;
  }
  static bool Newer(const HistoryEntry& a, const HistoryEntry& b) {
    return std::make_tuple(-a.at_ms, a.collection, a.item) <
           std::make_tuple(-b.at_ms, b.collection, b.item);
  }
  static bool PausedAt(const User& user, int64_t at_ms) {
    bool paused = false;
    for (const auto& [from_ms, on] : user.toggles) {
      if (from_ms <= at_ms) paused = on;
    }
    return paused;
  }
  static int64_t Watermark(const User& user, const Of& of) {
    return std::max({of.cleared_ms, of.evicted_ms, user.erased_at_ms.value_or(INT64_MIN)});
  }

  std::map<std::string, User> users_;
};

}  // namespace seendb
