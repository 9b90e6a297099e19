// sets/log_store.h: SetLog over a RocksDB with one family. The sets lie there as in a store by
// itself; beside them are notes of the versions that the log has, and the pieces of those that are
// not whole.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/set_log.h"
#include "sets/base_store.h"
#include "sets/log_rows.h"
#include "sets/versions.h"

namespace seendb::sets {

/// SetLog's calls of SetStore are those of a store by itself.
class LogStore final : public SetLog {
 public:
  explicit LogStore(const SetLogOptions& options);
  Status Load(const std::string& path);

  Result<SetInfo> Put(std::string_view name, std::span<const IdRef> items) override;
  Status Delete(std::string_view name) override;
  Status Ready() const override;
  std::shared_ptr<const ItemSet> Find(std::string_view name) const override;
  std::vector<SetInfo> List() const override { return base_.List(); }
  Result<SetPage> Read(std::string_view name, std::string_view after, size_t limit) const override;
  Result<std::vector<std::string>> Verify() const override { return base_.Verify(); }
  Status Checkpoint(const std::string& path) override { return base_.Checkpoint(path); }
  Status Close() override { return base_.Close(); }

  int64_t next_offset() const override { return next_offset_; }
  Status Apply(std::span<const SetLogEntry> entries, int64_t next_offset) override;
  Status BeginAnew() override;
  void SetCurrent(bool current) override { current_ = current; }
  std::vector<SetRecord> Leftovers(std::chrono::steady_clock::time_point now,
                                   std::optional<std::chrono::milliseconds> old) override;
  uint64_t passed_over() const override { return passed_over_; }
  size_t dropped() const override { return dropped_; }

 private:
  /// The base, with all that a change needs.
  class Base final : public BaseStore {
   public:
    using BaseStore::BaseStore;
    using BaseStore::CheckRoom;
    using BaseStore::closed;
    using BaseStore::ClosedStore;
    using BaseStore::db;
    using BaseStore::DeletePieces;
    using BaseStore::Get;
    using BaseStore::NewVersion;
    using BaseStore::NowMs;
    using BaseStore::Publish;
    using BaseStore::ReadSets;
    using BaseStore::WalkOptions;
    using BaseStore::Write;
    Result<SetInfo> Put(std::string_view, std::span<const IdRef>) override { return NoChange(); }
    Status Delete(std::string_view) override { return NoChange(); }

   private:
    static Status NoChange() { return Status::Incompatible("the sets come from a log"); }
  };

  Status LoadLog() REQUIRES(mutex_);
  /// After a failed write: reads again what the rows say. kUnavailable: that is another place.
  Status Reload() REQUIRES(mutex_);
  /// False: a row of the log is damaged, or does not fit the others.
  Result<bool> ReadRows(int64_t* next_offset, Versions* versions) const;
  Status DropAll() REQUIRES(mutex_);
  /// Takes one entry into the batch; a whole version with a write of its own.
  Status TakeEntry(const SetLogEntry& entry, rocksdb::WriteBatch* batch) REQUIRES(mutex_);
  Status TakeNone(const Piece& piece, rocksdb::WriteBatch* batch) REQUIRES(mutex_);
  /// Makes a version the set whose last piece is that of `entry`.
  Status Finish(const Piece& piece, const SetLogEntry& entry, rocksdb::WriteBatch* batch)
      REQUIRES(mutex_);
  Result<std::vector<std::string>> ReadPieces(const Piece& piece, std::string_view last) const
      REQUIRES(mutex_);
  /// Adds what became of versions.
  void WriteChanges(std::string_view name, const std::vector<Versions::Change>& changes,
                    rocksdb::WriteBatch* batch) const REQUIRES(mutex_);
  /// Writes the batch with the place, and empties it.
  Status WriteUpTo(int64_t next_offset, rocksdb::WriteBatch* batch) REQUIRES(mutex_);
  Status CheckMayChange(std::string_view name) const;
  /// kUnavailable, kIncompatible: what the log has leaves no room.
  Status CheckLog(std::string_view name) const;
  Status Append(std::string_view name, const std::vector<Piece>& pieces);
  /// kUnavailable unless the version counts, or one that was begun later does. `former_order`: that
  /// of the version that counted before.
  Status CheckCounted(std::string_view name, const VersionId& id, int64_t former_order) const
      REQUIRES(mutex_);

  const std::string log_;
  const std::function<Status(std::span<const SetRecord>)> append_;
  Base base_;
  // One set is put or deleted at a time: the room was looked at by whoever appends.
  Mutex turn_{LockRank::kServerCall};
  // Held while entries are taken.
  mutable Mutex mutex_{LockRank::kMaintenance};
  Versions versions_ GUARDED_BY(mutex_);
  // Sets that were put or deleted here; true: that is under way.
  std::map<std::string, bool, std::less<>> changed_here_ GUARDED_BY(mutex_);
  bool stale_ GUARDED_BY(mutex_) = false;  // a write failed: the rows say what counts
  std::atomic<int64_t> next_offset_{0};
  std::atomic<uint64_t> passed_over_{0};
  size_t dropped_ = 0;  // set by Load
  std::atomic<bool> current_{false};
};

}  // namespace seendb::sets
