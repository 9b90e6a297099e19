// sets/base_store.h: a RocksDB with one family, whose sets are in memory for whoever asks: all of a
// SetStore but what changes it.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "base/sync.h"
#include "seendb/set_store.h"
#include "sets/memory_set.h"
#include "sets/set_rows.h"

namespace seendb::sets {

/// Puts together what was read of a set. Null: it is too large to be one.
std::shared_ptr<const MemorySet> Assemble(const ReadVersion& read);
/// The answer to a call that names a set which is not there.
Status NoSuchSet(std::string_view name);

/// See the head of this file.
class BaseStore : public SetStore {
 public:
  explicit BaseStore(const SetStoreOptions& options);
  /// Opens the database, and reads no set.
  Status OpenDatabase(const std::string& path);
  /// Opens the database and reads all sets.
  Status Load(const std::string& path);

  std::shared_ptr<const ItemSet> Find(std::string_view name) const override;
  std::vector<SetInfo> List() const override;
  Result<SetPage> Read(std::string_view name, std::string_view after, size_t limit) const override;
  Result<std::vector<std::string>> Verify() const override;
  Status Checkpoint(const std::string& path) override;
  Status Close() override;

 protected:
  using SetPtr = std::shared_ptr<const MemorySet>;

  rocksdb::DB& db() const { return *db_; }
  bool closed() const { return closed_; }
  SetPtr Get(std::string_view name) const;
  /// Null: the set is gone.
  void Publish(std::string_view name, SetPtr set);
  /// Reads the sets of the database.
  Status ReadSets();
  /// kIncompatible or kBusy where a set of so many bytes does not fit in place of the one there is.
  Status CheckRoom(std::string_view name, uint64_t bytes) const;
  /// Adds the deletions of all pieces of a set.
  Status DeletePieces(std::string_view name, rocksdb::WriteBatch* batch) const;
  /// The version of a set that is put now: later than the one there is.
  Version NewVersion(const MemorySet* former) const;
  int64_t NowMs() const;
  Status Write(rocksdb::WriteBatch* batch, bool sync, const char* what);
  /// Options for a walk over rows.
  static rocksdb::ReadOptions WalkOptions();
  static Status ClosedStore();

  // One change at a time, so that the database's order and memory's are one.
  Mutex write_mutex_{LockRank::kMaintenance};

 private:
  using Sets = std::map<std::string, SetPtr, std::less<>>;

  Status CheckFormat();
  /// Calls `take` with each set of the database.
  Status ReadAll(const std::function<void(const std::string&, SetPtr)>& take) const;

  const uint64_t bytes_;
  const std::function<int64_t()> now_ms_;
  std::unique_ptr<rocksdb::DB> db_;
  std::atomic<bool> closed_{false};
  mutable Mutex sets_mutex_{LockRank::kLeaf};
  Sets sets_ GUARDED_BY(sets_mutex_);
};

}  // namespace seendb::sets
