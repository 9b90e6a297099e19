// sets/store.h: SetStore over a RocksDB with one family: what is put goes to the database first, in
// one synced batch, and to memory then; what is asked comes from memory alone.

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

namespace seendb::sets {

/// See the head of this file.
class Store final : public SetStore {
 public:
  explicit Store(const SetStoreOptions& options);
  /// Opens the database, and reads no set.
  Status OpenDatabase(const std::string& path);
  /// Opens the database and reads all sets.
  Status Load(const std::string& path);

  Result<SetInfo> Put(std::string_view name, std::span<const IdRef> items) override;
  Status Delete(std::string_view name) override;
  std::shared_ptr<const ItemSet> Find(std::string_view name) const override;
  std::vector<SetInfo> List() const override;
  Result<SetPage> Read(std::string_view name, std::string_view after, size_t limit) const override;
  Result<std::vector<std::string>> Verify() const override;
  Status Checkpoint(const std::string& path) override;
  Status Close() override;

 private:
  using SetPtr = std::shared_ptr<const MemorySet>;
  using Sets = std::map<std::string, SetPtr, std::less<>>;

  Status CheckFormat();
  /// Calls `take` with each set of the database.
  Status ReadAll(const std::function<void(const std::string&, SetPtr)>& take) const;
  SetPtr Get(std::string_view name) const;
  /// kIncompatible or kBusy where a set of so many bytes does not fit in place of the one there is.
  Status CheckRoom(std::string_view name, uint64_t bytes) const;
  /// Adds the deletions of all pieces of a set.
  Status DeletePieces(std::string_view name, rocksdb::WriteBatch* batch) const;
  Status Write(std::string_view name, std::span<const std::string_view> ids,
               const Version& version);
  int64_t NowMs() const;

  const uint64_t bytes_;
  const std::function<int64_t()> now_ms_;
  // One change at a time, so that the database's order and memory's are one.
  Mutex write_mutex_{LockRank::kMaintenance};
  std::unique_ptr<rocksdb::DB> db_;
  std::atomic<bool> closed_{false};
  mutable Mutex sets_mutex_{LockRank::kLeaf};
  Sets sets_ GUARDED_BY(sets_mutex_);
};

}  // namespace seendb::sets
