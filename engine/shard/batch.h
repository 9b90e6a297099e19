// shard/batch.h: one shard's part of a call: the verdict on each of its events, and what is
// written of those accepted: plays for the filters, entries of history, impressions, exposures,
// counted events, overrides that a play ends.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/counts_codec.h"
#include "format/impressions_codec.h"
#include "shard/events.h"
#include "shard/first_plays.h"
#include "shard/parts.h"
#include "shard/served_count.h"
#include "shard/verdict.h"
#include "store/sources.h"

namespace seendb {

/// Events as the caller gave them.
struct GivenEvents {
  Fact fact = Fact::kPlayed;
  std::span<const Play> plays = {};  ///< of a log whatever the fact; else one of the next has them
  std::span<const Impression> served_items = {};
  std::span<const Exposure> exposed_items = {};
  std::span<const std::string_view> surfaces = {};  ///< of each of `plays`; empty: none has one
  const Today* today = nullptr;                     ///< where first plays of the day are to be told
  const TimeCheck* times = nullptr;                 ///< never null
  ServedCount* served = nullptr;  ///< takes accepted impressions, where they may be too many
  GroupsGiven groups = {};        ///< that some have
  bool memory_only = false;       ///< see RecordOptions

  const Play& PlayOf(const ShardEvent& event) const { return plays[event.index]; }
  const IdRef& ItemOf(const ShardEvent& event) const {
    if (!plays.empty()) return plays[event.index].item;
    return served_items.empty() ? exposed_items[event.index].item : served_items[event.index].item;
  }
  std::string_view SurfaceOf(const ShardEvent& event) const {
    if (!plays.empty()) return surfaces.empty() ? std::string_view() : surfaces[event.index];
    return served_items.empty() ? exposed_items[event.index].surface
                                : served_items[event.index].surface;
  }
  EventGroups GroupsOf(const ShardEvent& event) const {
    if (!plays.empty()) return plays[event.index].of;
    return served_items.empty() ? exposed_items[event.index].of : served_items[event.index].of;
  }
  EventGroups SameAs(const ShardEvent& event) const {
    if (!plays.empty()) return plays[event.index].same_as;
    return served_items.empty() ? exposed_items[event.index].same_as
                                : served_items[event.index].same_as;
  }
  /// Whether they go into families that a collection may not have yet.
  bool NeedsFamilies() const { return groups.of || fact == Fact::kExposed; }
  bool HasFamilies(const CollectionFamilies& of) const {
    return (!groups.of || of.counts != nullptr) &&
           (fact != Fact::kExposed || of.exposures != nullptr);
  }
  /// Whether the ring takes some of them.
  bool MayStage(const Policy& policy) const {
    return fact == Fact::kPlayed || (fact == Fact::kServed && policy.served_is_seen);
  }
};

/// Adds the users among `events` whose first play of the day may be there. Reads no disk: a play of
/// a user whose record is not in memory may be one.
void AddFirstPlays(const UserLookup& users, std::span<const ShardEvent> events,
                   std::string_view collection, const Policy& policy, const GivenEvents& given,
                   FirstPlays* firsts);

/// Plays that enter history and the filters, with the bytes they point into.
class WatchedPlays {
 public:
  void Clear();
  void Add(const ShardEvent& event, const Play& play, bool ids_only);
  /// The plays added, good until the next change; as history and as the filters take them.
  std::span<const WatchedPlay> Finish();
  std::span<const StagedPlay> staged() const { return staged_; }

 private:
  struct Place {
    size_t item = 0, words = 0, end = 0;  // in bytes_
  };
  std::string bytes_;
  std::vector<Place> places_;
  std::vector<WatchedPlay> plays_;
  std::vector<StagedPlay> staged_;
};

/// See the head of this file.
class ShardBatch {
 public:
  /// `known`: the records of all users of the events. `firsts` may be null.
  ShardBatch(ShardParts* shard, const LoadedRecords* known, const CollectionFamilies* family,
             const Policy& policy, const GivenEvents& given, FirstPlays* firsts);

  /// Decides about every event, counting in `*change` (may be null) and `*result`.
  Status Take(std::span<const ShardEvent> events, SourceChange* change, RecordResult* result);
  /// Adds what is written besides the journal.
  Status AddTo(rocksdb::WriteBatch* batch);
  /// It has been written.
  void Commit();

  /// What the ring takes, good until the next change.
  RingPlays ForRing();
  size_t watched() const { return watched_.staged().size(); }
  uint64_t accepted() const { return accepted_; }
  uint64_t outside_window() const { return outside_window_; }
  uint64_t paused() const { return paused_; }

 private:
  ShardEvent BehindDeletion(const ShardEvent& event) const;
  void Accept(const ShardEvent& event, Verdict verdict);
  void AcceptGroups(const ShardEvent& event, Verdict verdict);
  void EndOverride(const ShardEvent& event, Fingerprint item);
  void CountGroups(const ShardEvent& event);
  void FlushList();
  void FlushCounts();
  std::string_view IdToKeep(const ShardEvent& event);

  ShardParts* const shard_;
  const LoadedRecords* const known_;
  const CollectionFamilies* const family_;
  const Policy& policy_;
  const GivenEvents& given_;
  FirstPlays* const firsts_;
  // The family that keeps impressions, or exposures, and how many of a user; null: it keeps none.
  const Family* list_family_ = nullptr;
  uint32_t list_limit_ = 0;
  const bool staged_;   // the filters learn
  const bool history_;  // history may
  std::vector<StagedPlay>& plays_;
  WatchedPlays& watched_;

  std::string_view user_;
  const UserRecord* settings_ = nullptr;  // of that user, or null
  uint64_t stamp_ = 0;
  ImpressionList list_;                  // of that user
  std::deque<std::string> decimal_ids_;  // that the list points to
  std::vector<std::pair<std::string_view, std::string>> lists_;
  CountList counts_;  // of that user
  const bool counts_items_;
  std::deque<std::string> item_keys_;  // that the counts point to
  std::vector<std::pair<std::string_view, std::string>> counted_;
  std::map<std::string, UserRecord, std::less<>> ended_;  // overrides, by user
  uint64_t accepted_ = 0, outside_window_ = 0, paused_ = 0;
};

}  // namespace seendb
