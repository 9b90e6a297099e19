// seendb/counts.h: how often a user was served, saw and played what belongs to a group.
//
//   const std::string_view of[] = {"author:3"};
//   const Impression served{.user = "u1", .item = "v1", .of = of};
//   engine->RecordImpressions({&served, 1});
//   CountsPage page;
//   engine->ReadCounts({.user = "u1", .kind = "author"}, &page);  // author:3: served once
//
// An event counts once for each of its groups, however often it is recorded: events that agree in
// fact, item, time and surface are one, so whoever repeats a call gives it times. Kept are of each
// group and fact the newest 255 events, of a user and collection the newest 16,384 (an event counts
// once a group), for 30 days or as Policy::counts says of the kind. So a number below 255 is exact.
// If the policy names the kind "item", events count by their item too, with groups or without. An
// erasure takes counts, and so does a clear of the collection's filters; a deletion from history
// does not: it was served.
//
// A cap (Question::caps of a filter request) drops candidates of which the user had enough. Where
// several pages are made at once, Reserve promises items first, and each promise counts.
//
// Borrowed views: they must outlive the call they are passed to. Threads: plain values.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/events.h"
#include "seendb/facts.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb {

/// Most events kept of one group and fact, and of one user (once a group).
inline constexpr size_t kMaxCountsOfKey = 255, kMaxCountsOfUser = 16'384;
/// Most groups of an answer.
inline constexpr uint32_t kMaxCountedGroups = 1'000;

/// Spans that are counted, each up to the present: an hour, a day, seven days, 30 days.
inline constexpr std::array<int64_t, 4> kCountedSpansMs = {3'600'000, 86'400'000,
                                                           int64_t{7} * 86'400'000, kCountedForMs};

/// The events of one fact.
struct FactCounts {
  std::array<uint32_t, kCountedSpansMs.size()> events{};  ///< within each of kCountedSpansMs
  std::array<bool, kCountedSpansMs.size()> at_least{};    ///< there may have been more
};

/// One group of a user.
struct GroupCounts {
  std::string group;                           ///< "item", if it is an item's own count
  std::string item;                            ///< which; empty: a group's count
  std::array<FactCounts, kFactCount> by_fact;  ///< by Fact
};

/// A question about one user.
struct CountsRequest {
  IdRef user = {};                          ///< whose
  std::string_view collection = "default";  ///< kNotFound if unknown
  /// Groups that are it, or begin with it and ':'; at most kMaxGroupBytes bytes. Empty: all groups.
  std::string_view kind = {};
  uint32_t limit = kMaxCountedGroups;  ///< 1-kMaxCountedGroups
  bool by_name = false;         ///< in the order of their names, in place of the newest first
  std::string_view after = {};  ///< with `by_name`: groups behind this one
  /// With `by_name`, in place of `after`: items behind this one. Items are behind all groups.
  std::string_view after_item = {};
};

/// The answer.
struct CountsPage {
  std::vector<GroupCounts> groups;  ///< those with the newest events first, or by name
  bool more = false;                ///< the user has more than `limit` of them
  bool degraded = false;            ///< something could not be read; events may be missing
};

/// Asks for the right to serve items: each is promised where every cap leaves room for it, and then
/// counts as served until the promise ends, or an impression of the item takes its place.
struct ReserveRequest {
  std::string_view collection = "default";       ///< kNotFound if unknown
  IdRef user = {};                               ///< to whom
  std::span<const IdRef> items = {};             ///< in order of preference
  std::span<const CandidateGroups> groups = {};  ///< one an item; their times are not looked at
  std::span<const Cap> caps = {};                ///< what must leave room, as must Policy::caps
  /// How long it counts: at least 1, at most as long as every kind of its groups.
  int64_t expires_ms = 60'000;
  bool decided = false;  ///< another engine did: no cap is asked, and kinds are not looked at
  /// When, ms since 1970 UTC; absent: now. A repeat with the same time promises the same again.
  std::optional<int64_t> at_ms = {};
  /// See FilterRequest with `record`.
  const FilterTurn* turn = nullptr;
  const FilterOnTurn* on_turn = nullptr;
};

/// Positions in ReserveRequest::items, ascending; an item that came before is in neither.
struct Reserved {
  std::vector<uint32_t> reserved, refused;
  bool counts_items = false;  ///< promises of items without groups count too
};

/// The part of an engine that answers how often. Threads: any, at once.
class UserCounts {
 public:
  /// Counts of a user's groups of one kind into `*page` (cleared first). kInvalidArgument: field
  /// "/user", "/kind", "/limit". kUnavailable: the shard can't be read. Cost: one point read, and
  /// 10 ns an event that is kept.
  virtual Status ReadCounts(const CountsRequest& request, CountsPage* page) = 0;
  /// Reserves what the caps leave room for, into `*reserved` (cleared first): checked and counted
  /// in the user's turn, so that requests at once never promise more than a cap allows. As durable
  /// as the collection's plays. kInvalidArgument: field "/items/3", "/items/3/of/0", "/caps/0/n",
  /// "/expires", "/at" (also: not after the user's erasure), nothing changed. kIncomplete, kBusy:
  /// as FilterRequest::on_turn. kCorruption: the user's counts can't be read. Cost: one point read,
  /// one log write.
  virtual Status Reserve(const ReserveRequest& request, Reserved* reserved) = 0;

 protected:
  ~UserCounts() = default;
};

}  // namespace seendb
