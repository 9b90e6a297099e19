// tests/simulation/model_history.h: what exact history must answer, in the plainest way there is.
//
// Of each user, collection and item every state is kept that was ever reported: plays by their
// time, deletions by the time they cover. The latest says when, and of each thing the latest word
// counts (model_history_words.cc). A state is sure, or only possible: its call failed, or a power
// cut may have taken it; then every answer that one of the possible worlds gives is right, until an
// opening tells which it was. A line, `covered`, runs below what was cleared or evicted; between
// its sure and its possible height an entry or a word may be there or not.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "seendb/history.h"
#include "seendb/policy.h"
#include "simulation/script.h"

namespace seendb::simulation {

class Model;

/// When an item was reported or deleted last. Of equal times a deletion is greater.
struct Moment {
  int64_t at_ms = 0;
  bool tombstone = false;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// One state an item had.
struct ItemState {
  int64_t at_ms = 0;
  bool tombstone = false;
  ScriptWatch watch = {};
  bool sure = true;
  uint64_t call = 0;  ///< a power cut that takes this call takes it too; 0: it is on the disk

  Moment moment() const { return {at_ms, tombstone}; }
  bool IsSameAs(const ItemState& other) const {
    return moment() == other.moment() && watch == other.watch;
  }
};

/// An entry that may be shown: its time, and of each thing the values that are possible.
struct Shown {
  int64_t at_ms = 0;
  std::set<int32_t> progress_s, duration_s;
  std::set<std::string> device, fields;

  /// Whether the answer is one of these; a degraded one may lack words, and what ended them.
  bool Has(const HistoryEntry& entry, bool degraded) const;
  std::string Text() const;
};

/// What a look-up of an item may answer.
struct Outlook {
  bool absent = false;
  std::vector<Shown> shown = {};
  bool sure() const { return shown.size() + (absent ? 1 : 0) == 1; }
};

/// An item that was deleted and may be recommended again.
struct Lift {
  int64_t at_ms = 0;
  bool ended = false;  ///< by a play since
  bool sure = true;    ///< that it is as `ended` says
  uint64_t call = 0;   ///< that ended it, as in ItemState
};

/// A deletion that reached ahead of the clock: plays since, before its end, come behind it.
struct DeletedAhead {
  int64_t asked_ms = 0;
  std::set<int64_t> ends;  ///< what may be its end
  bool sure = true;        ///< that it was written, and has one of these ends
};

/// See the head of this file. Policies and the present are the model's.
class HistoryModel {
 public:
  explicit HistoryModel(const Model* model) : model_(*model) {}

  /// What becomes of a play.
  enum class Verdict { kBoth, kFilterOnly, kNothing };
  Verdict Judge(const std::string& collection, const std::string& user, int64_t at_ms) const;
  /// The times that a play may be recorded with which enters history.
  std::set<int64_t> TimesOf(const std::string& collection, const std::string& user,
                            const std::string& item, int64_t at_ms) const;
  /// A play entered history.
  void Add(const std::string& collection, const std::string& user, const std::string& item,
           ItemState state);
  /// An accepted play, or a served item that counts as one.
  void EndLift(const std::string& collection, const std::string& user, const std::string& item,
               int64_t at_ms, bool acknowledged, uint64_t call);
  void Delete(const std::string& collection, const std::string& user,
              const std::vector<std::string>& items, bool acknowledged);
  void Clear(const std::string& collection, const std::string& user, bool acknowledged);
  void Pause(const std::string& user, bool paused);
  /// The filters have forgotten what was lifted from them.
  void EndLifts(const std::string& collection, const std::string& user);
  void Erase(const std::string& user);
  /// Entries beyond the cap may have left; `sure`: they have.
  void Evict(bool sure);
  /// Time went on, or the policy changed: what is too old now may be gone for good.
  void Age(const std::string& collection, const Policy& policy);
  /// A policy was changed; or maybe.
  void Change(const std::string& collection, const Policy& before, const Policy& after);
  void Distrust(const std::string& collection);
  /// What users' records said of a collection is forgotten.
  void BeginAnew(const std::string& collection);

  /// What a look-up may answer now.
  Outlook Expect(const std::string& collection, const std::string& user,
                 const std::string& item) const;
  /// An answer that was right tells where the line runs.
  void Learn(const std::string& collection, const std::string& user, const std::string& item,
             bool shown);
  Recording RecordingOf(const std::string& user) const;
  /// What it will be after a change.
  Recording RecordingAfter(const std::string& user, bool paused) const;
  /// Null where the item was never deleted so.
  const Lift* LiftOf(const std::string& collection, const std::string& user,
                     const std::string& item) const;
  /// Whether it is certain that all that filters were told of plays in the window and later is here
  /// too.
  bool IsWhole(const std::string& collection, const std::string& user) const;
  /// Whether there may be anything of an item in that bucket or later, a deletion included.
  bool MayKnow(const std::string& collection, const std::string& user, const std::string& item,
               int64_t bucket) const;
  /// Items with any state, users with any item.
  std::vector<std::string> ItemsOf(const std::string& collection, const std::string& user) const;
  std::vector<std::string> UsersOf(const std::string& collection) const;
  /// Users whose history was ever paused.
  std::vector<std::string> PausedUsers() const;

  /// Everything acknowledged of a shard is on the disk.
  void Synced(uint32_t shard);
  /// Looks an item up after an opening; nothing: that can't be told.
  using Observe = std::function<std::optional<std::optional<HistoryEntry>>(
      const std::string& collection, const std::string& user, const std::string& item)>;
  /// Settles what is open in a shard; of calls after `kept` a power cut may have taken the last
  /// ones. Throws a Violation where something acknowledged is gone that must not be.
  void Settle(uint32_t shard, bool power_was_cut, uint64_t kept, const Observe& observe);

 private:
  struct Of {
    std::map<std::string, std::vector<ItemState>> items;
    std::map<std::string, Lift> lifts;
    std::map<std::string, std::vector<DeletedAhead>> ahead;
    int64_t covered_sure_ms = INT64_MIN, covered_maybe_ms = INT64_MIN;
  };
  struct OpenItem {
    std::string collection, user, item;
    auto operator<=>(const OpenItem&) const = default;
  };
  const Of* Find(const std::string& collection, const std::string& user) const;
  std::vector<Moment> Winners(const std::string& collection, const Of& of, const std::string& item,
                              bool* none) const;
  bool Hidden(const std::string& collection, const Of& of, const Moment& moment) const;
  bool MayBeHidden(const std::string& collection, const Of& of, const Moment& moment) const;
  Shown ShownAt(const std::string& collection, const Of& of, const std::vector<ItemState>& states,
                int64_t at_ms) const;
  void Open(const std::string& collection, const std::string& user, const std::string& item);
  void Insert(Of* of, const std::string& item, const ItemState& state);
  void DeleteOne(const std::string& collection, Of* of, const std::string& item, bool acknowledged);
  void SettleItem(const OpenItem& open, const std::optional<HistoryEntry>& seen, Of* of,
                  uint64_t* last_present, uint64_t* first_absent);
  void EvictOf(const std::string& collection, Of* of, bool sure);

  const Model& model_;
  std::map<std::string, std::map<std::string, Of>> of_;                   // collection, user
  std::map<std::string, std::vector<std::pair<int64_t, bool>>> toggles_;  // user
  std::map<std::string, int64_t> lost_below_;  // collection: buckets that were too old once
  std::map<std::string, int64_t>
      incomplete_to_;  // collection: plays up to then may have been missed
  std::map<uint32_t, std::set<OpenItem>> open_;  // shard
  int64_t forgotten_below_ms_ = INT64_MIN;       // deletions ahead that ended before may be
};

}  // namespace seendb::simulation
