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

EventsByShard::EventsByShard(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of) {
  if (events.empty()) return;
  const auto [least, most] = std::minmax_element(shard_of.begin(), shard_of.end());
  if (*least == *most) {  // mostly a call is of one user
    events_ = std::move(events);
    groups_.push_back({*least, events_});
  } else if (*most < events.size()) {
    Count(std::move(events), shard_of, *most + 1);
  } else {
    Sort(std::move(events), shard_of);
  }
}

// Few events of many shards.
void EventsByShard::Sort(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of) {
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return shard_of[a] < shard_of[b]; });
  events_.reserve(events.size());
  for (const uint32_t i : order) events_.push_back(events[i]);
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const uint32_t shard = shard_of[order[begin]];
    while (end < order.size() && shard_of[order[end]] == shard) ++end;
    groups_.push_back({shard, std::span(events_).subspan(begin, end - begin)});
  }
}

// Counts, then places (Knuth 3, algorithm 5.2D): more events than shards.
void EventsByShard::Count(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of,
                          uint32_t shards) {
  std::vector<uint32_t> ends(shards);
  for (const uint32_t shard : shard_of) ++ends[shard];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  events_.resize(events.size());
  for (size_t i = events.size(); i > 0; --i) events_[--ends[shard_of[i - 1]]] = events[i - 1];
  // Each end has moved to the begin of its shard.
  for (uint32_t shard = 0; shard < shards; ++shard) {
    const size_t begin = ends[shard];
    const size_t end = shard + 1 < shards ? ends[shard + 1] : events_.size();
    if (begin < end) groups_.push_back({shard, std::span(events_).subspan(begin, end - begin)});
  }
}

}  // namespace seendb
