// shard/events.h: what is decided about events before any shard is asked: well-formed ids,
// times within retention and max_future, and which shard owns whom.

#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/hash.h"
#include "ring/staging.h"
#include "seendb/events.h"
#include "seendb/policy.h"

namespace seendb {

/// Times an event may have, and the buckets they fall into.
class TimeCheck {
 public:
  TimeCheck(const Policy& policy, int64_t now_ms)
      : policy_(policy),
        now_ms_(now_ms),
        oldest_ms_(BucketBeginMs(
            policy, BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.retention) + 1)),
        newest_ms_(std::min(now_ms, kLastTimeMs) + policy.max_future_ms) {
    oldest_in_window_ = BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.window) + 1;
    oldest_ms_ = std::max(oldest_ms_, kFirstTimeMs);
    newest_ms_ = std::min(newest_ms_, kLastTimeMs);
  }

  // The event's time, or the reason to refuse it.
  Result<int64_t> Check(std::optional<int64_t> given_ms) const {
    const int64_t at_ms = given_ms.value_or(now_ms_);
    if (at_ms >= oldest_ms_ && at_ms <= newest_ms_) return at_ms;
    return at_ms < oldest_ms_
               ? Status::InvalidArgument(
                     "at " + std::to_string(at_ms) + " is older than retention, which begins at " +
                         std::to_string(oldest_ms_) + (LooksLikeSeconds(at_ms) ? kSecondsHint : ""),
                     "/at")
               : Status::InvalidArgument("at " + std::to_string(at_ms) +
                                             " is beyond max_future, which ends at " +
                                             std::to_string(newest_ms_),
                                         "/at");
  }

  /// Of a time that Check refuses.
  RefusalReason ReasonOf(std::optional<int64_t> given_ms) const {
    const int64_t at_ms = given_ms.value_or(now_ms_);
    if (at_ms > newest_ms_) return RefusalReason::kInFuture;
    return LooksLikeSeconds(at_ms) ? RefusalReason::kSeconds : RefusalReason::kTooOld;
  }

  /// Whether no filter reads the bucket any more, though it is kept.
  bool IsOutsideWindow(int64_t bucket) const { return bucket < oldest_in_window_; }

  /// kUnavailable where one of the events would be refused as too old: for a clock in doubt, which
  /// may be wrong about that.
  template <typename Given>
  Status CheckNoneTooOld(std::span<const Given> given) const {
    for (const Given& one : given) {
      if (!one.at_ms || *one.at_ms >= oldest_ms_) continue;
      return Status::Unavailable("at " + std::to_string(*one.at_ms) +
                                 " is older than retention by a clock that is in doubt");
    }
    return {};
  }

  // Consecutive events mostly share a bucket.
  int64_t BucketOf(int64_t at_ms) {
    if (at_ms < begin_ms_ || at_ms >= end_ms_) {
      bucket_ = BucketIndexOf(policy_, at_ms);
      begin_ms_ = BucketBeginMs(policy_, bucket_);
      end_ms_ = BucketBeginMs(policy_, bucket_ + 1);
    }
    return bucket_;
  }

 private:
  static constexpr const char* kSecondsHint = "; looks like seconds: `at` is milliseconds";

  // Of a time that is too old: a thousand times as much would be taken.
  bool LooksLikeSeconds(int64_t at_ms) const {
    return at_ms > 0 && at_ms <= newest_ms_ / 1'000 && at_ms * 1'000 >= oldest_ms_;
  }

  const Policy& policy_;
  int64_t now_ms_, oldest_ms_, newest_ms_, oldest_in_window_;
  int64_t bucket_ = 0, begin_ms_ = 0, end_ms_ = 0;
};

/// Notes a refusal.
inline void Refuse(RecordResult* result, uint32_t index, Status status, RefusalReason reason) {
  ++result->refused;
  ++result->refused_by[static_cast<size_t>(reason)];
  if (result->refusals.size() < kMaxRefusals)
    result->refusals.push_back({index, std::move(status), reason});
}

/// kInvalidArgument with "/<index>/user" or "/<index>/item" for the first ill-formed id.
template <typename Given>
Status CheckIds(std::span<const Given> given) {
  const IdRef* last_user = nullptr;
  for (size_t i = 0; i < given.size(); ++i) {
    if (last_user == nullptr || !(*last_user == given[i].user)) {
      const Status user = given[i].user.Validate();
      if (!user.ok()) {
        return Status(user.code(), std::string(user.message()), "/" + std::to_string(i) + "/user");
      }
      last_user = &given[i].user;
    }
    const Status item = given[i].item.Validate();
    if (!item.ok()) {
      return Status(item.code(), std::string(item.message()), "/" + std::to_string(i) + "/item");
    }
  }
  return {};
}

/// kInvalidArgument with "/<index>/progress_s" and the like for the first play whose watch is
/// beyond a limit.
Status CheckWatches(std::span<const Play> plays);

/// kInvalidArgument with "/<index>/day" for the first play whose day is none.
Status CheckDays(std::span<const Play> plays);

/// One well-formed event, its user as text.
struct ShardEvent {
  uint32_t index = 0;  ///< in the call
  StagedPlay play;
  int64_t at_ms = 0;
};
using EventsByShard = std::vector<std::vector<ShardEvent>>;

/// Events by the shard that owns their user; of one whose time is refused, `refuse(shard, index,
/// status)` is told. `*numbers` takes the texts of integer users, which the events point into.
template <typename Given, typename Refused>
EventsByShard SortByShard(std::span<const Given> given, uint32_t first_index, TimeCheck times,
                          uint32_t shards, std::string* numbers, const Refused& refuse) {
  EventsByShard by_shard(shards);
  for (auto& events : by_shard) events.reserve(given.size() / shards + 16);
  size_t number_users = 0;
  for (const Given& one : given) number_users += one.user.is_number() ? 1 : 0;
  numbers->reserve(number_users * kMaxDecimalDigits);  // views into it stay good

  const IdRef* last_user = nullptr;
  std::string_view user;
  uint32_t shard = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto index = first_index + static_cast<uint32_t>(i);
    if (last_user == nullptr || !(*last_user == given[i].user)) {
      last_user = &given[i].user;
      user = last_user->text();
      if (last_user->is_number()) {
        const size_t begin = numbers->size();
        last_user->AppendTo(numbers);
        user = std::string_view(*numbers).substr(begin);
      }
      shard = ShardOf(user, shards);
    }
    const Result<int64_t> at = times.Check(given[i].at_ms);
    if (!at.ok()) {
      refuse(shard, index, at.status());
      continue;
    }
    ShardEvent event;
    event.index = index;
    event.at_ms = *at;
    event.play = {user, times.BucketOf(*at), FingerprintOf(given[i].item)};
    by_shard[shard].push_back(event);
  }
  return by_shard;
}

}  // namespace seendb
