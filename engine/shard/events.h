// shard/events.h: what is decided about events before any shard is asked: well-formed ids and
// times, and which shard owns whom.

#pragma once

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/facts.h"
#include "filter/item_hash.h"
#include "ring/staging.h"
#include "seendb/events.h"
#include "shard/verdict.h"

namespace seendb {

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

/// kInvalidArgument with "/<index>/surface" for the first surface that is no name of one.
template <typename Given>
Status CheckSurfaces(std::span<const Given> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const Status good = CheckSurface(given[i].surface);
    if (!good.ok()) {
      return Status(good.code(), std::string(good.message()), "/" + std::to_string(i) + "/surface");
    }
  }
  return {};
}

/// Which groups some event of a call has. With `of` events are counted, and may be by their items.
struct GroupsGiven {
  bool of = false, same_as = false;
};

/// kInvalidArgument with "/<index>/of" or "/<index>/same_as/<place>" and the like for the first
/// event with too many groups, or an ill-formed one. `*any` gets what there are.
template <typename Given>
Status CheckEventGroups(std::span<const Given> given, GroupsGiven* any) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].of.empty() && given[i].same_as.empty()) continue;
    any->of |= !given[i].of.empty();
    any->same_as |= !given[i].same_as.empty();
    const Status good = CheckGroups(given[i].of, given[i].same_as);
    if (!good.ok()) return good.WithFieldPrefix("/" + std::to_string(i));
  }
  return {};
}

/// One well-formed event, its user as text.
struct ShardEvent {
  uint32_t index = 0;  ///< in the call
  StagedPlay play;
  int64_t at_ms = 0;
};

/// The events of one shard, in the order of the call; at least one.
struct ShardGroup {
  uint32_t shard = 0;
  std::span<const ShardEvent> events;  ///< borrowed from the EventsByShard
};

/// The events of a call, those of one shard side by side. Costs by the events and the shards that
/// they go to, however many shards there are.
class EventsByShard {
 public:
  EventsByShard() = default;
  /// `shard_of`: of each event.
  EventsByShard(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of);
  EventsByShard(const EventsByShard&) = delete;
  EventsByShard& operator=(const EventsByShard&) = delete;
  EventsByShard(EventsByShard&&) = default;
  EventsByShard& operator=(EventsByShard&&) = default;

  /// Ascending by shard.
  std::span<const ShardGroup> groups() const { return groups_; }

 private:
  void Sort(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of);
  void Count(std::vector<ShardEvent> events, std::span<const uint32_t> shard_of, uint32_t shards);

  std::vector<ShardEvent> events_;
  std::vector<ShardGroup> groups_;
};

/// Events by the shard that owns their user. `times_of(i)` is what the i-th is judged by; of one
/// whose time is refused, `refuse(shard, index, status, reason)` is told. `*numbers` takes the
/// texts of integer users, which the events point into.
template <typename Given, typename TimesOf, typename Refused>
EventsByShard SortByShard(std::span<const Given> given, uint32_t first_index,
                          const TimesOf& times_of, uint32_t shards, const ItemHash& hash,
                          std::string* numbers, const Refused& refuse) {
  std::vector<ShardEvent> events;
  std::vector<uint32_t> shard_of;
  events.reserve(given.size());
  shard_of.reserve(given.size());
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
        assert(numbers->capacity() - begin >= kMaxDecimalDigits);
        last_user->AppendTo(numbers);
        user = std::string_view(*numbers).substr(begin);
      }
      shard = ShardOf(user, shards);
    }
    TimeCheck& times = times_of(i);
    const Result<int64_t> at = times.Check(given[i].at_ms);
    if (!at.ok()) {
      refuse(shard, index, at.status(), times.ReasonOf(given[i].at_ms));
      continue;
    }
    events.push_back({index, {user, times.BucketOf(*at), hash.Of(given[i].item)}, *at});
    shard_of.push_back(shard);
  }
  return {std::move(events), shard_of};
}

}  // namespace seendb
