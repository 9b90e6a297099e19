#include "redis_ages.h"

#include <cstddef>
#include <string>

#include "interrupt.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr int kPagesMost = 50;
constexpr uint64_t kKeysEnough = 2'000;

/// The score of a time, as Redis takes it.
std::string ScoreOf(int64_t at_ms, redis::ScoreUnit unit) {
  if (unit == redis::ScoreUnit::kSeconds) return std::to_string(at_ms / 1'000);
  return std::to_string(unit == redis::ScoreUnit::kMicros ? at_ms * 1'000 : at_ms);
}

}  // namespace

Unread UnreadBy(const Policy& policy, int64_t now_ms) {
  const int64_t now = BucketIndexOf(policy, now_ms);
  return {BucketBeginMs(policy, now - policy.retention + 1),
          BucketBeginMs(policy, now - policy.window + 1)};
}

Status CheckAges(redis::Client& client, KeySource& keys, const redis::KeyTemplate& users,
                 redis::ScoreUnit unit, const Unread& unread) {
  const std::string begin = ScoreOf(unread.begin_ms, unit);
  const std::string end = "(" + ScoreOf(unread.end_ms, unit);
  uint64_t looked_at = 0, with_old = 0, old = 0;
  KeyPage page;
  redis::Pipeline pipeline;
  for (int i = 0; i < kPagesMost && looked_at < kKeysEnough && InterruptedBy() == 0; ++i) {
    const auto more = keys.Next(&page);
    if (!more.ok()) return more.status();
    if (!*more) break;
    pipeline.Clear();
    for (const std::string& key : page.keys) {
      if (users.UserOf(key)) pipeline.Add({"ZCOUNT", key, begin, end}, key);
    }
    const auto replies = client.Run(pipeline);
    if (!replies.ok()) return replies.status();
    for (const redis::Reply& reply : *replies) {  // an error, of a key that holds none: 0
      const auto count = static_cast<uint64_t>(reply.integer());
      with_old += count == 0 ? 0 : 1;
      old += count;
    }
    looked_at += replies->size();
  }
  if (old == 0) return {};
  return Status::InvalidArgument(
      FormatCount(with_old) + " of the first " + FormatCount(looked_at) + " keys have " +
      FormatCount(old) + " members from before the window of the collection's policy, which " +
      "begins at " + FormatTimeMs(unread.end_ms) +
      " UTC: no filter would count them. Import into a collection whose window holds them "
      "(seendb redis survey proposes a policy), or say --yes to import them all the same");
}

}  // namespace seendb::tool
