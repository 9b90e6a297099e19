// shard/history_reader.h: one user's history in one collection: look-ups and the walk from the
// newest entry down.
//
// The order is that of every read: the ring first, then the family set, then RocksDB; what a drain
// is just moving is found in one or the other. Buckets partition time, deletions included: the
// newest bucket that has an item has its newest report or deletion, and no bucket has a word that
// was said after its end. What is not said there is looked for in older buckets.

#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/parts.h"

namespace seendb {

/// What an answer may lack.
struct ReadGaps {
  bool degraded = false;
  std::vector<std::string> missing;
  void Add(std::string what);
};

/// What is sought of items: whether and when each was reported or deleted last, or all that is said
/// of it too.
enum class Sought { kNewest, kWhole };

/// What is known of one item.
struct FoundState {
  int64_t at_ms = kNoTimeMs, deleted_ms = kNoTimeMs;  ///< as in HistoryState
  std::string words;                                  ///< bytes of PutWords
  /// A state up to this time may be there and can't be read; kNoTimeMs: all was read.
  int64_t unread_to_ms = kNoTimeMs;

  HistoryState state() const;
  int64_t time_ms() const { return std::max(at_ms, deleted_ms); }
  void Set(const HistoryState& state);
  /// Joins what is sought of it.
  void Join(const HistoryState& other, Sought sought);
};

/// See the head of this file. Everything passed to it must outlive it.
class HistoryReader {
 public:
  /// `known`: the user's record, for callers that hold the apply lock; null: it is looked up.
  HistoryReader(const ShardParts& shard, const Collection& collection, std::string_view user,
                int64_t now_ms, ReadGaps* gaps, const LoadedRecords* known = nullptr);

  const Collection& collection() const { return collection_; }
  std::string_view user() const { return user_; }
  ShardStore& store() const { return *shard_.store; }
  const StagedHistory& staged() const { return staged_; }
  /// From now on what is staged can't change, for a page that is read while others write: see
  /// Changed. False where too much is held by such readers.
  bool Freeze() { return staged_.Freeze(shard_.ring.frozen()); }
  /// Whether what is staged has changed since the reader was made: an entry that got a newer state
  /// meanwhile may have been passed over by a walk.
  bool Changed() const { return staged_.Changes() != changes_ || DrainBegun(); }
  /// Whether a drain has begun since: it may have written what came after a copy was made, into a
  /// slot that was closed but still written to, or into a newer one.
  bool DrainBegun() const { return shard_.ring.DrainsBegun() != drains_begun_; }
  /// Null where the shard can't be read.
  const CollectionFamilies* family() const { return family_; }

  /// The states of many items, deleted and expired ones too. Cost: one batched read a bucket, of
  /// items for which an older bucket may still tell something: sought whole, that is each item of
  /// which one thing was never said.
  std::vector<FoundState> Find(std::span<const std::string_view> items, Sought sought);
  /// Whether an entry of this state is there for the user.
  bool Shows(const FoundState& found) const { return Reaches(found.at_ms); }
  /// Whether rows of that time may be shown at all.
  bool Reaches(int64_t at_ms) const { return at_ms > up_to_ms_ && at_ms >= oldest_ms_; }
  /// The latest time of any row; where some can't be read, the latest that may be: no later than
  /// `reach_ms`.
  int64_t NewestMs(int64_t reach_ms);
  void MarkMissing(std::string_view bucket);

 private:
  void FindWatermark(const LoadedRecords* known);
  void CheckLosses();
  void ReadBuckets(std::span<const std::string_view> items, Sought sought,
                   std::vector<FoundState>* found);
  void ReadBucket(const HistoryBucket& bucket, std::span<const std::string_view> items,
                  Sought sought, std::vector<size_t>* pending, std::vector<FoundState>* found);
  void HideWords(std::vector<FoundState>* found) const;

  const ShardParts& shard_;
  const Collection& collection_;
  const std::string_view user_;
  ReadGaps* const gaps_;
  const int64_t oldest_bucket_;
  const int64_t oldest_ms_;
  int64_t up_to_ms_ = kNoTimeMs;               // it was cleared, evicted or erased
  std::shared_ptr<const FamilySet> families_;  // taken after staged_
  const uint64_t drains_begun_;                // taken before staged_
  StagedHistory staged_;
  const uint64_t changes_;
  const CollectionFamilies* family_ = nullptr;
};

/// A place in a user's timeline of one collection: what comes behind it is older, or of the same
/// time and a later item.
struct TimelinePlace {
  int64_t at_ms = INT64_MAX;
  std::string item;

  /// Whether a row comes behind this place.
  bool IsBefore(int64_t row_at_ms, std::string_view row_item) const {
    return ComesFirst(at_ms, item, row_at_ms, row_item);
  }
};

/// An entry that is shown.
struct WalkedEntry {
  std::string item;
  FoundState state;
};

/// Walks the shown entries of a reader's user, behind a place, the newest first.
class HistoryWalk {
 public:
  /// Looks up `ahead` rows at a time.
  HistoryWalk(HistoryReader* reader, TimelinePlace from, size_t ahead, Sought sought);
  /// The next entry, good until Pop; null at the end.
  const WalkedEntry* Peek();
  void Pop() { ready_.pop_front(); }

 private:
  using Row = StagedHistory::Row;
  bool Fill();
  std::optional<Row> NextRow();
  std::optional<Row> StagedRow();
  bool OpenBucket();
  void ReadTimeline();

  HistoryReader* const reader_;
  TimelinePlace place_;
  const size_t ahead_;
  const Sought sought_;
  std::vector<Row> staged_;  // in order, the next ones
  size_t staged_at_ = 0;
  bool staged_more_ = true;  // behind them
  BucketsOf<HistoryBucket>::const_iterator bucket_;
  std::string end_;  // behind the user's keys
  rocksdb::Slice end_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;
  std::optional<Row> timeline_;  // its next row
  std::deque<WalkedEntry> ready_;
};

}  // namespace seendb
