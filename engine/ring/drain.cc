// Draining a closed slot: one merge record a user and bucket, in key order, then the journal goes.

#include <algorithm>
#include <chrono>
#include <thread>

#include "filter/sort.h"
#include "format/filter_codec.h"
#include "ring/ring.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kBatchRecords = 4096;

}  // namespace

Status Ring::DrainClosed() {
  const std::lock_guard one(drain_mutex_);
  while (true) {
    if (ClosedSlots() == 0) return {};
    const Status writable = store_->CheckWritable();
    if (!writable.ok()) return writable;
    Slot* oldest = nullptr;
    {
      const std::unique_lock lock(mutex_);
      for (Slot& slot : slots_) {
        if (slot.state != State::kClosed) continue;
        if (oldest == nullptr || slot.closed_order < oldest->closed_order) oldest = &slot;
      }
      if (oldest == nullptr) return {};
      oldest->state = State::kDraining;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Status status = DrainSlot(oldest->position);
    const auto spent = std::chrono::steady_clock::now() - begin;
    counters_->drain_us.fetch_add(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(spent).count()),
        std::memory_order_relaxed);
    const std::unique_lock lock(mutex_);
    if (!status.ok()) {
      oldest->state = State::kClosed;
      counters_->drain_failures.fetch_add(1, std::memory_order_relaxed);
      return status;
    }
    oldest->state = State::kDrained;
    oldest->history.reset();  // whoever comes now finds it in its families
    counters_->drains.fetch_add(1, std::memory_order_relaxed);
    EvictShortTerm();
    if (current_ == nullptr) OpenNext();
  }
}

Status Ring::DrainSlot(uint32_t position) {
  std::shared_ptr<Staging> staging;
  std::shared_ptr<HistoryStaging> history;
  int64_t as_of_ms = 0;
  {
    const std::shared_lock lock(mutex_);
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
  rocksdb::WriteOptions options;
  options.ignore_missing_column_families = true;
  std::shared_ptr<Bucket> bucket;
  const Staging::Entry* bucket_of = nullptr;
  bool expired = false;
  for (size_t at = 0; at < entries.size();) {
    Pace();
    // Inside, no user is erased and no bucket dropped; both may happen between batches.
    const Gate::Scope inside(gate_);
    rocksdb::WriteBatch batch;
    bucket_of = nullptr;
    uint64_t plays = 0, records = 0;
    for (; at < entries.size() && batch.GetDataSize() < kBatchBytes && records < kBatchRecords;
         ++at) {
      const Staging::Entry& entry = *entries[at];
      if (entry.count == 0) continue;  // erased since
      if (bucket_of == nullptr || bucket_of->collection != entry.collection ||
          bucket_of->bucket != entry.bucket) {
        bucket_of = &entry;
        const std::string name = names_->Name(entry.collection);
        const std::shared_ptr<const FamilySet> families = store_->families();
        const CollectionFamilies* collection = families->Find(name);
        expired = collection == nullptr ||
                  entry.bucket <= BucketIndexOf(collection->policy, clock_->NowMs()) -
                                      static_cast<int64_t>(collection->policy.retention);
        if (!expired) {
          Result<std::shared_ptr<Bucket>> found = store_->EnsureBucket(name, entry.bucket);
          if (!found.ok()) return found.status();
          bucket = *found;
        }
      }
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
      if (bucket->sealed.load(std::memory_order_relaxed)) bucket->late_items += items.size();
      plays += items.size();
      ++records;
    }
    if (records == 0) continue;
    const rocksdb::Status status = store_->db()->Write(options, &batch);
    if (!status.ok()) return FromRocks(status, "drain");
    counters_->drained_plays.fetch_add(plays, std::memory_order_relaxed);
    counters_->drained_records.fetch_add(records, std::memory_order_relaxed);
  }
  return {};
}

// Precondition: mutex_ held alone.
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
