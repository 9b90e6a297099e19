#include "peers/rocks_table.h"

#include <algorithm>

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

namespace seendb::perf {
namespace {

void Must(const rocksdb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

}  // namespace

RocksTable::RocksTable(const PeerOptions& options, const std::string& name)
    : options_(options), path_(options.folder + "/" + name) {
  statistics_ = rocksdb::CreateDBStatistics();
  statistics_->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  Open();
}

// The tuning SeenDB uses, where it applies: no compression of bits, 16 KB blocks, whole-key
// filters, index and filters in the cache, the same cache and write buffers.
void RocksTable::Open() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = 64 << 20;
  options.max_background_jobs = 2;
  options.statistics = statistics_;
  if (options_.env != nullptr) options.env = options_.env;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16 << 10;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  table.block_cache = rocksdb::NewLRUCache(options_.block_cache_bytes, -1, false, 0.2);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  Must(rocksdb::DB::Open(options, path_, &db));
  db_.reset(db);
}

std::string RocksTable::Key(const std::string& user, int month) {
  std::string key = user;
  key += '/';
  key += static_cast<char>('0' + month);
  return key;
}

void RocksTable::Add(uint64_t user, int month, std::span<const uint64_t> items) {
  waiting_.push_back({Key(std::to_string(user), month), {items.begin(), items.end()}});
}

void RocksTable::Write(rocksdb::WriteBatch* batch) {
  Must(db_->Write({}, batch));
  batch->Clear();
}

void RocksTable::Drain() {
  // In key order, which RocksDB likes.
  std::sort(waiting_.begin(), waiting_.end(),
            [](const Waiting& a, const Waiting& b) { return a.key < b.key; });
  rocksdb::WriteBatch batch;
  std::string value;
  for (const Waiting& one : waiting_) {
    const rocksdb::Status got = db_->Get({}, one.key, &value);
    if (got.IsNotFound()) {
      value.clear();
    } else {
      Must(got);
    }
    Change(one.items, &value);
    Must(batch.Put(one.key, value));
    if (batch.GetDataSize() > (1 << 20)) Write(&batch);
  }
  Write(&batch);
  Must(db_->SyncWAL());
  waiting_.clear();
}

void RocksTable::EndMonth(int) { Settle(); }

void RocksTable::Settle() {
  Must(db_->Flush({}));
  Must(db_->CompactRange({}, nullptr, nullptr));
}

uint64_t RocksTable::Bytes() {
  uint64_t bytes = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &bytes);
  return bytes;
}

uint64_t RocksTable::LogBytes() { return statistics_->getTickerCount(rocksdb::WAL_FILE_BYTES); }

bool RocksTable::Reopen() {
  Must(db_->Close());
  db_.reset();
  Open();
  return true;
}

}  // namespace seendb::perf
