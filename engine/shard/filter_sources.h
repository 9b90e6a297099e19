// shard/filter_sources.h: what the sources of one filter request are read from, in the order of
// its reasons: what the ring has, lists, marks, counts, buckets.

#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/counts_codec.h"
#include "format/impressions_codec.h"
#include "format/marks_codec.h"
#include "query/question.h"
#include "seendb/events.h"
#include "shard/filter_scratch.h"
#include "shard/parts.h"

namespace seendb {

/// The answer is degraded, for want of what `label` names.
void MarkMissing(FilterResponse* response, std::string label);

/// See the head of this file. It reads the ring first, then the family set, then RocksDB; any other
/// order could miss a delta that a drain is just moving.
class SourceReader {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Borrows all of them. `deadline`: max() for none.
  SourceReader(const ShardParts& shard, const Collection& collection, const FilterRequest& request,
               std::string_view user, int64_t now_ms, SteadyTime deadline, FilterScratch& scratch,
               FilterResponse* response);

  /// Whether the deadline has passed.
  bool TimeIsUp() const;
  /// Nothing is to be read but memory, for the reason that `missing` is to say.
  void BeginLate(const char* reason);
  /// Memory alone was asked, and can't tell.
  bool needs_disk() const { return needs_disk_; }
  /// The user's overrides; null: there are none.
  const CollectionMarks* overrides() const { return marks_; }
  /// 1 + the index of the source of marks; 0: none was read.
  uint32_t marked_verdict() const { return marked_verdict_; }
  /// Which facts count.
  const CountedFacts& facts() const { return facts_; }
  /// Whether a bucket is touched whose plays may be told apart by their times.
  bool may_check_span() const;
  /// The marks that were read.
  const MarkList& marked() const { return marked_; }
  /// 1 + the index of the source of the first set; 0: the request names none.
  uint32_t in_set_verdict() const { return in_set_verdict_; }
  /// 1 + the index of the source of caps; 0: none are asked for.
  uint32_t capped_verdict() const { return capped_verdict_; }
  /// The counts that were read.
  const CountList& counted() const { return counted_; }

  /// Reads the ring and the short-term store: what a shard still knows that is being opened
  /// anew. Its database is not touched.
  void ReadMemory();
  /// All that the request asks for. Precondition: the caller is inside the shard.
  void ReadAll(Counters* counters);

 private:
  // Plays of a user that the ring has.
  struct Staged {
    std::vector<Fingerprint> items;
    BucketSpan buckets;
    std::vector<BucketRun> runs;  // of `items`, where they may come back
  };
  // Overrides that are not found lift nothing: an item more may be seen, none is unseen.
  void FindOverrides(RecordTier tier);
  bool Late();
  void AddExcluded();
  void CollectStaged(bool drained, int64_t oldest_bucket, Staged* staged) const;
  // A source a bucket, the newest first: the end of each is the time of its items.
  void AddStagedByBucket(const Staged& staged, bool touched);
  void AddStaged(Staged staged, bool touched);
  void CheckLog(const CollectionFamilies& family);
  rocksdb::Status Get(rocksdb::ColumnFamilyHandle* family, rocksdb::PinnableSlice* value);
  // The time of what is recorded: an earlier one would be refused, or be the oldest of the list.
  void RecordNotBefore(int64_t at_ms);
  void ReadLists(const CollectionFamilies& family);
  bool MayHaveLost(Fact fact, const ListRules& rules, const CollectionFamilies& family) const;
  // `rules`: none where only the time of the newest matters, which what is recorded must not
  // precede.
  void ReadList(const Family& from, Fact fact, const ListRules& rules,
                const CollectionFamilies& family);
  // The source has no items: its bytes are those that the list borrows.
  void ReadMarks(const FamilySet& families);
  // The source has no items.
  SourceBytes& AddCapped();
  // The list borrows the source's bytes. An unreadable one counts as nothing.
  void ReadCounts(const CollectionFamilies* family);
  // The policy may keep fewer by now than when the value was written.
  size_t KeptOf(Fact fact) const;
  void AddCounted(const ImpressionList& list, const ListRules& rules, bool with_ids,
                  SourceBytes* bytes) const;
  // A full list may have had entries that are older than its oldest. One of which only the newest
  // count has these.
  void TellBeyond(Fact fact, const ListRules& rules, std::span<const ImpressionEntry> entries);
  // Whether the item was deleted from history after it was served.
  bool IsLifted(const ImpressionEntry& entry) const;
  // The operator is to know of values that only newer software reads.
  void NameNewer(const Family& family, const std::string& label,
                 const rocksdb::PinnableSlice& value) const;
  // False where the bucket's value can't be read whole.
  bool ReadBucket(const Bucket& bucket);
  // Whether a bucket was dropped that the window reaches again, as the clock was set back. The
  // newest of several is named.
  bool MarkDropped(const CollectionFamilies& family);
  void ReadBuckets(const CollectionFamilies& family);
  const ShardParts& shard_;
  const Collection& collection_;
  const FilterRequest& request_;
  const std::string_view user_;
  const CountedFacts facts_;
  const bool dated_;              // what is seen may come back, by its time
  const int64_t oldest_counted_;  // bucket of counts
  FilterScratch& scratch_;
  FilterResponse* const response_;
  UserRecordPtr settings_;                  // of the user, or null
  const CollectionMarks* marks_ = nullptr;  // of settings_
  MarkList marked_;
  uint32_t marked_verdict_ = 0;
  uint32_t in_set_verdict_ = 0;
  CountList counted_;
  uint32_t capped_verdict_ = 0;
  const SteadyTime deadline_;  // max(): none
  rocksdb::ReadOptions options_;
  bool late_ = false;
  bool needs_disk_ = false;
  uint64_t reads_ = 0;
};

}  // namespace seendb
