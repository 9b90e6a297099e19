// Draining a closed slot: one merge record a user and bucket, in key order, then the journal goes.

#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>
#include <thread>

#include "base/pause_point.h"
#include "filter/sort.h"
#include "format/filter_codec.h"
#include "ring/ring.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kBatchRecords = 4096;
// How long a drain waits for calls that write into its slot. Not for ever: such a call may wait for
// a shard that is to be opened anew, and that for the drain to leave.
constexpr std::chrono::seconds kLongestPin{2};

// What one batch merges into sealed buckets. The counts are written with it, so that a restart
// knows how much each has grown. One drain at a time is the only writer of them.
class LateItems {
 public:
  // Precondition: the calls for one bucket follow each other.
  void Add(const std::string& collection, const std::shared_ptr<Bucket>& bucket, uint64_t items) {
    if (late_.empty() || late_.back().bucket != bucket) {
      assert(std::none_of(late_.begin(), late_.end(),
                          [&](const Late& one) { return one.bucket == bucket; }));
      late_.push_back({collection, bucket, 0});
    }
    late_.back().items += items;
  }
  rocksdb::Status AddTo(rocksdb::WriteBatch* batch, rocksdb::ColumnFamilyHandle* meta) const {
    rocksdb::Status status;
    for (const Late& one : late_) {
      const uint64_t total = one.bucket->late_total + one.items;
      if (!status.ok()) break;
      status = batch->Put(meta, LateKey(one.collection, one.bucket->label), std::to_string(total));
    }
    return status;
  }
  // They are written. A seal that begins before this does not take them for its own.
  void Commit() {
    for (const Late& one : late_) {
      one.bucket->late_total += one.items;
      one.bucket->late_items += one.items;
    }
  }

 private:
  struct Late {
    std::string collection;
    std::shared_ptr<Bucket> bucket;
    uint64_t items;
  };
  std::vector<Late> late_;
};

}  // namespace

Status Ring::DrainClosed() {
  const MutexLock one(drain_mutex_);
  while (true) {
    if (ClosedSlots() == 0) return {};
    const Status writable = store_->CheckWritable();
    if (!writable.ok()) return writable;
    const Result<uint32_t> oldest = BeginDrain();
    if (!oldest.ok()) return oldest.status();
    const auto begin = std::chrono::steady_clock::now();
    const Status status = DrainSlot(*oldest);
    const auto spent = std::chrono::steady_clock::now() - begin;
    counters_->drain_us.fetch_add(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(spent).count()),
        std::memory_order_relaxed);
    const Status ended = EndDrain(*oldest, status);
    if (!ended.ok()) return ended;
  }
}

Ring::Slot* Ring::OldestClosed() {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    if (slot.state != State::kClosed) continue;
    if (oldest == nullptr || slot.closed_order < oldest->closed_order) oldest = &slot;
  }
  return oldest;
}

Result<uint32_t> Ring::BeginDrain() {
  std::shared_ptr<SlotWriters> writers;
  {
    const ReaderLock lock(mutex_);
    writers = OldestClosed()->writers;
  }
  const auto deadline = std::chrono::steady_clock::now() + kLongestPin;
  if (writers != nullptr && !writers->presence.WaitUntilEmpty(deadline)) {
    return Status::Busy("plays are still being written into the slot that is to be drained");
  }
  const WriterLock lock(mutex_);
  Slot* const oldest = OldestClosed();  // the same: only drains, one at a time, take any away
  oldest->state = State::kDraining;
  return oldest->position;
}

Status Ring::EndDrain(uint32_t position, const Status& drained) {
  const WriterLock lock(mutex_);
  Slot& slot = slots_[position];
  assert(slot.state == State::kDraining);
  if (!drained.ok()) {
    slot.state = State::kClosed;
    counters_->drain_failures.fetch_add(1, std::memory_order_relaxed);
    return drained;
  }
  slot.state = State::kDrained;
  slot.history.reset();  // whoever comes now finds it in its families
  counters_->drains.fetch_add(1, std::memory_order_relaxed);
  EvictShortTerm();
  if (current_ == nullptr) OpenNext();
  return {};
}

Status Ring::DrainSlot(uint32_t position) {
  std::shared_ptr<Staging> staging;
  std::shared_ptr<HistoryStaging> history;
  int64_t as_of_ms = 0;
  {
    const ReaderLock lock(mutex_);
    assert(slots_[position].state == State::kDraining);
    staging = slots_[position].staging;
    history = slots_[position].history;
    as_of_ms = slots_[position].closed_ms;
  }
  Status status = WriteMerges(*staging, as_of_ms);
  if (status.ok()) status = WriteHistory(*history);
  if (status.ok()) status = store_->SyncWal();
  if (status.ok()) status = store_->ResetRingFamily(position);
  return status;
}

// Waits, for a bounded time, while RocksDB holds writes back.
void Ring::Pace() const {
  for (int waited = 0; waited < 400; ++waited) {
    uint64_t stopped = 0, delayed = 0;
    store_->db()->GetIntProperty(rocksdb::DB::Properties::kIsWriteStopped, &stopped);
    store_->db()->GetIntProperty(rocksdb::DB::Properties::kActualDelayedWriteRate, &delayed);
    if (stopped == 0 && delayed == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Status Ring::WriteMerges(const Staging& staging, int64_t as_of_ms) {
  const std::vector<const Staging::Entry*> entries = staging.Entries();
  std::vector<Fingerprint> items;
  std::string delta;
  std::shared_ptr<Bucket> bucket;
  const Staging::Entry* bucket_of = nullptr;
  bool expired = false, former = false;
  for (size_t at = 0; at < entries.size();) {
    Pace();
    // Inside, no user is erased and no bucket dropped; both may happen between batches.
    const SharedLock::Shared inside(apply_lock_);
    rocksdb::WriteBatch batch;
    LateItems late;
    bucket_of = nullptr;
    uint64_t plays = 0, records = 0;
    for (; at < entries.size() && batch.GetDataSize() < kBatchBytes && records < kBatchRecords;
         ++at) {
      const Staging::Entry& entry = *entries[at];
      if (entry.count == 0) continue;  // erased since
      if (bucket_of == nullptr || bucket_of->collection != entry.collection ||
          bucket_of->bucket != entry.bucket) {
        bucket_of = &entry;
        const auto [name, making] = names_->Find(entry.collection);
        const std::shared_ptr<const FamilySet> families = store_->families();
        const CollectionFamilies* collection = families->Find(name);
        former = families->IsFormer(name, making);
        if (former) continue;  // deleted since
        const Present now = clock_->Look();
        expired = collection == nullptr ||
                  (!now.in_doubt &&
                   entry.bucket <= BucketIndexOf(collection->policy, now.ms) -
                                       static_cast<int64_t>(collection->policy.retention));
        if (expired) {
          const Status noted = store_->NoteFiltersGone(name, entry.bucket);
          if (!noted.ok()) return noted;
        } else {
          Result<std::shared_ptr<Bucket>> found = store_->EnsureBucket(name, entry.bucket);
          if (!found.ok()) return found.status();
          bucket = *found;
        }
      }
      if (former) continue;
      if (expired) {
        counters_->drained_expired.fetch_add(entry.count, std::memory_order_relaxed);
        continue;
      }
      items.assign(entry.items, entry.items + entry.count);
      SortUnique(&items);
      EncodeDelta(as_of_ms, items, &delta);
      const rocksdb::Status status = batch.Merge(
          bucket->family->get(), rocksdb::Slice(entry.user_bytes, entry.user_size), delta);
      if (!status.ok()) return FromRocks(status, "drain");
      if (bucket->sealed.load(std::memory_order_relaxed)) {
        late.Add(names_->Find(entry.collection).name, bucket, items.size());
      }
      plays += items.size();
      ++records;
    }
    if (records == 0) continue;
    rocksdb::Status status = late.AddTo(&batch, store_->meta());
    SEENDB_PAUSE_POINT("drain: batch made");
    if (status.ok()) status = store_->db()->Write(NotSynced(), &batch);
    if (!status.ok()) return FromRocks(status, "drain");
    late.Commit();
    counters_->drained_plays.fetch_add(plays, std::memory_order_relaxed);
    counters_->drained_records.fetch_add(records, std::memory_order_relaxed);
  }
  return {};
}

void Ring::EvictShortTerm() {
  while (true) {
    uint64_t bytes = 0;
    Slot* oldest = nullptr;
    for (Slot& slot : slots_) {
      if (slot.state != State::kDrained || slot.staging == nullptr) continue;
      bytes += slot.staging->bytes();
      if (oldest == nullptr || slot.closed_order < oldest->closed_order) oldest = &slot;
    }
    if (oldest == nullptr || bytes <= options_.short_term_bytes) return;
    oldest->staging.reset();
  }
}

}  // namespace seendb
