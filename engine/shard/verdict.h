// shard/verdict.h: whether an event counts, and where: in the filters, in history. This is decided
// when it is taken (its time, its user's record), when the journal is replayed (what was forgotten
// since) and when a slot is drained (what has expired since); all of it here.
//
// Threads: a TimeCheck is its caller's; the functions are pure.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock_guard.h"
#include "base/time_text.h"
#include "format/user_codec.h"
#include "seendb/events.h"
#include "seendb/policy.h"

namespace seendb {

// ---- When it is taken: its time ----

/// Times an event may have, and the buckets they fall into.
class TimeCheck {
 public:
  TimeCheck(const Policy& policy, int64_t now_ms)
      : policy_(policy),
        now_ms_(now_ms),
        oldest_ms_(BucketBeginMs(policy, OldestBucket(policy, now_ms))),
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
                     "at " + TimeText(at_ms) + " is older than retention, which begins at " +
                         TimeText(oldest_ms_) + (LooksLikeSeconds(at_ms) ? kSecondsHint : ""),
                     "/at")
               : Status::InvalidArgument("at " + TimeText(at_ms) +
                                             " is beyond max_future, which ends at " +
                                             TimeText(newest_ms_),
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
      return Status::Unavailable("at " + TimeText(*one.at_ms) +
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

  // Of a time that is too old: in seconds it would lie between 2000 and what is taken, and in
  // milliseconds in January of 1970.
  bool LooksLikeSeconds(int64_t at_ms) const {
    constexpr int64_t kYear2000 = 946'684'800;
    return at_ms >= kYear2000 && at_ms <= newest_ms_ / 1'000;
  }

  const Policy& policy_;
  int64_t now_ms_, oldest_ms_, newest_ms_, oldest_in_window_;
  int64_t bucket_ = 0, begin_ms_ = 0, end_ms_ = 0;
};

// ---- When it is taken: its user ----

/// What becomes of an event.
enum class Verdict : uint8_t { kRefused, kNothing, kFilter, kBoth };
/// Decides by the record of its user, which may be null; `history`: it may enter history.
Verdict Judge(const UserRecord* record, int64_t at_ms, std::string_view collection,
              const Policy& policy, bool history);
/// Why Judge refuses it.
RefusalReason ReasonOfRefusal(const UserRecord& record, std::string_view collection);
/// The same for people.
Status RefusalOf(const UserRecord& record, std::string_view collection, int64_t at_ms);

// ---- When the journal is replayed ----

/// What an erasure, or the clearing of its collection, left standing of a journalled event.
struct Standing {
  bool history = true, filter = true;
};
/// `record`: of its user, may be null; `sequence`: that of its journal record.
Standing StandingOf(const UserRecord* record, std::string_view collection, uint64_t sequence);

// ---- When a slot is drained ----

/// The oldest bucket that takes plays, and history; a clock in doubt says of none that it has
/// expired.
int64_t OldestDrained(const Policy& policy, const Present& now);
int64_t OldestDrainedHistory(const Policy& policy, const Present& now);
/// Whether history of that time counts, by what its user cleared. `record` may be null.
bool CountsInHistory(const UserRecord* record, std::string_view collection, int64_t at_ms);

}  // namespace seendb
