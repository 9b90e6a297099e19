// tests/support/raw_shard.h: a shard's RocksDB opened behind the engine's back, while no engine
// has it open: to put poison in, to look, to find a bucket's files.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>

namespace seendb {

/// See the head of this file. Failures are test failures.
class RawShard {
 public:
  /// `database` is the engine's folder on `env`.
  explicit RawShard(const std::string& database, uint32_t shard = 0,
                    rocksdb::Env* env = rocksdb::Env::Default());
  ~RawShard();
  RawShard(const RawShard&) = delete;
  RawShard& operator=(const RawShard&) = delete;

  rocksdb::DB* db() { return db_; }
  /// A family by its name, "seen/default/2026-03".
  rocksdb::ColumnFamilyHandle* family(const std::string& name);
  /// Names of all families.
  std::vector<std::string> families() const;

  void Put(const std::string& family, const std::string& key, const std::string& value);
  void Merge(const std::string& family, const std::string& key, const std::string& operand);
  void Flush(const std::string& family);
  /// All of a family, merged.
  std::map<std::string, std::string> All(const std::string& family);
  /// Paths of a family's SST files.
  std::vector<std::string> Files(const std::string& family);

 private:
  rocksdb::DB* db_ = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace seendb
