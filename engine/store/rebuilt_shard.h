// store/rebuilt_shard.h: the database that a repair makes in place of a damaged shard, and how rows
// go into it: without order, since merges are unions.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "seendb/status.h"

namespace seendb {

/// RocksDB's options of a family by its name, for reading tables.
rocksdb::ColumnFamilyOptions OptionsOfFamily(rocksdb::Env* env, const std::string& name);
/// Options of a shard's database for a repair.
rocksdb::DBOptions OptionsOfDatabase(rocksdb::Env* env);

/// See the head of this file. What is added stays in a batch until Flush. Threads: one.
class RebuiltShard {
 public:
  RebuiltShard(rocksdb::Env* env, std::string path) : env_(env), path_(std::move(path)) {}
  ~RebuiltShard() { Close().PermitUncheckedError(); }
  RebuiltShard(const RebuiltShard&) = delete;
  RebuiltShard& operator=(const RebuiltShard&) = delete;

  /// Makes the database; the folder must not be there yet. Comes first.
  Status Open();
  /// Makes the family where there is none. kIncompatible: of a kind that is not known.
  Status MakeFamily(const std::string& name);
  /// Adds a row that was read of a family that has been made. kIncompatible: only newer software
  /// may go on with it.
  Status Take(const std::string& family, const rocksdb::Slice& key, const rocksdb::Slice& value);
  Status Delete(const std::string& family, const rocksdb::Slice& key);
  /// Adds to the family `default`.
  Status PutMeta(const rocksdb::Slice& key, const rocksdb::Slice& value);
  /// Writes what was added; if only a little was, FlushSome does not.
  Status Flush();
  Status FlushSome();
  /// Puts everything into tables, closes and syncs. Comes last.
  Status Finish();

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::WriteBatch* batch() { return &batch_; }
  rocksdb::ColumnFamilyHandle* meta() const { return db_->DefaultColumnFamily(); }
  /// Those made, all but `default`.
  const std::map<std::string, rocksdb::ColumnFamilyHandle*>& families() const { return families_; }
  /// The highest epoch that anything taken tells of.
  uint64_t epoch() const { return epoch_; }

 private:
  rocksdb::ColumnFamilyHandle* Handle(const std::string& family) const;
  Status TakeMeta(const rocksdb::Slice& key, const rocksdb::Slice& value);
  void SawSequence(uint64_t sequence);
  rocksdb::Status Close();

  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::WriteBatch batch_;
  uint64_t epoch_ = 0;
};

}  // namespace seendb
