// store/shard_store.h: one shard's RocksDB: what is stored of its collections, and the whole of it.
// It owns the open database (shard_database.h) and the changes of its families (shard_families.h).
//
// Threads: as ShardDatabase and ShardFamilies.

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seendb/report.h"
#include "store/shard_families.h"

namespace seendb {

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

/// See the head of this file.
class ShardStore {
 public:
  static Result<std::unique_ptr<ShardStore>> Open(const ShardStoreOptions& options,
                                                  const std::shared_ptr<SharedResources>& shared);
  ShardStore(const ShardStore&) = delete;
  ShardStore& operator=(const ShardStore&) = delete;

  // ---- The parts ----

  const ShardDatabase& database() const { return database_; }
  /// Its families, to change them.
  ShardFamilies& tables() { return tables_; }
  /// Handles of the database, for everybody who reads or writes rows.
  rocksdb::DB* db() const { return database_.db(); }
  rocksdb::ColumnFamilyHandle* users() const { return database_.users(); }
  rocksdb::ColumnFamilyHandle* meta() const { return database_.meta(); }
  std::shared_ptr<const FamilySet> families() const { return database_.families(); }
  uint32_t shard() const { return database_.shard(); }
  bool readable() const { return database_.readable(); }
  Status CheckWritable() const { return database_.CheckWritable(); }
  ProblemList& problems() const { return database_.problems(); }
  Status SyncWal() { return database_.SyncWal(); }
  void GiveUp() { database_.GiveUp(); }

  /// A number that grows with every opening: the high bits of the shard's sequences.
  uint64_t epoch() const { return epoch_; }
  /// Notes the time, not synced. Only the newest one counts.
  Status NoteClock(int64_t now_ms);
  /// The newest time noted, by any opening.
  std::optional<int64_t> noted_ms() const;

  // ---- Collections ----

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

  // ---- Damage ----

  /// Sets aside a damaged journal record (the first 100).
  void KeepDamaged(std::string_view name, std::string_view bytes);

  /// Notes that plays of any user may be lost: answers say so from now on (data_loss.h), and
  /// sources are read again.
  Status MarkLogLost(const std::string& reason) {
    return MarkLogLost(DataLoss{database_.options().now_ms, reason, {}});
  }
  Status MarkLogLost(const DataLoss& loss);
  /// Notes, synced, that this shard is made in the place of one that was lost. It does not know its
  /// collections yet, which MarkLogLost would mark.
  Status NoteFormerLost(const std::string& reason);
  /// Does what MarkLogLost does where NoteFormerLost left a note, and deletes the note. The shard
  /// knows its collections.
  Status MarkFormerLost();
  /// After a part of the log was lost: deletes again what the family `users` says was erased, or
  /// cleared with its filter, as far as that can be told from what came later. `*users`: of how
  /// many something was there. What was deleted stays deleted once MarkLogLost, or a sync, has
  /// succeeded. Precondition: nobody writes; the ring is not replayed yet.
  Status RepeatErasures(uint64_t* users);
  /// Keys in meta() of damaged records with this user's id in them.
  void FindDamagedOf(std::string_view user, std::vector<std::string>* keys) const;

  // ---- The whole shard ----

  /// Puts a copy of the shard into `folder`, adding to `*report`: everything written before the
  /// call is in it. On failure the folder is left half made.
  Status Checkpoint(const std::string& folder, CheckpointReport* report);

  /// Closes the database and opens it again as after a restart; where that fails, for reading.
  /// What is found to be lost is dated by `now_ms`.
  /// Precondition: nobody else is in any member, nor holds a family, a bucket or a value.
  Status Reopen(int64_t now_ms);

 private:
  friend class ShardOpening;
  static constexpr int64_t kNeverNoted = std::numeric_limits<int64_t>::min();

  ShardStore(ShardStoreOptions options, std::shared_ptr<SharedResources> shared)
      : database_(std::move(options), std::move(shared)) {}
  void Close();
  static Result<std::unique_ptr<ShardStore>> OpenOnce(
      const ShardStoreOptions& options, const std::shared_ptr<SharedResources>& shared);
  Status ForgetSources();
  Status CollectionKeys(const std::string& name, std::vector<std::string>* keys) const;
  /// Drops every bucket of a kind.
  template <typename OneBucket>
  Status DropAll(BucketsOf<OneBucket> CollectionFamilies::*buckets, const std::string& name) {
    const auto all = tables_.Unpublish(buckets, name, std::numeric_limits<int64_t>::max());
    const Status dropped = tables_.Drop(name, all);
    if (!dropped.ok()) tables_.AbandonDrop(name, all);
    return dropped;
  }

  ShardDatabase database_;
  ShardFamilies tables_{&database_};
  uint64_t epoch_ = 0;
  std::atomic<int64_t> noted_ms_{kNeverNoted};
};

}  // namespace seendb
