// store/shard_database.h: one shard's RocksDB while it is open: its handle and its log, the
// families that are published, and what has stopped it. The ShardStore (shard_store.h) owns it and
// gives others a const one, which is for reading; it is changed by the store and by the changes of
// its families (shard_families.h). How it is opened is in shard_opening.h.
//
// Threads: every member may be called from any thread. Readers hold snapshots of the family set and
// need no lock.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "filter/item_hash.h"
#include "store/database_options.h"
#include "store/inventory.h"
#include "store/log_sync.h"
#include "store/problem_list.h"
#include "tables/table_set.h"

namespace seendb {

/// How a shard is opened.
struct ShardStoreOptions {
  std::string path;
  std::string database_id;
  ItemHashId hash = {};
  uint32_t shard = 0;
  uint32_t shards = 1;
  bool create = false;
  bool read_only = false;
  bool open_damaged = false;
  bool repairing = false;  ///< by a repair, which may have begun earlier
  int64_t now_ms = 0;      ///< when it is opened
};

/// Options of a write that is on disk when it returns, and of one that need not be. Either passes
/// over families that are gone.
rocksdb::WriteOptions Synced();
rocksdb::WriteOptions NotSynced();

/// See the head of this file.
class ShardDatabase {
 public:
  ShardDatabase(ShardStoreOptions options, std::shared_ptr<SharedResources> shared);
  ~ShardDatabase() { Close(); }
  ShardDatabase(const ShardDatabase&) = delete;
  ShardDatabase& operator=(const ShardDatabase&) = delete;

  /// Null while !readable().
  rocksdb::DB* db() const { return db_.get(); }
  uint32_t shard() const { return options_.shard; }
  bool read_only() const { return options_.read_only; }
  /// How it was opened; `read_only` changes while nobody else is inside.
  const ShardStoreOptions& options() const { return options_; }
  const SharedResources& shared() const { return *shared_; }

  /// The published families; never null.
  std::shared_ptr<const FamilySet> families() const;
  rocksdb::ColumnFamilyHandle* users() const { return users_->get(); }
  rocksdb::ColumnFamilyHandle* meta() const { return meta_->get(); }
  std::shared_ptr<Family> ring_family(uint32_t slot) const;
  /// Families that ring slots beyond the configured number left behind: their journals are
  /// replayed and drained too.
  uint32_t ring_families() const;
  /// Every family of the shard: default, users, the ring's, own, then those of each collection.
  std::vector<std::shared_ptr<Family>> OpenTables() const;
  /// Families now, for the limit.
  uint32_t family_count() const { return family_count_; }

  /// kIOError from a failure that stopped RocksDB's writes until ShardStore::Reopen has succeeded.
  /// Reads go on.
  Status CheckWritable() const;
  /// False where not even an opening for reading succeeded: there are no families then.
  bool readable() const { return db_ != nullptr; }
  /// Whether GiveUp was called.
  bool giving_up() const { return giving_up_; }

  /// What is wrong with this shard, for people; empty while all is well.
  ProblemList& problems() const { return *problems_; }
  /// Whether ShardStore::Reopen finds the room that it needs; a lack of it is a problem (Problems)
  /// until the next look.
  Status CheckRoom() const;
  /// Whether the disk takes files of some size again: worth a Reopen.
  Status TryDisk() const;

  // ---- Changes ----

  /// Makes the log so far survive power loss, and notes how far that is. A sync that fails stops
  /// the shard's writes until ShardStore::Reopen has succeeded.
  Status SyncWal();
  /// Whatever takes long (seals, compactions, checkpoints) ends soon, with kUnavailable. Only
  /// Reopen or closing comes after it.
  void GiveUp();
  /// Ends the opening. Precondition: nobody else is in any member, nor holds a family, a bucket or
  /// a value.
  void Close();
  /// Before it is opened anew: for writing, dated by `now_ms`, and nothing gives up any more.
  void BeginReopening(int64_t now_ms);
  /// The same for reading alone, after a failure of that.
  void BeginReading() { options_.read_only = true; }
  /// Notes a failure that leaves open what holds: the shard takes no writes until it was opened
  /// anew.
  Status InDoubt(const rocksdb::Status& status, std::string_view what);
  /// Synced.
  Status PutMeta(const std::string& key, const std::string& value);
  /// Whoever calls it holds off other changes of the families, or opens the shard.
  Result<std::shared_ptr<Family>> CreateFamily(const std::string& name, const TableRules& rules);
  /// Drops families together. InDoubt where that fails; `what`: for people.
  Status DropFamilies(const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                      std::string_view what);
  void Publish(std::shared_ptr<const FamilySet> families);
  void PublishRingFamily(uint32_t slot, std::shared_ptr<Family> family);
  TableRules NewRules() const { return UnboundRules(shared_->counters); }
  /// As of the last sync, with the names of the present families.
  Inventory NotedFiles();

 private:
  friend class ShardOpening;

  /// Writes the families' names and the collections' policies into `files`.
  void NameFamilies(Inventory* files) const;

  ShardStoreOptions options_;  // read_only changes while nobody else is inside
  const std::shared_ptr<SharedResources> shared_;
  const std::shared_ptr<ProblemList> problems_;
  std::unique_ptr<rocksdb::Env> placeholders_;  // before db_, which goes first
  std::unique_ptr<rocksdb::DB> db_;
  std::atomic<uint32_t> family_count_{0};
  std::atomic<bool> giving_up_{false};
  std::shared_ptr<Family> meta_, users_;
  mutable ReadWriteMutex mutex_{LockRank::kFamilySet};
  std::shared_ptr<const FamilySet> families_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> policies_ GUARDED_BY(mutex_);  // their JSON, by collection
  std::vector<std::shared_ptr<Family>> ring_ GUARDED_BY(mutex_);
  std::unique_ptr<LogSync> log_sync_;  // as long as db_ is open for writing
  Mutex sync_mutex_{LockRank::kSyncNote};
  uint64_t noted_sequence_ GUARDED_BY(sync_mutex_) = 0;
  Inventory noted_files_ GUARDED_BY(sync_mutex_);
};

}  // namespace seendb
