#include "recovery/salvage.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <rocksdb/snapshot.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

namespace seendb {
namespace {

// Gaps narrower than this many halvings of the keys between two damaged blocks are given up.
constexpr int kDepthMax = 12;
constexpr size_t kKeyBytes = 255;

std::string After(const std::string& key) { return key + '\0'; }

// A key about half way between two, as numbers behind what they share.
std::string Midpoint(std::string_view low, std::string_view high) {
  size_t shared = 0;
  while (shared < low.size() && shared < high.size() && low[shared] == high[shared]) ++shared;
  const auto number = [shared](std::string_view key) {
    uint64_t value = 0;
    for (size_t i = 0; i < 7; ++i) {
      const size_t at = shared + i;
      value = value << 8 | (at < key.size() ? static_cast<uint8_t>(key[at]) : 0u);
    }
    return value;
  };
  const uint64_t middle = number(low) / 2 + number(high) / 2;
  std::string key(low.substr(0, shared));
  for (int shift = 48; shift >= 0; shift -= 8) key.push_back(static_cast<char>(middle >> shift));
  return key;
}

class Salvager {
 public:
  Salvager(rocksdb::Iterator* it,
           const std::function<void(std::string_view, std::string_view)>& row, SalvagedTable* out)
      : row_(row), out_(out), it_(it) {}

  // Everything from the front, everything from the back, and between two damaged blocks what is
  // met by halving.
  void Run(const std::string& smallest, const std::string& largest) {
    std::string low = smallest, high = After(largest);
    it_->SeekToFirst();
    if (Forward({}, &low)) return;
    it_->SeekToLast();
    Backward(low, &high);
    Between(low, high, 0);
  }

 private:
  void Take() {
    row_(it_->key().ToStringView(), it_->value().ToStringView());
    ++out_->keys;
  }
  // True at the end (of the table, or before `end`); else `*low` is behind the last key read.
  bool Forward(const std::string& end, std::string* low) {
    for (; it_->Valid(); it_->Next()) {
      if (!end.empty() && it_->key().ToStringView() >= end) return true;
      Take();
      *low = After(it_->key().ToString());
    }
    return it_->status().ok();
  }
  // Down to `low`; `*high` is the last key read.
  void Backward(const std::string& low, std::string* high) {
    for (; it_->Valid() && it_->key().ToStringView() >= low; it_->Prev()) {
      Take();
      *high = it_->key().ToString();
    }
  }
  void Between(const std::string& low, const std::string& high, int depth) {
    if (low >= high) return;
    const std::string middle = Midpoint(low, high);
    if (depth == kDepthMax || middle <= low || middle >= high) {
      out_->lost.push_back({low, high});
      return;
    }
    it_->Seek(middle);
    std::string behind = middle, front = middle;
    if (it_->status().ok()) {
      if (Forward(high, &behind)) behind = high;
      it_->SeekForPrev(middle);
      Backward(low, &front);
    }
    Between(low, front, depth + 1);
    Between(behind, high, depth + 1);
  }

  const std::function<void(std::string_view, std::string_view)>& row_;
  SalvagedTable* const out_;
  rocksdb::Iterator* const it_;
};

// Neighbours become one.
void Join(std::vector<UserRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const UserRange& a, const UserRange& b) { return a.from < b.from; });
  std::vector<UserRange> joined;
  for (UserRange& range : *ranges) {
    if (!joined.empty() && joined.back().to >= range.from) {
      joined.back().to = std::max(joined.back().to, range.to);
    } else {
      joined.push_back(std::move(range));
    }
  }
  *ranges = std::move(joined);
}

// What a snapshot of that sequence would be.
class SnapshotAt final : public rocksdb::Snapshot {
 public:
  explicit SnapshotAt(uint64_t sequence) : sequence_(sequence) {}
  ~SnapshotAt() override = default;
  rocksdb::SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return 0; }
  uint64_t GetTimestamp() const override { return 0; }

 private:
  const uint64_t sequence_;
};

constexpr uint64_t kSequenceMax = (uint64_t{1} << 56) - 1;  // RocksDB's

}  // namespace

RowSequences::RowSequences(const rocksdb::Options& options, const std::string& path)
    : reader_(std::make_unique<rocksdb::SstFileReader>(options)) {
  if (!reader_->Open(path).ok()) reader_.reset();
}

RowSequences::~RowSequences() = default;

bool RowSequences::Sees(uint64_t sequence, std::string_view key, std::string_view value) const {
  const SnapshotAt snapshot(sequence);
  rocksdb::ReadOptions options;
  options.snapshot = &snapshot;
  const std::unique_ptr<rocksdb::Iterator> it(reader_->NewIterator(options));
  it->Seek({key.data(), key.size()});
  return it->Valid() && it->key().ToStringView() == key && it->value().ToStringView() == value;
}

uint64_t RowSequences::Of(std::string_view key, std::string_view value) const {
  if (reader_ == nullptr || !Sees(kSequenceMax, key, value)) return 0;
  uint64_t low = 0, high = kSequenceMax;  // `high` sees it
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (Sees(middle, key, value)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

TableOwner OwnerOfTable(rocksdb::Env* env, const std::string& path) {
  rocksdb::Options options;
  options.env = env;
  rocksdb::SstFileReader reader(options);
  if (!reader.Open(path).ok()) return {};
  const auto properties = reader.GetTableProperties();
  if (properties == nullptr) return {};
  return {properties->column_family_name, static_cast<uint32_t>(properties->column_family_id)};
}

SalvagedTable SalvageTable(const rocksdb::Options& options, const std::string& path,
                           std::string_view smallest, std::string_view largest,
                           const std::function<void(std::string_view, std::string_view)>& row) {
  SalvagedTable out;
  uint64_t bytes = 0;
  if (!options.env->GetFileSize(path, &bytes).ok()) bytes = 0;
  rocksdb::SstFileReader reader(options);
  const std::string top = largest.empty() ? std::string(kKeyBytes, '\xff') : std::string(largest);
  if (bytes == 0 || !reader.Open(path).ok()) {
    out.bytes_left = bytes;
    out.lost.push_back({std::string(smallest), After(top)});
    return out;
  }
  uint64_t read = 0;
  const auto counted = [&](std::string_view key, std::string_view value) {
    read += key.size() + value.size();
    row(key, value);
  };
  const std::function<void(std::string_view, std::string_view)> counting = counted;
  rocksdb::ReadOptions read_options;
  read_options.verify_checksums = true;
  read_options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(read_options));
  Salvager(it.get(), counting, &out).Run(std::string(smallest), top);
  Join(&out.lost);
  if (!out.lost.empty()) out.bytes_left = bytes - std::min(bytes, read);
  return out;
}

SalvagedTable SalvageRows(rocksdb::Iterator* rows,
                          const std::function<void(std::string_view, std::string_view)>& row) {
  SalvagedTable out;
  Salvager(rows, row, &out).Run({}, std::string(kKeyBytes, '\xff'));
  Join(&out.lost);
  return out;
}

}  // namespace seendb
