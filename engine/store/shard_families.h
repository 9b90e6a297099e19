// store/shard_families.h: the families of one shard as they come and go: buckets that are made,
// sealed and dropped, and what is remembered of those that are gone.
//
// Threads: as ShardDatabase; but Unpublish and ResetRingFamily only while no write to those
// families is under way (the shard's apply lock sees to that).

#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/shard_database.h"

namespace seendb {

/// See the head of this file. Borrows the database.
class ShardFamilies {
 public:
  explicit ShardFamilies(ShardDatabase* database) : database_(*database) {}
  ShardFamilies(const ShardFamilies&) = delete;
  ShardFamilies& operator=(const ShardFamilies&) = delete;

  /// Held by who changes the families, or what is published of them.
  Mutex& change_mutex() LOCK_RETURNED(change_mutex_) { return change_mutex_; }
  /// The bucket, made if it is not there yet. Waits while one of the same name is being dropped, so
  /// that what is written into it is in a family of its own.
  Result<std::shared_ptr<Bucket>> EnsureBucket(std::string_view collection, int64_t index);
  /// The same for a bucket's history.
  Result<std::shared_ptr<HistoryBucket>> EnsureHistoryBucket(std::string_view collection,
                                                             int64_t index);
  /// Makes the family of a collection's exposures, or counts, if it is not there yet: its first
  /// exposure, or counted event, comes. kNotFound; kIncompatible: there are as many families as
  /// there may be.
  Status EnsureExposures(std::string_view collection);
  Status EnsureCounts(std::string_view collection);
  /// The same of what takes what users say themselves: a user says something for the first time.
  Status EnsureOwn();
  /// Remembers, synced, that filters of a collection are about to go: those of this bucket and of
  /// older ones. Before they are dropped, or a drain leaves plays of theirs out. Answers whose
  /// window reaches the bucket say `degraded` from now on. Costs nothing where it is known.
  Status NoteFiltersGone(std::string_view collection, int64_t bucket);
  /// The same of history up to a time, which is gone or may lack plays: it is not trusted to be
  /// whole from now on.
  Status NoteHistoryGone(std::string_view collection, int64_t up_to_ms);
  /// Takes a collection's `buckets`, of filters or of history, below `oldest_kept` out of the
  /// family set: no later write or read finds them. Fast. Drop must follow, whatever happens: until
  /// then whoever wants these buckets again waits.
  template <typename OneBucket>
  std::vector<std::shared_ptr<OneBucket>> Unpublish(
      BucketsOf<OneBucket> CollectionFamilies::*buckets, std::string_view collection,
      int64_t oldest_kept);
  /// Drops the families of unpublished buckets. Up to some 100 ms where families are many.
  Status Drop(std::string_view collection, const std::vector<std::shared_ptr<Bucket>>& buckets);
  Status Drop(std::string_view collection,
              const std::vector<std::shared_ptr<HistoryBucket>>& buckets);
  /// Ends what Unpublish began without a drop, where writes of the shard have failed: the families
  /// are published again when the shard is opened anew.
  template <typename OneBucket>
  void AbandonDrop(std::string_view collection,
                   const std::vector<std::shared_ptr<OneBucket>>& buckets) {
    const MutexLock change(change_mutex_);
    const BucketsOf<OneBucket>* const kind = nullptr;
    for (const auto& bucket : buckets) dropping_.erase(NameOf(kind, collection, bucket->label));
    dropped_.NotifyAll();
  }
  /// Collapses and re-encodes a bucket. Needs about the bucket's size of free disk.
  Status Seal(const std::string& collection, const std::shared_ptr<Bucket>& bucket);
  /// Compacts what holds deletions, so that what they hide leaves the disk and they do: in families
  /// that have users' rows where these users have some, in the others whole. Null: all users.
  Status RemoveDeleted(const std::vector<std::string>* users);
  /// Drops and remakes a journal family.
  Status ResetRingFamily(uint32_t slot);

  /// Makes the family of a collection's impressions, if it is not there yet. The caller
  /// holds change_mutex(), or opens the shard.
  Status EnsureImpressions(CollectionFamilies* families);
  /// Compacts every family down to the last level.
  Status CompactAll();
  /// Writes what is only in logs into tables: what a disk that failed to sync forgot of them.
  Status FlushAll();
  /// The same for the family `users`.
  Status FlushUsers();
  /// Forgets which buckets were being dropped, before the database is closed. Precondition: that of
  /// ShardDatabase::Close.
  void Close();

 private:
  friend class ShardOpening;
  /// The bucket of the collection's `buckets`, or what `make(families)` gives, published.
  template <typename OneBucket, typename Make>
  Result<std::shared_ptr<OneBucket>> EnsureIn(BucketsOf<OneBucket> CollectionFamilies::*buckets,
                                              std::string_view collection, int64_t index,
                                              const Make& make);
  /// Makes a collection's `family`, whose name begins with `table`; nothing where it is there.
  /// `first`: what needs it, for people.
  Status EnsureFirst(std::string_view collection,
                     std::shared_ptr<Family> CollectionFamilies::*family, std::string_view table,
                     const char* first);
  void BindRules(const Policy& policy, Bucket* bucket) const;
  Status AddHistoryFamilies(std::string_view collection, HistoryBucket* bucket);
  Status ForgetMarkers(const std::vector<std::string>& keys) REQUIRES(change_mutex_);
  /// `names`: of the buckets, in dropping_.
  Status DropBuckets(const std::vector<std::string>& names,
                     const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  /// The name of a bucket in dropping_.
  static std::string NameOf(const BucketsOf<Bucket>*, std::string_view collection,
                            std::string_view label) {
    return SeenFamilyName(collection, label);
  }
  static std::string NameOf(const BucketsOf<HistoryBucket>*, std::string_view collection,
                            std::string_view label) {
    return HistoryFamilyName(collection, label);
  }

  ShardDatabase& database_;
  Mutex change_mutex_{LockRank::kFamilies};  // one change of the families at a time
  // Buckets between Unpublish and the end of Drop, by the names of their families.
  std::set<std::string> dropping_ GUARDED_BY(change_mutex_);
  CondVar dropped_;
  // One seal, which sets a flag of the bucket's rules, or RemoveDeleted at a time.
  Mutex seal_mutex_{LockRank::kSeal};
  std::set<std::string> damaged_traces_ GUARDED_BY(seal_mutex_);  // by RemoveDeleted
};

template <typename OneBucket, typename Make>
Result<std::shared_ptr<OneBucket>> ShardFamilies::EnsureIn(
    BucketsOf<OneBucket> CollectionFamilies::*buckets, std::string_view collection, int64_t index,
    const Make& make) {
  if (auto bucket = database_.families()->FindBucket(buckets, collection, index)) return bucket;
  Status writable = database_.CheckWritable();
  if (!writable.ok()) return writable;
  const MutexLock change(change_mutex_);
  std::shared_ptr<const FamilySet> current = database_.families();
  const CollectionFamilies* known = current->Find(collection);
  if (known == nullptr) return Status::NotFound("no collection " + std::string(collection));
  const std::string label = BucketLabel(known->policy, index);
  if (const auto read = BucketIndexOfLabel(known->policy, label); !read.ok() || *read != index) {
    return Status::InvalidArgument("bucket " + label + " is of no calendar");  // never to be opened
  }
  const std::string name = NameOf(&(known->*buckets), collection, label);
  if (dropping_.contains(name)) {
    while (dropping_.contains(name)) dropped_.Wait(change_mutex_);
    writable = database_.CheckWritable();  // a drop that failed leaves the family in doubt
    if (!writable.ok()) return writable;
    current = database_.families();
    known = current->Find(collection);
    if (known == nullptr) return Status::NotFound("no collection " + std::string(collection));
  }
  if (auto bucket = current->FindBucket(buckets, collection, index)) return bucket;
  Result<std::shared_ptr<OneBucket>> made = make(*known);
  if (!made.ok()) return made;
  auto set = std::make_shared<FamilySet>(*current);
  (set->collections.find(collection)->second.*buckets)[index] = *made;
  database_.Publish(std::move(set));
  return made;
}

template <typename OneBucket>
std::vector<std::shared_ptr<OneBucket>> ShardFamilies::Unpublish(
    BucketsOf<OneBucket> CollectionFamilies::*buckets, std::string_view collection,
    int64_t oldest_kept) {
  const MutexLock change(change_mutex_);
  std::vector<std::shared_ptr<OneBucket>> taken;
  auto set = std::make_shared<FamilySet>(*database_.families());
  const auto at = set->collections.find(collection);
  if (at == set->collections.end()) return taken;
  BucketsOf<OneBucket>& all = at->second.*buckets;
  while (!all.empty() && all.rbegin()->first < oldest_kept) {
    taken.push_back(all.rbegin()->second);
    all.erase(std::prev(all.end()));
    const std::string name = NameOf(&all, collection, taken.back()->label);
    at->second.losses.Forget(LossPartOf(ParseFamilyName(name)));
    dropping_.insert(name);
  }
  if (!taken.empty()) database_.Publish(std::move(set));
  return taken;
}

}  // namespace seendb
