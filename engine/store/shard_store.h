// store/shard_store.h: one shard's RocksDB: families by bucket, policies, sealing, dropping.
//
// Threads: every member may be called from any thread; Unpublish and ResetRingFamily only while no
// write to those families is under way (the shard's apply lock sees to that). Readers hold
// snapshots of the family set and need no lock.

#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "seendb/report.h"
#include "store/database_options.h"
#include "store/files.h"
#include "store/log_sync.h"
#include "store/problem_list.h"
#include "store/shard_logs.h"
#include "tables/table_set.h"

namespace seendb {

/// How a shard is opened.
struct ShardStoreOptions {
  std::string path;
  std::string database_id;
  uint32_t shard = 0;
  uint32_t shards = 1;
  bool create = false;
  bool read_only = false;
  bool open_damaged = false;
  bool repairing = false;  ///< by a repair, which may have begun earlier
  int64_t now_ms = 0;      ///< when it is opened
};

/// A collection's policy, and which of the name's it is.
struct StoredPolicy {
  const std::string& name;
  const Policy& policy;
  uint64_t making = 0;    ///< Making::number
  uint64_t revision = 0;  ///< PolicyMark::revision
};

/// Puts the policy and its mark into the batch.
rocksdb::Status PutPolicy(const StoredPolicy& wanted, rocksdb::ColumnFamilyHandle* meta,
                          rocksdb::WriteBatch* batch);

/// Options of a write that is on disk when it returns, and of one that need not be. Either passes
/// over families that are gone.
rocksdb::WriteOptions Synced();
rocksdb::WriteOptions NotSynced();

/// See the head of this file.
class ShardStore {
 public:
  static Result<std::unique_ptr<ShardStore>> Open(const ShardStoreOptions& options,
                                                  const std::shared_ptr<SharedResources>& shared);
  ~ShardStore();
  ShardStore(const ShardStore&) = delete;
  ShardStore& operator=(const ShardStore&) = delete;

  /// Null while !readable().
  rocksdb::DB* db() const { return db_.get(); }
  uint32_t shard() const { return options_.shard; }
  bool read_only() const { return options_.read_only; }
  /// The published families; never null.
  std::shared_ptr<const FamilySet> families() const;
  rocksdb::ColumnFamilyHandle* users() const { return users_->get(); }
  rocksdb::ColumnFamilyHandle* meta() const { return meta_->get(); }
  std::shared_ptr<Family> ring_family(uint32_t slot) const;
  /// Families that ring slots beyond the configured number left behind: their journals are
  /// replayed and drained too.
  uint32_t ring_families() const;
  /// Every family of the shard: default, users, the ring's, then those of each collection.
  std::vector<std::shared_ptr<Family>> OpenTables() const;

  /// A number that grows with every opening: the high bits of the shard's sequences.
  uint64_t epoch() const { return epoch_; }

  /// Stores a policy, and CollectionFamilies::history_incomplete_up_to_ms, synced, and makes the
  /// families it needs at once. Notes the making, where a collection of before had a lower one.
  Status PutCollection(const StoredPolicy& wanted, int64_t history_incomplete_up_to_ms);

  /// A collection is deleted in three steps, between which nothing is written to it. The first
  /// notes that it goes, synced: the deletion is finished then, by whoever opens the shard.
  Status NoteDeletion(const std::string& name, const Making& making);
  /// No later write or read finds it; nothing where it is not there. Fast.
  std::optional<CollectionFamilies> UnpublishCollection(std::string_view name);
  /// Drops its families, if any are left, and deletes all that is stored of it but the note.
  Status DeleteCollection(const std::string& name, const CollectionFamilies* families);
  /// Gives a collection that holds nothing another policy, fixed fields too, synced. Nothing is
  /// written to it meanwhile.
  Status BeginAnew(const StoredPolicy& wanted, uint64_t sequence);

  /// The bucket, made if it is not there yet. Waits while one of the same name is being dropped, so
  /// that what is written into it is in a family of its own.
  Result<std::shared_ptr<Bucket>> EnsureBucket(std::string_view collection, int64_t index);
  /// The same for a bucket's history.
  Result<std::shared_ptr<HistoryBucket>> EnsureHistoryBucket(std::string_view collection,
                                                             int64_t index);
  /// Remembers, synced, that filters of a collection are about to go: those of this bucket and of
  /// older ones. Before they are dropped, or a drain leaves plays of theirs out. Answers whose
  /// window reaches the bucket say `degraded` from now on. Costs nothing where it is known.
  Status NoteFiltersGone(std::string_view collection, int64_t bucket);
  /// The same of history up to a time, which is gone or may lack plays: it is not trusted to be
  /// whole from now on.
  Status NoteHistoryGone(std::string_view collection, int64_t up_to_ms);
  /// Notes the time, not synced. Only the newest one counts.
  Status NoteClock(int64_t now_ms);
  /// The newest time noted, by any opening.
  std::optional<int64_t> noted_ms() const;
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
  /// Drops and remakes a journal family.
  Status ResetRingFamily(uint32_t slot);
  /// Compacts every family down to the last level.
  Status CompactAll();

  /// Puts a copy of the shard into `folder`, adding to `*report`: everything written before the
  /// call is in it. On failure the folder is left half made.
  Status Checkpoint(const std::string& folder, CheckpointReport* report);

  /// Makes the log so far survive power loss, and notes how far that is. A sync that fails stops
  /// the shard's writes until Reopen has succeeded.
  Status SyncWal();
  /// Families now, for the limit.
  uint32_t family_count() const;
  /// Sets aside a damaged journal record (the first 100).
  void KeepDamaged(std::string_view name, std::string_view bytes);

  /// Notes that plays of any user may be lost: answers say so from now on (data_loss.h), and
  /// sources are read again.
  Status MarkLogLost(const std::string& reason);
  /// After a part of the log was lost: deletes again what the family `users` says was erased, or
  /// cleared with its filter, as far as that can be told from what came later. `*users`: of how
  /// many something was there. What was deleted stays deleted once MarkLogLost, or a sync, has
  /// succeeded. Precondition: nobody writes; the ring is not replayed yet.
  Status RepeatErasures(uint64_t* users);
  /// Keys in meta() of damaged records with this user's id in them.
  void FindDamagedOf(std::string_view user, std::vector<std::string>* keys) const;

  /// kIOError from a failure that stopped RocksDB's writes until Reopen has succeeded. Reads go on.
  Status CheckWritable() const;
  /// False where not even an opening for reading succeeded: there are no families then.
  bool readable() const { return db_ != nullptr; }
  /// Whether a Reopen finds the room that it needs; a lack of it is a problem (Problems) until the
  /// next look.
  Status CheckRoom();
  /// Whether the disk takes files of some size again: worth a Reopen.
  Status TryDisk() const;
  /// Whatever takes long (seals, compactions, checkpoints) ends soon, with kUnavailable. Only
  /// Reopen or closing comes after it.
  void GiveUp();
  bool giving_up() const { return giving_up_; }
  /// Closes the database and opens it again as after a restart; where that fails, for reading.
  /// What is found to be lost is dated by `now_ms`.
  /// Precondition: nobody else is in any member, nor holds a family, a bucket or a value.
  Status Reopen(int64_t now_ms);
  /// Writes what is only in logs into tables: what a disk that failed to sync forgot of them.
  Status FlushAll();
  /// The same for the family `users`.
  Status FlushUsers();

  /// What is wrong with this shard, for people; empty while all is well.
  std::vector<std::string> Problems() const;
  /// Notes a problem (once).
  void AddProblem(std::string text);
  /// Forgets the problems that begin so: they are over.
  void ClearProblems(std::string_view prefix);

 private:
  static constexpr int64_t kNeverNoted = std::numeric_limits<int64_t>::min();

  ShardStore(ShardStoreOptions options, std::shared_ptr<SharedResources> shared);
  static Result<std::unique_ptr<ShardStore>> OpenOnce(const ShardStoreOptions& options,
                                                      std::shared_ptr<SharedResources> shared);
  Status OpenSteps();
  Status InDoubt(const rocksdb::Status& status, std::string_view what);
  void CloseDatabase();
  Status CheckFiles();
  Status OpenDatabase();
  rocksdb::Status OpenRocks(const rocksdb::DBOptions& db_options,
                            const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                            std::vector<rocksdb::ColumnFamilyHandle*>* handles);
  Status OpenWithPlaceholders(rocksdb::DBOptions db_options, const rocksdb::Status& refused,
                              const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                              std::vector<rocksdb::ColumnFamilyHandle*>* handles);
  Status LoadLosses(FamilySet* set);
  Status KeepLogLoss();
  Status ForgetSources();
  Status CheckSynced();
  Status CheckShardIdentity();
  Status CheckNewer();
  Status LoadPolicies();
  Status LoadMark(CollectionFamilies* families) const;
  Status LoadMakings(FamilySet* set);
  Status CollectionKeys(const std::string& name, std::vector<std::string>* keys) const;
  /// Drops every bucket of a kind.
  template <typename OneBucket>
  Status DropAll(BucketsOf<OneBucket> CollectionFamilies::*buckets, const std::string& name) {
    const auto all = Unpublish(buckets, name, std::numeric_limits<int64_t>::max());
    const Status dropped = Drop(name, all);
    if (!dropped.ok()) AbandonDrop(name, all);
    return dropped;
  }
  Status LoadHistoryIncomplete(CollectionFamilies* families) const;
  Status LoadDropped(CollectionFamilies* families);
  Status LoadClockNote();
  Status DistrustEarlierDrops();
  void LoadGrowth(std::string_view collection, Bucket* bucket) const;
  Status PublishOpened();
  Status BumpEpoch();
  Status MakeRingFamilies();
  TableRules NewRules() const { return UnboundRules(shared_->counters); }
  Result<std::shared_ptr<Family>> CreateFamily(const std::string& name, const TableRules& rules);
  Status ForgetMarkers(const std::vector<std::string>& keys) REQUIRES(change_mutex_);
  /// The bucket of the collection's `buckets`, or what `make(families)` gives, published.
  template <typename OneBucket, typename Make>
  Result<std::shared_ptr<OneBucket>> EnsureIn(BucketsOf<OneBucket> CollectionFamilies::*buckets,
                                              std::string_view collection, int64_t index,
                                              const Make& make);
  Status EnsureImpressions(CollectionFamilies* families);
  void BindRules(const Policy& policy, Bucket* bucket) const;
  void Publish(std::shared_ptr<const FamilySet> families);
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
  void NameFamilies(Inventory* files) const;
  Status PutMeta(const std::string& key, const std::string& value);

  /// A family as RocksDB opened it, not yet published.
  struct Opened {
    FamilyName name;
    TableRules rules;
    std::shared_ptr<Family> family;
  };
  Status AddHistoryFamilies(std::string_view collection, HistoryBucket* bucket);
  Status AdoptHistory(const Opened& opened, CollectionFamilies* families);
  Status CompleteHistory(CollectionFamilies* families);

  ShardStoreOptions options_;  // read_only changes while nobody else is inside
  const std::shared_ptr<SharedResources> shared_;
  std::shared_ptr<ProblemList> problems_;
  std::unique_ptr<rocksdb::Env> placeholders_;  // before db_, which goes first
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<Opened> opened_;
  std::map<std::string, Policy> policies_;  // only while opening
  ShardLogs logs_;                          // as they were before the database was opened

  std::shared_ptr<Family> meta_, users_;
  mutable ReadWriteMutex mutex_{LockRank::kFamilySet};
  std::shared_ptr<const FamilySet> families_ GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Family>> ring_ GUARDED_BY(mutex_);
  Mutex change_mutex_{LockRank::kFamilies};  // one change of the families at a time
  // Buckets between Unpublish and the end of Drop, by the names of their families.
  std::set<std::string> dropping_ GUARDED_BY(change_mutex_);
  CondVar dropped_;
  Mutex seal_mutex_{LockRank::kSeal};  // one seal at a time: it sets a flag of the bucket's rules
  std::unique_ptr<LogSync> log_sync_;  // as long as db_ is open for writing
  Mutex sync_mutex_{LockRank::kSyncNote};
  uint64_t noted_sequence_ GUARDED_BY(sync_mutex_) = 0;
  Inventory noted_files_ GUARDED_BY(sync_mutex_);
  std::string log_loss_;  // what of the log is missing, found while opening
  uint64_t epoch_ = 0;
  std::atomic<int64_t> noted_ms_{kNeverNoted};
  std::atomic<uint32_t> family_count_{0};
  std::atomic<bool> giving_up_{false};
};

template <typename OneBucket, typename Make>
Result<std::shared_ptr<OneBucket>> ShardStore::EnsureIn(
    BucketsOf<OneBucket> CollectionFamilies::*buckets, std::string_view collection, int64_t index,
    const Make& make) {
  if (auto bucket = families()->FindBucket(buckets, collection, index)) return bucket;
  Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const MutexLock change(change_mutex_);
  std::shared_ptr<const FamilySet> current = families();
  const CollectionFamilies* known = current->Find(collection);
  if (known == nullptr) return Status::NotFound("no collection " + std::string(collection));
  const std::string name =
      NameOf(&(known->*buckets), collection, BucketLabel(known->policy, index));
  if (dropping_.contains(name)) {
    while (dropping_.contains(name)) dropped_.Wait(change_mutex_);
    writable = CheckWritable();  // a drop that failed leaves the family in doubt
    if (!writable.ok()) return writable;
    current = families();
    known = current->Find(collection);
    if (known == nullptr) return Status::NotFound("no collection " + std::string(collection));
  }
  if (auto bucket = current->FindBucket(buckets, collection, index)) return bucket;
  Result<std::shared_ptr<OneBucket>> made = make(*known);
  if (!made.ok()) return made;
  auto set = std::make_shared<FamilySet>(*current);
  (set->collections.find(collection)->second.*buckets)[index] = *made;
  Publish(std::move(set));
  return made;
}

template <typename OneBucket>
std::vector<std::shared_ptr<OneBucket>> ShardStore::Unpublish(
    BucketsOf<OneBucket> CollectionFamilies::*buckets, std::string_view collection,
    int64_t oldest_kept) {
  const MutexLock change(change_mutex_);
  std::vector<std::shared_ptr<OneBucket>> taken;
  auto set = std::make_shared<FamilySet>(*families());
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
  if (!taken.empty()) Publish(std::move(set));
  return taken;
}

}  // namespace seendb
