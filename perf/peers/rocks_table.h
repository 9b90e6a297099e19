// peers/rocks_table.h: what the two RocksDB peers share: a table of one value a user and month,
// changed by reading it and writing it back at the end of each hour.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "peers/peer.h"

namespace seendb::perf {

/// A database of values by user and month, and the hour's plays waiting for their turn in memory
/// (where the real systems keep them in Redis).
class RocksTable : public Peer {
 public:
  RocksTable(const PeerOptions& options, const std::string& name);

  void Add(uint64_t user, int month, std::span<const uint64_t> items) override;
  void Drain() override;
  void EndMonth(int month) override;
  void Settle() override;
  uint64_t Bytes() override;
  uint64_t LogBytes() override;
  bool Reopen() override;

  /// The key of a user's month: of the user's text, as a service has it.
  static std::string Key(const std::string& user, int month);
  rocksdb::DB* db() { return db_.get(); }

 protected:
  /// Changes one value, empty at first.
  virtual void Change(std::span<const uint64_t> items, std::string* value) = 0;

 private:
  struct Waiting {
    std::string key;
    std::vector<uint64_t> items;
  };
  void Open();
  void Write(rocksdb::WriteBatch* batch);

  const PeerOptions options_;
  const std::string path_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<Waiting> waiting_;
};

}  // namespace seendb::perf
