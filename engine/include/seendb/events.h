// seendb/events.h: what goes in (plays, impressions) and the one question asked (a filter).
//
// Borrowed views throughout: ids and spans must outlive the call they are passed to, and no
// longer. Threads: plain values.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/facts.h"
#include "seendb/history.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb {

class CandidateJudge;  // seendb/judge.h

/// A user really watched or read an item.
struct Play {
  IdRef user = {};                    ///< who
  IdRef item = {};                    ///< what
  std::optional<int64_t> at_ms = {};  ///< when, ms since 1970 UTC; absent: now
  const Watch* watch = nullptr;       ///< where the player is; null: not known
  /// The RecordResult::day the client was last told, "2026-11-20"; empty: none. Looked at where the
  /// policy says first_of_day.
  std::string_view day = {};
  EventGroups of = {};  ///< what it is counted by
  /// Groups that are seen with the item: a repost names the group of its original.
  EventGroups same_as = {};
};

/// An item was served to a user, maybe not looked at.
struct Impression {
  IdRef user = {};                    ///< to whom
  IdRef item = {};                    ///< what
  std::optional<int64_t> at_ms = {};  ///< when, ms since 1970 UTC; absent: now
  std::string_view surface = {};      ///< where, see Exposure
  EventGroups of = {};                ///< what it is counted by
  EventGroups same_as = {};           ///< as a play's, where Policy::served_is_seen
};

/// How a batch is recorded.
struct RecordOptions {
  std::string_view collection = "default";  ///< whose policy applies; kNotFound if unknown
  /// Looks in memory alone whether a user was erased, has paused history and the like: where that
  /// does not tell, of more than 65,536 events, and where a shard is being opened anew, nothing is
  /// recorded, and the call answers kIncomplete. For threads that must not wait: another one
  /// records without it. What is recorded is written as ever: where durability is `sync`, that
  /// waits.
  bool memory_only = false;
};

/// Why an event was not taken: what counts of refusals go by.
enum class RefusalReason : uint8_t {
  kTooOld,    ///< older than retention
  kInFuture,  ///< beyond max_future
  kSeconds,   ///< too old, and plausible if `at` were in seconds
  kErased,    ///< not after the user's erasure
  kCleared,   ///< not after the clearing of the user's filter
};
inline constexpr size_t kRefusalReasons = 5;  ///< how many there are
/// The reason's stable lower-case name ("too_old"), as used in metrics and logs.
std::string_view RefusalReasonName(RefusalReason reason) noexcept;

/// One well-formed event that was not taken, and why.
struct Refusal {
  uint32_t index;  ///< position in the batch
  Status status;   ///< kInvalidArgument, naming the reason (too old, in the future, erased)
  RefusalReason reason = RefusalReason::kTooOld;  ///< the same, to count by
};

/// Most refusals described one by one in a RecordResult.
inline constexpr size_t kMaxRefusals = 100;

/// What became of a batch: accepted + refused == its size.
///
/// Where the policy says first_of_day, each user's first accepted play of a day in the collection
/// is named: by arrival, the engine's clock, not by the play's own time. A play that carries
/// today's `day` costs no look-up and is not the first. One that a pause keeps out of everything
/// (WhenPaused::kFilterIgnores) does not count. Of calls at once for one user exactly one names it.
struct RecordResult {
  uint64_t accepted = 0;          ///< recorded, or known already
  uint64_t refused = 0;           ///< not recorded
  std::vector<Refusal> refusals;  ///< up to kMaxRefusals of them, ascending
  std::string day;                ///< today in the policy's time zone; empty: the policy is silent
  std::vector<uint32_t> first_today;  ///< positions in the batch, ascending; one a user at most
  /// Of the accepted: older than the policy's window, so that no filter counts them.
  uint64_t outside_window = 0;
  /// Of impressions: distinct items a user that the batch alone has beyond Policy::impressions.
  /// They are forgotten at once. 0 where the policy says served_is_seen: they are seen as plays
  /// are.
  uint64_t beyond_cap = 0;
  std::array<uint64_t, kRefusalReasons> refused_by{};  ///< `refused` by RefusalReason
};

/// How a user is erased.
struct EraseOptions {
  /// Writes the erasure also where nothing is held of the user: plays of before may be on their
  /// way.
  bool always = false;
  CallTime at_ms = {};  ///< when it is asked for
};

/// What an erasure did.
struct Erasure {
  bool known = false;    ///< something is held of the user, or may be: not all could be read
  bool written = false;  ///< events of the user up to until_ms are refused from now on
  int64_t until_ms = 0;  ///< where it was written
};

/// Which facts make an item seen; a bit set.
enum Facts : uint8_t {
  kFactPlays = 1,        ///< items watched within the window
  kFactImpressions = 2,  ///< the last served items within the window
  kFactsAll = 3,         ///< both
};

/// What a filter request does when a bucket can't be read or the deadline passes.
enum class OnError : uint8_t {
  kDegrade,  ///< answer from what is readable, with `degraded` and `missing` set
  kFail,     ///< kUnavailable
};

/// A user's turn: of the filter requests with `record` of one user only the one that has it reads
/// and records. It ends with its last copy.
using FilterTurn = std::shared_ptr<void>;
/// Takes a turn that came. Called on the thread that ended the turn before: it must be quick, and
/// call nothing of the engine.
using FilterOnTurn = std::function<void(FilterTurn)>;

/// Most collections of FilterRequest::collections.
inline constexpr size_t kMaxUnitedCollections = 8;

/// Which of `items` has `user` not seen? At most Options::max_candidates items and as many
/// excluded ids.
struct FilterRequest {
  std::string_view collection = "default";  ///< kNotFound if unknown
  /// The collections whose facts count, each by its own policy; empty: `collection`. Each once, at
  /// most kMaxUnitedCollections; kNotFound with "/collections/<index>" of an unknown one.
  /// All else is of `collection` alone, whether or not it is one of them: `record`, caps and
  /// counts, `refuted`, what may come back (nothing that another one has seen). It costs what a
  /// request of each costs, and each decides all items, whatever `limit` is.
  std::span<const std::string_view> collections = {};
  IdRef user = {};                    ///< who is asking
  std::span<const IdRef> items = {};  ///< candidates, in order of preference; a repeat counts once
  std::span<const IdRef> exclude = {};  ///< never returned, whatever was seen
  uint8_t facts = kFactsAll;            ///< bit set of Facts, not empty
  const Question* question = nullptr;   ///< asks in place of `facts` where it has entries
  uint32_t limit = 0;                   ///< stop after that many unseen, distinct; 0: no limit
  bool explain = false;                 ///< fill FilterResponse::reasons
  bool verify = false;                  ///< see Engine::Filter
  /// The returned items, `repeats` too, become impressions, now: check and record are one step
  /// against other such requests of the user, so that none of them is answered the same items.
  bool record = false;
  /// With `record`: they are recorded with their groups: counted by those of `of`
  /// (seendb/counts.h), and where Policy::served_is_seen those of `same_as` are seen with them.
  bool count_groups = true;
  OnError on_error = OnError::kDegrade;  ///< unreadable bucket or deadline
  int64_t deadline_us = 0;               ///< from the call on; 0: none
  /// Asks memory alone: where the answer would wait for a disk or for a shard that is being opened
  /// anew, Filter records nothing, answers kIncomplete and sets FilterResponse::needs_disk; always
  /// where history may be read: with `verify`, and as Question says. For threads that must not
  /// wait: another one asks again without it. What is answered is recorded as ever: where
  /// durability is `sync`, that waits.
  bool memory_only = false;
  /// Reads neither the user's buckets nor the impressions: what was played lately and is in memory
  /// counts alone. The answer is degraded, `missing` says "load". For servers that have too much to
  /// do.
  bool short_term_alone = false;
  /// With `record`: the turn that `on_turn` was given, borrowed; null: Filter takes the turn.
  const FilterTurn* turn = nullptr;
  /// With `record`, where another such request of the user is under way: Filter does nothing,
  /// answers kIncomplete, and this is called once with the turn (after the deadline maybe
  /// never); copied. Null: Filter waits for the turn on the caller's thread.
  const FilterOnTurn* on_turn = nullptr;
  /// Tells the caller's mind about candidates, asked while the request is answered; borrowed. Null:
  /// nothing.
  CandidateJudge* judge = nullptr;
};

/// Why an item of a filter request was not returned.
enum class ReasonKind : uint8_t {
  kUnseen,      ///< it was returned
  kExcluded,    ///< listed in `exclude`
  kImpression,  ///< served within the window
  kRing,        ///< played, not yet drained
  kPlay,        ///< played in the bucket `bucket_index`
  kRefuted,     ///< it was returned: the filter of `bucket_index` says played, history that not
  kRefutedImpression,  ///< it was returned: another item with its fingerprint was served
  kOldStore,           ///< the store that a server moves in from has it; the engine never says so
  kExposed,            ///< on screen within the window; comes behind kImpression
  kMarked,             ///< of a group that the user marked; comes behind kInSet
  kInSet,              ///< in a set that the question excludes; comes behind kExcluded
  kJudged,             ///< the request's judge dropped it; comes behind kExcluded
  kTooMany,            ///< unseen, but the judge wants no more of its kind
  kCapped,             ///< of a group of which there are enough; comes last
  kSame,  ///< a group that is the same is seen, or on the page before it; comes behind kPlay
};

/// One item's reason: the first that holds in the order of ReasonKind, newest bucket first; a
/// bucket that a span only touches comes last.
struct Reason {
  ReasonKind kind = ReasonKind::kUnseen;  ///< which fact
  int64_t bucket_index = 0;               ///< for kPlay and kRefuted; see BucketLabel
  /// For kMarked, kCapped, kInSet and kSame: the request's own text.
  std::string_view group = {};
  uint16_t rule = 0;  ///< for kJudged: Judgement::dropped_by
  /// The collection whose policy labels the bucket: 1 + its position in FilterRequest::collections;
  /// 0: FilterRequest::collection.
  uint16_t collection = 0;
};

/// The answer. Reuse one object across calls to save its allocations.
/// seen + excluded + duplicates + unseen.size() == examined, the length of the prefix of `items`
/// decided.
struct FilterResponse {
  std::vector<uint32_t> unseen;  ///< positions in `items`, ascending
  /// With Question::when_short: positions of seen ones that come back, the one longest ago first;
  /// of one time in the order of `items`. They count as seen.
  std::vector<uint32_t> repeats;
  uint32_t seen = 0;        ///< of the examined
  uint32_t excluded = 0;    ///< of the examined: listed, dropped by the judge or by a cap
  uint32_t duplicates = 0;  ///< of the examined: came before in `items`, where it was counted
  uint32_t examined = 0;    ///< items.size() unless `limit` stopped earlier
  /// Examined items without a time that a mark up to a time might have made seen.
  uint32_t undated = 0;
  uint32_t refuted = 0;        ///< of the unseen: what `verify` found falsely called seen
  int64_t recorded_at_ms = 0;  ///< where `recorded`: the time of the impressions
  bool recorded = false;       ///< with `record`: false where the turn came too late
  uint64_t beyond_cap = 0;     ///< with `record`: RecordResult::beyond_cap
  bool needs_disk = false;     ///< with kIncomplete: memory alone could not tell
  bool degraded = false;       ///< something could not be read; unseen may hold seen items
  /// With a question, sets of facts (FactBit). Of `coarse` a bucket that a span only touches, and
  /// nothing exact, made an item seen; of `beyond` less is kept than a span asks for.
  uint8_t coarse = 0, beyond = 0;
  /// Unread buckets' labels, "impressions", "exposed", "own" (marks), "counts", "set:NAME",
  /// "deadline", "load", "log", "clock", "shard", "user".
  std::vector<std::string> missing;
  /// One an examined item, if asked for; a duplicate's is that of its first.
  std::vector<Reason> reasons;
};

}  // namespace seendb
