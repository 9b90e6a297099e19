// items/item_database.h: the RocksDB of a store: what it writes and reads there. Family `default`:
// the format, the schema, and how far topics were read; family `items`: a row for each item, by its
// canonical text.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "seendb/item_store.h"
#include "seendb/status.h"

namespace seendb::items {

/// Part of the rows: from a key on, up to another; empty: from the first, to the last.
struct KeyRange {
  std::string from, to;
};

/// See the head of this file. Threads: any.
class ItemDatabase {
 public:
  /// kBusy: another process has it open. kIncompatible: a newer format.
  static Result<std::unique_ptr<ItemDatabase>> Open(const std::string& path);
  ~ItemDatabase();

  /// Nothing where no schema was put.
  Result<std::optional<std::string>> ReadSchema() const;
  /// Synced.
  Status PutSchema(const std::string& json);

  /// Adds to a batch what Write then writes at once.
  void Merge(std::string_view id, std::string_view row, rocksdb::WriteBatch* batch) const;
  void Put(std::string_view id, std::string_view row, rocksdb::WriteBatch* batch) const;
  void Delete(std::string_view id, rocksdb::WriteBatch* batch) const;
  void PutSource(const ItemSource& source, rocksdb::WriteBatch* batch) const;
  Status Write(rocksdb::WriteBatch* batch);

  /// By topic and partition. kCorruption: one can't be read.
  Result<std::vector<ItemSource>> ReadSources() const;

  /// About `parts` ranges of about the same size, which together have all rows.
  std::vector<KeyRange> Split(size_t parts) const;
  /// Calls `visit(id, row)` for all rows of a range.
  Status Read(const KeyRange& range,
              const std::function<void(std::string_view, std::string_view)>& visit) const;

  /// Rows that a merge could not read, since it was opened.
  uint64_t damaged() const { return damaged_->load(std::memory_order_relaxed); }
  Status Checkpoint(const std::string& path);
  /// Syncs and closes; nothing else may run, then or later.
  Status Close();

 private:
  ItemDatabase() = default;
  Status CheckFormat();

  std::shared_ptr<std::atomic<uint64_t>> damaged_ = std::make_shared<std::atomic<uint64_t>>(0);
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;  // default, items
};

}  // namespace seendb::items
