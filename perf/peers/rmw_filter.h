// perf/peers/rmw_filter.h: the disk-KV way: the hourly job reads each user's Bloom filter from
// RocksDB, sets the bits of the hour's items and writes the whole filter back. The same block
// filter, sized for the month, without layers or lists.

#pragma once

#include <memory>
#include <span>
#include <string>

#include <rocksdb/db.h>

#include "filter/block_bloom.h"
#include "filter/sizing.h"
#include "scenario/scenario.h"

namespace seendb::perf {

/// See the head of this file.
class RmwFilters {
 public:
  /// Filters of `capacity` items at a false-positive rate of `fpr`.
  RmwFilters(const std::string& path, uint64_t capacity, double fpr)
      : blocks_(BlocksFor(capacity, fpr)) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.write_buffer_size = 64 << 20;
    options.max_background_jobs = 2;
    options.statistics = rocksdb::CreateDBStatistics();
    statistics_ = options.statistics;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options, path, &db);
    if (!status.ok()) std::abort();
    db_.reset(db);
  }

  /// Reads, changes and writes back one user's filter.
  void Add(const std::string& user, std::span<const Fingerprint> items,
           rocksdb::WriteBatch* batch) {
    const rocksdb::Status got = db_->Get({}, user, &bits_);
    if (got.IsNotFound()) bits_.assign(blocks_ * kBlockBytes, '\0');
    InsertMany(reinterpret_cast<uint8_t*>(bits_.data()), blocks_, items.data(), items.size());
    if (!batch->Put(user, bits_).ok()) std::abort();
  }
  void Write(rocksdb::WriteBatch* batch) {
    if (!db_->Write({}, batch).ok()) std::abort();
    batch->Clear();
  }
  void Sync() {
    if (!db_->SyncWAL().ok()) std::abort();
  }
  uint64_t wal_bytes() const { return statistics_->getTickerCount(rocksdb::WAL_FILE_BYTES); }

 private:
  const uint64_t blocks_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
  std::string bits_;
};

}  // namespace seendb::perf
