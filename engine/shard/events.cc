#include "shard/events.h"

#include <algorithm>
#include <numeric>

#include "base/utf8.h"
#include "format/day_key.h"

namespace seendb {

// What is kept of a play where there is history; else it is not looked at.
Status CheckWatches(std::span<const Play> plays) {
  for (size_t i = 0; i < plays.size(); ++i) {
    if (plays[i].watch == nullptr) continue;
    const Watch& watch = *plays[i].watch;
    const auto refused = [i](const char* member, const std::string& why) {
      return Status::InvalidArgument(std::string(member) + " " + why,
                                     "/" + std::to_string(i) + "/" + member);
    };
    if (watch.progress_s.value_or(0) < kFinished)
      return refused("progress_s", "must be -1 or not negative");
    if (watch.duration_s.value_or(0) < 0) return refused("duration_s", "must not be negative");
    if (watch.device.size() > kMaxDeviceBytes) {
      return refused("device", "is longer than " + std::to_string(kMaxDeviceBytes) + " bytes");
    }
    if (!IsUtf8(watch.device)) return refused("device", "is not valid UTF-8");
    if (watch.fields.size() > kMaxFieldsBytes) {
      return refused("fields", "is longer than " + std::to_string(kMaxFieldsBytes) + " bytes");
    }
  }
  return {};
}

Status CheckDays(std::span<const Play> plays) {
  for (size_t i = 0; i < plays.size(); ++i) {
    if (plays[i].day.empty()) continue;
    const Result<int64_t> day = DayOfText(plays[i].day);
    if (!day.ok()) return day.status().WithFieldPrefix("/" + std::to_string(i) + "/day");
  }
  return {};
}

EventsByShard::EventsByShard(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of,
                             uint32_t shards)
    : ends_(shards) {
  for (const uint32_t shard : shard_of) ++ends_[shard];
  const bool together = std::count(ends_.begin(), ends_.end(), 0U) + 1 >= int64_t{shards};
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  if (together) {  // of one shard all of them: mostly a call is of one user
    events_ = std::move(events);
    return;
  }
  events_.resize(events.size());
  for (size_t i = events.size(); i > 0; --i) events_[--ends_[shard_of[i - 1]]] = events[i - 1];
  // Each end has moved to the begin of its shard, which is the end of the one before.
  std::rotate(ends_.begin(), ends_.begin() + 1, ends_.end());
  ends_.back() = static_cast<uint32_t>(events.size());
}

}  // namespace seendb
