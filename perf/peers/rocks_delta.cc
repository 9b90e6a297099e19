// Exact ids: a user's month is the sorted list of its item ids, each as the difference to the one
// before in a varint (LEB128), in RocksDB; changed by reading it and writing it back.
//
// A question's candidates go into a small hash table, and the decoded ids are looked up in it: one
// pass, no set of the history is made.

#include <algorithm>
#include <bit>

#include "peers/rocks_table.h"

namespace seendb::perf {
namespace {

// Calls take(id) for each id, ascending.
template <typename Take>
void Decode(const char* data, size_t size, const Take& take) {
  const auto* at = reinterpret_cast<const uint8_t*>(data);
  const uint8_t* const end = at + size;
  uint64_t id = 0;
  while (at != end) {
    uint64_t delta = 0;
    for (unsigned shift = 0; at != end; shift += 7) {
      const uint8_t byte = *at++;
      delta |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    id += delta;
    take(id);
  }
}

void Encode(const std::vector<uint64_t>& ids, std::string* out) {
  out->clear();
  uint64_t last = 0;
  for (const uint64_t id : ids) {
    uint64_t delta = id - last;
    last = id;
    while (delta >= 0x80) {
      out->push_back(static_cast<char>(delta | 0x80));
      delta >>= 7;
    }
    out->push_back(static_cast<char>(delta));
  }
}

// A question's candidates by id: open addressing, at most half full.
class CandidateTable {
 public:
  void Fill(const std::vector<uint64_t>& ids) {
    const size_t size = std::bit_ceil(ids.size() * 2 + 2);
    shift_ = static_cast<unsigned>(64 - std::countr_zero(size));
    mask_ = size - 1;
    slots_.assign(size, {0, 0});
    for (size_t i = 0; i < ids.size(); ++i) {
      size_t at = Home(ids[i]);
      while (slots_[at].position != 0) at = (at + 1) & mask_;  // repeats get their own place
      slots_[at] = {ids[i], static_cast<uint32_t>(i + 1)};
    }
  }
  void Mark(uint64_t id, uint8_t* seen) const {
    for (size_t at = Home(id); slots_[at].position != 0; at = (at + 1) & mask_) {
      if (slots_[at].id == id) seen[slots_[at].position - 1] = 1;
    }
  }

 private:
  struct Slot {
    uint64_t id;
    uint32_t position;
  };
  size_t Home(uint64_t id) const { return (id * 0x9E37'79B9'7F4A'7C15ULL) >> shift_; }
  std::vector<Slot> slots_;
  size_t mask_ = 0;
  unsigned shift_ = 0;
};

class DeltaSession final : public Session {
 public:
  explicit DeltaSession(rocksdb::DB* db) : db_(db) {}
  void Ask(const Question& question, std::vector<uint32_t>* unseen) override {
    const size_t count = question.numbers.size();
    seen_.assign(count, 0);
    table_.Fill(question.numbers);
    for (int month = 0; month < kWindow; ++month) {
      const rocksdb::Status got = db_->Get({}, db_->DefaultColumnFamily(),
                                           RocksTable::Key(question.user_text, month), &value_);
      if (got.IsNotFound()) continue;
      if (!got.ok()) Fail(got.ToString());
      Decode(value_.data(), value_.size(), [&](uint64_t id) { table_.Mark(id, seen_.data()); });
      value_.Reset();
    }
    TakeUnseen(seen_, unseen);
  }

 private:
  rocksdb::DB* db_;
  rocksdb::PinnableSlice value_;
  CandidateTable table_;
  std::vector<uint8_t> seen_;
};

class RocksDelta final : public RocksTable {
 public:
  explicit RocksDelta(const PeerOptions& options) : RocksTable(options, "delta") {}
  std::unique_ptr<Session> Connect() override { return std::make_unique<DeltaSession>(db()); }

 private:
  void Change(std::span<const uint64_t> items, std::string* value) override {
    ids_.clear();
    Decode(value->data(), value->size(), [&](uint64_t id) { ids_.push_back(id); });
    const auto old = static_cast<int64_t>(ids_.size());
    ids_.insert(ids_.end(), items.begin(), items.end());
    std::sort(ids_.begin() + old, ids_.end());
    std::inplace_merge(ids_.begin(), ids_.begin() + old, ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    Encode(ids_, value);
  }

  std::vector<uint64_t> ids_;
};

}  // namespace

std::unique_ptr<Peer> MakeRocksDelta(const PeerOptions& options, std::string*) {
  return std::make_unique<RocksDelta>(options);
}

}  // namespace seendb::perf
