// recovery/rebuilt_shard.h: the database that a repair makes in place of a damaged shard, and how
// rows go into it: without order, since merges are unions.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "recovery/rebuilt_meta.h"
#include "seendb/status.h"

namespace seendb {

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
  /// Adds a row, and a deletion, that was read of a family that has been made. `sequence` is
  /// RocksDB's, 0 where it is not known; it counts for the family `default` alone, whose rows wait
  /// for WriteTaken. kIncompatible: only newer software may go on with it.
  Status Take(const std::string& family, const rocksdb::Slice& key, const rocksdb::Slice& value,
              uint64_t sequence);
  Status Delete(const std::string& family, const rocksdb::Slice& key, uint64_t sequence);
  /// Adds what was taken of the family `default`, once all of it was read.
  Status WriteTaken(int64_t now_ms);
  /// Adds to the family `default`, and takes out of it.
  Status PutMeta(const rocksdb::Slice& key, const rocksdb::Slice& value);
  Status DeleteMeta(const rocksdb::Slice& key);
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
  /// What was taken of the family `default`.
  const RebuiltMeta& taken() const { return taken_; }

 private:
  rocksdb::ColumnFamilyHandle* Handle(const std::string& family) const;
  void TakeMeta(const rocksdb::Slice& key, const rocksdb::Slice& value, uint64_t sequence);
  void SawSequence(uint64_t sequence);
  rocksdb::Status Close();

  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::WriteBatch batch_;
  RebuiltMeta taken_;
  uint64_t epoch_ = 0;
};

}  // namespace seendb
