// tests/simulation/model.h: what the engine must remember, in the plainest way there is.
//
// A fact is a play (user, item, bucket), an impression (user, item, time) or an exposure (user,
// item, surface, time). Of each it is known for sure that it was acknowledged, or it is only
// possible: its call failed, or a crash or a power cut came in between. A sure item must be seen, a
// possible one may be, any other is a false positive if it is. Calls are numbered; a power cut
// takes all those of a shard from some number on.
//
// Nothing of the engine is used but its plain values (Policy) and which shard a user lives in.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "seendb/policy.h"
#include "simulation/model_clock.h"
#include "simulation/model_days.h"
#include "simulation/model_history.h"
#include "simulation/model_marks.h"
#include "simulation/model_sources.h"

namespace seendb::simulation {

/// Something played or served. `at_ms` is worked out.
struct Sent {
  std::string user;
  std::string item;
  int64_t at_ms = 0;
  ScriptWatch watch = {};
  std::string day = {};
  /// Whether the answer says that it was taken; for where the model can't know.
  std::optional<bool> taken = {};
};

/// What a filter request of one user has to go by.
struct Expected {
  std::set<std::string> excluded;
  std::set<std::string> served_sure, served_maybe;    // maybe: the sure ones included
  std::set<std::string> exposed_sure, exposed_maybe;  ///< by Model::ExpectExposed
  std::map<std::string, std::set<int64_t>> played_sure, played_maybe;  // item -> buckets counted
  std::set<std::string> lifted;  // deleted, to be recommended again; nothing above counts for them
};

/// A play that a power cut or a failed call leaves open.
struct OpenPlay {
  std::string collection, user, item;
  int64_t bucket = 0;
};
/// One call's share in one shard that is not known to be kept.
struct OpenCall {
  uint64_t number = 0;
  bool acknowledged = false;
  std::vector<OpenPlay> plays;
  StoredOffsets steps;  ///< offsets stored with it
};

/// The kind of the groups by which events are counted, and that of an item, worked out of its name.
inline constexpr char kCountedKind[] = "counted";
std::string CountedGroupOf(const std::string& item);

/// How many events there are at least, and at most.
struct CountedRange {
  uint32_t least = 0, most = 0;
};

/// See the head of this file.
class Model {
 public:
  Model(uint32_t shards, std::function<uint32_t(const std::string&)> shard_of)
      : shard_of_(std::move(shard_of)),
        open_calls_(shards),
        history_(this),
        days_(this),
        marks_(shard_of_),
        sources_(shards) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  int64_t now_ms = 0;
  int64_t newest_now_ms = 0;     // the clock may have been set back since
  bool may_be_set_back = false;  ///< what is expired may count again
  /// Time goes on, or the clock is set.
  void SetTime(int64_t at_ms);
  /// The exact side.
  HistoryModel& history() { return history_; }
  const HistoryModel& history() const { return history_; }
  const DaysModel& days() const { return days_; }
  MarksModel& marks() { return marks_; }
  const MarksModel& marks() const { return marks_; }
  const ClockModel& clock() const { return clock_; }
  SourcesModel& sources() { return sources_; }
  const SourcesModel& sources() const { return sources_; }

  /// A collection is made or its policy changed.
  void SetPolicy(const std::string& collection, const Policy& policy);
  /// A collection that holds nothing got other fixed fields: it begins anew.
  void BeginAnew(const std::string& collection, const Policy& policy);
  /// Whether a filter request is certain to meet a play or an impression of anybody.
  bool HoldsAny(const std::string& collection) const;
  const Policy& PolicyOf(const std::string& collection) const { return policies_.at(collection); }
  const std::map<std::string, Policy>& policies() const { return policies_; }
  /// The smallest ceiling a collection ever had.
  uint64_t LowestCeiling(const std::string& collection) const { return ceilings_.at(collection); }

  /// What is served at this moment is taken whatever the clock shows.
  enum class At { kGiven, kThisMoment };
  /// Whether an event of that time would be taken now. What only may be is taken, unless its answer
  /// says otherwise.
  bool Takes(const std::string& collection, const Sent& sent, At at = At::kGiven) const;
  /// Whether served items leave anything behind: where they don't, nothing is written or synced.
  bool KeepsServed(const std::string& collection) const;
  /// Takes a call's events; those that Takes refuses leave no trace.
  void Play(const std::string& collection, const std::vector<Sent>& sent, bool acknowledged);
  void Serve(const std::string& collection, const std::vector<Sent>& sent, bool acknowledged,
             At at = At::kGiven);
  void Expose(const std::string& collection, const std::vector<Sent>& sent,
              const std::string& surface, bool acknowledged);
  /// Counts the events of the call before by the groups of their items.
  void Count(const std::string& collection, Fact fact, const std::vector<Sent>& sent,
             const std::string& surface, bool acknowledged);
  /// How many are counted that are not longer ago than that.
  CountedRange ExpectCounted(const std::string& collection, const std::string& user,
                             const std::string& group, Fact fact, int64_t within_ms) const;
  /// Whether an event of the user is certainly counted.
  bool CountsAny(const std::string& collection, const std::string& user) const;
  /// Takes a batch out of a log: events that are not repeated, and each shard's moves.
  void Ingest(const std::string& collection, bool served, const std::vector<Sent>& sent,
              const std::vector<std::vector<SourceMove>>& moves, bool acknowledged);
  /// A shard has forgotten a topic, and that is on the disk.
  void ForgetTopic(uint32_t shard, const std::string& topic);

  /// Forgets a user.
  void Erase(const std::string& user, int64_t at_ms);
  std::optional<int64_t> ErasedAt(const std::string& user) const;
  /// Maintenance may evict entries of history, and delete records of erasures that nothing reaches
  /// back to any more.
  void Maintain();
  /// The time below which no collection takes anything any more.
  int64_t OldestTakenMs() const;
  /// Whether it may have deleted the record of a user's erasure.
  bool MayBeWithoutErasure(const std::string& user) const;
  /// Forgets a user's plays and impressions in one collection.
  void Forget(const std::string& collection, const std::string& user, int64_t at_ms);
  std::optional<int64_t> ForgottenAt(const std::string& collection, const std::string& user) const;

  /// What of a user counts now in a collection.
  Expected Expect(const std::string& collection, const std::string& user) const;
  /// Adds what was on that surface (empty: any) since `begin_ms`.
  void ExpectExposed(const std::string& collection, const std::string& user, int64_t begin_ms,
                     const std::string& surface, Expected* expected) const;
  /// The call that made a play sure; 0: none.
  uint64_t SinceOf(const std::string& collection, const std::string& user, const std::string& item,
                   int64_t bucket) const;
  /// Whether an item was ever sent for a user, in whatever collection, erased since or not.
  bool WasSent(const std::string& user, const std::string& item) const;
  /// Distinct items of a user in a bucket, the possible ones included.
  uint64_t ItemsIn(const std::string& collection, const std::string& user, int64_t bucket) const;
  /// Times of the impressions within the window, newest first; nothing while some are only
  /// possible.
  std::optional<std::vector<int64_t>> ServedTimes(const std::string& collection,
                                                  const std::string& user) const;
  /// The oldest bucket a filter request reads.
  int64_t OldestRead(const std::string& collection) const;
  /// Users with anything in a collection.
  std::vector<std::string> UsersOf(const std::string& collection) const;

  /// Everything of a shard up to now is on the disk.
  void Synced(uint32_t shard);
  void AllSynced();
  /// A drain of everything succeeded. Each play was drained now or before, and synced with that.
  void Drained();
  /// Calls that a power cut may take or whose outcome is open, oldest first.
  const std::vector<OpenCall>& OpenCalls(uint32_t shard) const { return open_calls_[shard]; }
  /// The outcome is known: acknowledged calls after `kept` are only possible, failed calls in
  /// `found` did happen.
  void Settle(uint32_t shard, uint64_t kept, const std::set<uint64_t>& found);
  /// Whether a call before that number made it sure.
  bool IsSure(const OpenPlay& play, uint64_t before);
  /// It did not happen: removed, unless it is sure.
  void Gone(const OpenPlay& play);
  uint32_t shards() const { return static_cast<uint32_t>(open_calls_.size()); }
  uint32_t ShardOf(const std::string& user) const { return shard_of_(user); }

 private:
  Truth MayTake(const std::string& collection, const Sent& sent, At at) const;
  /// Whether it lies behind what an erasure, or a clear of filters, took.
  Truth IsAfterForgotten(const std::string& collection, const Sent& sent) const;
  struct Served {
    int64_t at_ms;
    uint64_t call;
    size_t position;
    std::string item;
    bool sure;
    bool kept;  // no newer ones can have pushed it out
    std::string surface = {};
    auto Order() const { return std::tie(at_ms, call, position); }
  };
  struct CountedEvent {
    std::string group;
    Fact fact;
    int64_t at_ms;
    std::string item, surface;
    friend auto operator<=>(const CountedEvent&, const CountedEvent&) = default;
  };
  struct Counted {
    uint64_t call = 0;
    bool sure = false;
  };
  struct Facts {
    std::map<std::string, std::map<int64_t, uint64_t>> plays;  // item, bucket -> sure since; 0: not
    std::vector<Served> served, exposed;                       // newest first
    std::map<CountedEvent, Counted> counted;
  };
  Facts* Find(const std::string& collection, const std::string& user);
  const Facts* Find(const std::string& collection, const std::string& user) const;
  uint64_t* SureSince(const OpenPlay& play);
  void AddPlay(const std::string& collection, const Sent& sent, bool acknowledged);
  void AddPossiblePlay(const std::string& collection, const Sent& sent);
  static void PushOut(const Policy& policy, Facts* facts);
  static void PushOut(size_t limit, std::vector<Served>* list);
  int64_t ExposuresKeptFrom(const Policy& policy, int64_t at_ms) const;
  void LiftDeleted(const std::string& collection, const std::string& user,
                   Expected* expected) const;
  OpenCall& CallOf(uint32_t shard, bool acknowledged);
  OpenCall& CallOf(const std::string& user, bool acknowledged) {
    return CallOf(shard_of_(user), acknowledged);
  }
  /// For each entry, newest first: how many other items are newer at worst (all that are possible
  /// happened) and at best (only the sure and kept ones that are not older than `surely_from_ms`).
  /// An item on two surfaces is two.
  template <typename Visit>
  static void Rank(const std::vector<Served>& served, int64_t surely_from_ms, const Visit& visit) {
    using Key = std::pair<std::string_view, std::string_view>;
    std::set<Key> any, sure;
    for (size_t i = 0; i < served.size(); ++i) {
      const Key item{served[i].item, served[i].surface};
      visit(i, any.size() - any.count(item), sure.size() - sure.count(item));
      any.insert(item);
      if (served[i].sure && served[i].kept && served[i].at_ms >= surely_from_ms) sure.insert(item);
    }
  }

  std::function<uint32_t(const std::string&)> shard_of_;
  std::map<std::string, Policy> policies_;
  std::map<std::string, uint64_t> ceilings_;
  std::map<std::string, std::map<std::string, Facts>> facts_;  // collection, user
  std::map<std::string, int64_t> erased_;
  int64_t erasures_kept_from_ms_ = INT64_MIN;
  std::map<std::pair<std::string, std::string>, int64_t> forgotten_;  // collection, user
  std::map<std::string, std::set<std::string>> sent_;                 // user: every item
  uint64_t call_ = 0;
  std::vector<std::vector<OpenCall>> open_calls_;
  HistoryModel history_;
  DaysModel days_;
  MarksModel marks_;
  SourcesModel sources_;
  ClockModel clock_;
};

}  // namespace seendb::simulation
