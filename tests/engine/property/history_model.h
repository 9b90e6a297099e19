// tests/engine/property/history_model.h: what history must answer, worked out in the plainest way:
// every report of every item in a list, every rule of consistency.md applied when asked.

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
  std::optional<int32_t> progress_s = {}, duration_s = {};
  std::string device = {}, fields = {};
};

/// See the head of this file. Times are the engine's clock's.
class HistoryModel {
 public:
  std::map<std::string, Policy> policies;
  int64_t now_ms = 0;

  /// Whether the play is accepted.
  bool Play(ModelPlay play) {
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
    if (policy.history.enabled && !paused) {
      const auto ahead = of.ahead.find(play.item);
      if (ahead != of.ahead.end() && ahead->second.Hides(play.at_ms)) {
        play.at_ms = ahead->second.until_ms + 1;
      }
    }
    int64_t& bucket = of.seen.emplace(play.item, INT64_MIN).first->second;
    bucket = std::max(bucket, BucketIndexOf(policy, play.at_ms));
    const auto lifted = of.lifted.find(play.item);
    if (lifted != of.lifted.end() && play.at_ms > lifted->second.at_ms) {
      lifted->second = {play.at_ms, true};
    }
    if (!policy.history.enabled || paused) return true;
    of.newest_ms = std::max(of.newest_ms, play.at_ms);
    of.states[play.item].reports.push_back(play);
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
      if (known != of.states.end() && known->second.NewestMs() > Watermark(user, of)) {
        at_ms = std::max(at_ms, known->second.NewestMs());
      }
      if (policy.history.deleted_items == DeletedItems::kRecommendAgain) {
        const auto lifted = of.lifted.find(item);
        if (lifted != of.lifted.end()) at_ms = std::max(at_ms, lifted->second.at_ms);
        of.lifted[item] = {now_ms, false};
      }
      if (at_ms > now_ms) of.ahead[item] = {at_ms, now_ms};
      int64_t& deleted_ms = of.states[item].deleted_ms;
      deleted_ms = std::max(deleted_ms, at_ms);
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
      for (const auto& [item, ahead] : of.ahead) {
        newest_ms = std::max(newest_ms, std::min(ahead.until_ms, reach_ms));
      }
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
      of.ahead.clear();
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
    const int64_t oldest = BucketIndexOf(policy, now_ms - policy.history.days * 86'400'000LL);
    const int64_t ended_ms =
        std::max({at->second.deleted_ms, Watermark(user, of), BucketBeginMs(policy, oldest) - 1});
    const int64_t at_ms = at->second.NewestReportMs();
    if (at_ms <= ended_ms) return {};
    HistoryEntry entry{collection, item, at_ms, 0, 0, {}, {}};
    if (policy.history.ids_only) return entry;
    Saying progress{INT64_MIN, 0}, duration{INT64_MIN, 0};
    std::pair<int64_t, std::string> device{INT64_MIN, {}}, fields{INT64_MIN, {}};
    for (const ModelPlay& report : at->second.reports) {
      if (report.at_ms <= ended_ms) continue;
      if (report.progress_s) progress = std::max(progress, Saying(report.at_ms, Rank(report)));
      if (report.duration_s.value_or(0) != 0)
        duration = std::max(duration, Saying(report.at_ms, *report.duration_s));
      if (!report.device.empty()) device = std::max(device, std::pair(report.at_ms, report.device));
      if (!report.fields.empty()) fields = std::max(fields, std::pair(report.at_ms, report.fields));
    }
    entry.progress_s = progress.second == kFinishedRank ? kFinished : progress.second;
    entry.duration_s = duration.second;
    entry.device = device.second;
    entry.fields = fields.second;
    return entry;
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
  // When one thing was said, and what.
  using Saying = std::pair<int64_t, int32_t>;
  struct State {
    std::vector<ModelPlay> reports;
    int64_t deleted_ms = INT64_MIN;

    int64_t NewestReportMs() const {
      int64_t newest_ms = INT64_MIN;
      for (const ModelPlay& report : reports) newest_ms = std::max(newest_ms, report.at_ms);
      return newest_ms;
    }
    int64_t NewestMs() const { return std::max(deleted_ms, NewestReportMs()); }
  };
  struct Lifted {
    int64_t at_ms;
    bool cancelled;
  };
  // A deletion that reaches ahead of the clock: what it would hide of later plays comes behind it.
  struct Ahead {
    int64_t until_ms = INT64_MIN, asked_ms = INT64_MIN;
    bool Hides(int64_t at_ms) const { return at_ms > asked_ms && at_ms < until_ms; }
  };
  struct Of {
    std::map<std::string, State> states;
    std::map<std::string, int64_t> seen;  // the newest bucket
    std::map<std::string, Lifted> lifted;
    std::map<std::string, Ahead> ahead;
    int64_t newest_ms = INT64_MIN, cleared_ms = INT64_MIN, evicted_ms = INT64_MIN;
  };
  struct User {
    std::map<std::string, Of> of;
    std::vector<std::pair<int64_t, bool>> toggles;
    std::optional<int64_t> erased_at_ms;
  };

  // Of one time the larger position counts, finished above all.
  static constexpr int32_t kFinishedRank = INT32_MAX;
  static int32_t Rank(const ModelPlay& report) {
    return *report.progress_s == kFinished ? kFinishedRank : *report.progress_s;
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
