// The disk-KV way: one Bloom filter of a fixed size a user and month in RocksDB; the hourly job
// reads it, sets the bits of the hour's items and writes it whole. SeenDB's own block filter and
// kernels, sized for the month, without lists or layers.

#include "filter/block_bloom.h"
#include "filter/hash.h"
#include "filter/sizing.h"
#include "peers/rocks_table.h"

namespace seendb::perf {
namespace {

class RmwSession final : public Session {
 public:
  RmwSession(rocksdb::DB* db, uint64_t blocks) : db_(db), blocks_(blocks) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    const size_t count = question.ids.size();
    fingerprints_.resize(count);
    hits_.resize(count);
    seen_.assign(count, 0);
    FingerprintsOf(question.ids, fingerprints_.data());
    for (int month = 0; month < kWindow; ++month) {
      const rocksdb::Status got = db_->Get({}, db_->DefaultColumnFamily(),
                                           RocksTable::Key(question.user_text, month), &value_);
      if (got.IsNotFound()) continue;
      if (!got.ok() || value_.size() != blocks_ * kBlockBytes) Fail("a filter can't be read");
      ProbeMany(reinterpret_cast<const uint8_t*>(value_.data()), blocks_, fingerprints_.data(),
                count, hits_.data());
      for (size_t i = 0; i < count; ++i) seen_[i] |= hits_[i];
      value_.Reset();
    }
    TakeUnseen(seen_, unseen);
  }

 private:
  rocksdb::DB* db_;
  const uint64_t blocks_;
  rocksdb::PinnableSlice value_;
  std::vector<Fingerprint> fingerprints_;
  std::vector<uint8_t> hits_, seen_;
};

class RocksRmw final : public RocksTable {
 public:
  explicit RocksRmw(const PeerOptions& options)
      : RocksTable(options, "rmw"), blocks_(BlocksFor(options.items_a_month, options.fpr)) {}
  std::unique_ptr<Session> Connect() override {
    return std::make_unique<RmwSession>(db(), blocks_);
  }

 private:
  void Change(std::span<const uint64_t> items, std::string* value) override {
    value->resize(blocks_ * kBlockBytes, '\0');
    fingerprints_.clear();
    for (const uint64_t item : items) fingerprints_.push_back(FingerprintOf(IdRef(item)));
    InsertMany(reinterpret_cast<uint8_t*>(value->data()), blocks_, fingerprints_.data(),
               fingerprints_.size());
  }

  const uint64_t blocks_;
  std::vector<Fingerprint> fingerprints_;
};

}  // namespace

std::unique_ptr<Peer> MakeRocksRmw(const PeerOptions& options, std::string*) {
  return std::make_unique<RocksRmw>(options);
}

}  // namespace seendb::perf
