// seendb/facts.h: the facts between a user and an item, and questions that say which of them count,
// and since when.
//
// An event is (fact, user, item, time, surface): a repeat of all five counts once, in any order. An
// event without a time has the engine's present, so that its repeat counts anew.
//
//   const NotEntry no[] = {{.fact = Fact::kExposed, .surface = "home", .within_ms = 604'800'000}};
//   const Question question{.no = no};
//   const FilterRequest request{.user = user, .items = items, .question = &question};
//
// Borrowed views throughout: they must outlive the call they are passed to. Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "seendb/cxx20.h"
#include "seendb/id.h"
#include "seendb/item_set.h"

namespace seendb {

/// A kind of event between a user and an item. The numbers never change.
enum class Fact : uint8_t {
  kPlayed = 0,   ///< watched or read
  kServed = 1,   ///< delivered: an impression
  kExposed = 2,  ///< really on screen
};
inline constexpr size_t kFactCount = 3;  ///< how many there are
/// The fact's stable name ("exposed"), as used in requests and answers.
std::string_view FactName(Fact fact) noexcept;
/// The bit of a fact in a set of facts.
constexpr uint8_t FactBit(Fact fact) {
  return static_cast<uint8_t>(1U << static_cast<unsigned>(fact));
}

/// Longest name of a surface, in bytes of UTF-8.
inline constexpr size_t kMaxSurfaceBytes = 32;
/// The same of a group of items, such as "channel:9".
inline constexpr size_t kMaxGroupBytes = 64;

/// How long an event is counted at most.
inline constexpr int64_t kCountedForMs = int64_t{30} * 86'400'000;
/// Groups of the item of an event, each of 1-kMaxGroupBytes bytes, at most kMaxCandidateGroups of
/// both kinds together. By those of `of`, such as "author:3", the event is counted
/// (seendb/counts.h). Those of `same_as`, such as "src:9", are seen as soon as the item is: all
/// that has one of them is one for the user. Each is one item more in the filter that takes the
/// item, and of exposures one entry more of the list.
using EventGroups = std::span<const std::string_view>;

/// An item was really on a user's screen.
struct Exposure {
  IdRef user = {};                    ///< whose
  IdRef item = {};                    ///< what
  std::optional<int64_t> at_ms = {};  ///< when, ms since 1970 UTC; absent: now
  std::string_view surface = {};      ///< where; empty: nowhere in particular
  EventGroups of = {};                ///< what it is counted by
  EventGroups same_as = {};           ///< what is seen with the item
};

/// One entry of "these don't count as unseen": an event counts if it meets all members.
struct NotEntry {
  Fact fact = Fact::kPlayed;      ///< what happened
  std::string_view surface = {};  ///< there; empty: anywhere. Not of kPlayed
  /// In the newest buckets of that number, 1 to Policy::retention. Absent: as many as the policy's
  /// window, unless `within_ms` says how long ago.
  std::optional<uint32_t> window = {};
  /// Not longer ago than that, at least 1: where `at` >= now - within. Absent: no limit by time. It
  /// is exact for kPlayed where history is whole; else a bucket that the span only touches counts
  /// whole (FilterResponse::coarse). `memory_only` never answers it beside history.
  std::optional<int64_t> within_ms = {};
  /// Among so many newest entries of the fact, on all surfaces, 1 to what the policy keeps. Not of
  /// kPlayed.
  std::optional<uint32_t> last = {};
};
/// Most entries of a question.
inline constexpr size_t kMaxNotEntries = 8;

/// The groups that a candidate belongs to, each of 1-kMaxGroupBytes bytes.
struct CandidateGroups {
  std::span<const std::string_view> of = {};  ///< marks (seendb/marks.h) and caps go by these
  /// When it was published, ms since 1970 UTC. Absent: it meets only marks that always hold.
  std::optional<int64_t> at_ms = {};
  /// It is seen if it, or one of these, is; of several candidates that have one in common the first
  /// that would be unseen is, the others are seen. `verify` never refutes these.
  std::span<const std::string_view> same_as = {};
};
/// Most groups of a candidate, of both kinds together.
inline constexpr size_t kMaxCandidateGroups = 16;

/// Candidates come back where too few are unseen: those that facts alone made seen, the one
/// longest ago first, in FilterResponse::repeats. Never what a mark, a cap, a judge or `exclude`
/// took.
///
/// A candidate was last seen at the latest time over all facts that the request asks: to the
/// millisecond by impressions, exposures, and plays in history where it is complete. Other plays
/// have the end of their bucket as their time: none that comes back is younger than the gap. A
/// false positive of a filter has the end of its bucket too. A degraded answer has no repeats, for
/// what could not be read may be younger; nor has one that reached its limit.
///
/// Cost: nothing where enough are unseen. Else a second probe of the seen ones and, where history
/// is kept, one batched read per bucket of it; `memory_only` is never answered there.
struct WhenShort {
  uint32_t need = 1;   ///< fewer unseen ones are too few; 1 to Options::max_candidates
  int64_t gap_ms = 1;  ///< last seen at least so long ago, at least 1: at <= now - gap
  uint32_t max = 1;    ///< at most so many come back, 1 to kMaxRepeats
};
/// Most candidates that come back.
inline constexpr uint32_t kMaxRepeats = 1'000;

/// "At most n of one group": a candidate is dropped if one of its groups of the kind has as many
/// events already (seendb/counts.h), or as many candidates before it on the page.
struct Cap {
  /// A kind of groups: "author" is of `author` and all `author:*`. "item" is of the item itself
  /// too, which Policy::counts must name.
  std::string_view of = {};
  Fact fact = Fact::kServed;  ///< which events
  uint32_t n = 1;             ///< 1-kMaxCap
  /// Not longer ago than that: kMinCapMs to what Policy::counts says of the kind.
  int64_t within_ms = 0;
};
/// Most caps of a question, and of a policy.
inline constexpr size_t kMaxCaps = 8;
inline constexpr uint32_t kMaxCap = 255;      ///< the greatest number of one
inline constexpr int64_t kMinCapMs = 60'000;  ///< its shortest span

/// The part of a filter request that few have.
struct Question {
  /// United; empty: FilterRequest::facts and the policy say what counts.
  std::span<const NotEntry> no = {};
  /// One an item of the request, in its order, or none: marks are asked for none then.
  std::span<const CandidateGroups> groups = {};
  /// Absent: seen candidates stay away, however few are unseen.
  std::optional<WhenShort> when_short = {};
  /// Every one must leave a candidate, as every one of Policy::caps; it counts by the groups of
  /// `groups`.
  std::span<const Cap> caps = {};
  /// Their members are excluded, at most kMaxExcludedSets (seendb/item_set.h).
  std::span<const ExcludedSet> exclude_sets = {};
};

}  // namespace seendb
