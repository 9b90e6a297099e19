#include "shard/history_whole.h"

#include <algorithm>

namespace seendb {
namespace {

// Calls that began under the policy of before are over by then.
constexpr int64_t kSettleMs = 3'600'000;
// The most a policy's max_future may be.
constexpr int64_t kMaxFutureMs = 366 * 86'400'000LL;

// Whether every play enters history, but for pauses.
bool WatchesAll(const Policy& policy) { return policy.history.enabled && !policy.served_is_seen; }

// A play that came in a pause may have a time up to max_future after it.
bool PausedWithin(const UserRecord& settings, int64_t begin_ms, int64_t end_ms,
                  int64_t max_future_ms) {
  for (auto at = settings.toggles.begin(); at != settings.toggles.end(); ++at) {
    if (!at->paused || at->at_ms >= end_ms) continue;
    const auto resumed = std::next(at);
    if (resumed == settings.toggles.end()) return true;
    if (resumed->at_ms + max_future_ms + kSettleMs >= begin_ms) return true;
  }
  return false;
}

}  // namespace

bool HistoryIsWhole(const CollectionFamilies& family, const UserRecord* settings, int64_t bucket,
                    int64_t now_ms) {
  const Policy& policy = family.policy;
  const int64_t begin_ms = BucketBeginMs(policy, bucket);
  if (!WatchesAll(policy) || bucket < OldestHistoryBucket(policy, now_ms)) return false;
  if (begin_ms <= family.history_incomplete_up_to_ms) return false;
  if (settings == nullptr) return true;
  if (settings->damaged || !settings->newer.empty()) return false;
  // Pauses of before were forgotten.
  if (settings->forget_before_ms != kNeverMs &&
      begin_ms < settings->forget_before_ms + policy.max_future_ms) {
    return false;
  }
  if (const auto of = settings->marks.find(family.name); of != settings->marks.end()) {
    if (begin_ms <= std::max(of->second.cleared_at_ms, of->second.evicted_at_ms)) return false;
  }
  return !PausedWithin(*settings, begin_ms, BucketBeginMs(policy, bucket + 1),
                       policy.max_future_ms);
}

int64_t HistoryIncompleteUpToMs(const Policy& before, const Policy& after, int64_t now_ms,
                                int64_t newest_ms) {
  int64_t up_to_ms = kNeverMs;
  // A longer max_future reaches further after pauses of before, too.
  if (!WatchesAll(before) || after.max_future_ms < before.max_future_ms) {
    const int64_t max_future_ms = std::max(before.max_future_ms, after.max_future_ms);
    up_to_ms = std::max(newest_ms, now_ms + max_future_ms + kSettleMs);
  }
  if (after.history.days > before.history.days) {
    // What fewer days kept, but for a bucket that may be leaving just now.
    const int64_t kept = OldestHistoryBucket(before, now_ms) + 1;
    up_to_ms = std::max(up_to_ms, BucketBeginMs(before, kept) - 1);
  }
  return up_to_ms;
}

int64_t HistoryIncompleteUpToMs(int64_t now_ms) { return now_ms + kMaxFutureMs + kSettleMs; }

}  // namespace seendb
