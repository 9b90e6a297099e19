#include "shard/drain.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>
#include <thread>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "filter/sort.h"
#include "format/filter_codec.h"
#include "shard/drain_history.h"
#include "shard/verdict.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kBatchRecords = 4096;
// How long a drain waits for calls that write into its slot. Not for ever: such a call may wait for
// a shard that is to be opened anew, and that for the drain to leave.
constexpr std::chrono::milliseconds kLongestPin{2'000};

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

// One merge record per user and bucket, in key order.
Status WriteMerges(ShardParts& shard, const Staging& staging, int64_t as_of_ms)
    REQUIRES(shard.drain_mutex) EXCLUDES(shard.apply_lock) {
  const std::vector<const Staging::Entry*> entries = staging.Entries();
  std::vector<Fingerprint> items;
  std::string delta;
  std::shared_ptr<Bucket> bucket;
  const Staging::Entry* bucket_of = nullptr;
  bool expired = false, former = false;
  for (size_t at = 0; at < entries.size();) {
    WaitForWrites(*shard.store);
    // Inside, no user is erased and no bucket dropped; both may happen between batches.
    const SharedLock::Shared inside(shard.apply_lock);
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
        const auto [name, making] = shard.names->Find(entry.collection);
        const std::shared_ptr<const FamilySet> families = shard.store->families();
        const CollectionFamilies* collection = families->Find(name);
        former = families->IsFormer(name, making);
        if (former) continue;  // deleted since
        expired = collection == nullptr ||
                  entry.bucket < OldestDrained(collection->policy, shard.clock->Look());
        if (expired) {
          RETURN_IF_FAILED(shard.store->tables().NoteFiltersGone(name, entry.bucket));
        } else {
          Result<std::shared_ptr<Bucket>> found =
              shard.store->tables().EnsureBucket(name, entry.bucket);
          if (!found.ok()) return found.status();
          bucket = *found;
        }
      }
      if (former) continue;
      if (expired) {
        shard.counters->drained_expired.fetch_add(entry.count, std::memory_order_relaxed);
        continue;
      }
      items.assign(entry.items, entry.items + entry.count);
      SortUnique(&items);
      EncodeDelta(as_of_ms, items, &delta);
      const rocksdb::Status status = batch.Merge(
          bucket->family->get(), rocksdb::Slice(entry.user_bytes, entry.user_size), delta);
      if (!status.ok()) return FromRocks(status, "drain");
      if (bucket->sealed.load(std::memory_order_relaxed)) {
        late.Add(shard.names->Find(entry.collection).name, bucket, items.size());
      }
      plays += items.size();
      ++records;
    }
    if (records == 0) continue;
    rocksdb::Status status = late.AddTo(&batch, shard.store->meta());
    SEENDB_PAUSE_POINT("drain: batch made");
    if (status.ok()) status = shard.store->db()->Write(NotSynced(), &batch);
    if (!status.ok()) return FromRocks(status, "drain");
    late.Commit();
    shard.counters->drained_plays.fetch_add(plays, std::memory_order_relaxed);
    shard.counters->drained_records.fetch_add(records, std::memory_order_relaxed);
  }
  return {};
}

Status DrainSlot(ShardParts& shard, const SlotContents& slot) REQUIRES(shard.drain_mutex)
    EXCLUDES(shard.apply_lock) {
  Status status = WriteMerges(shard, *slot.staging, slot.closed_ms);
  if (status.ok()) status = DrainHistory(shard, *slot.history);
  SEENDB_PAUSE_POINT("drain: merged");
  if (status.ok()) status = shard.store->SyncWal();
  if (status.ok()) status = shard.store->tables().ResetRingFamily(slot.position);
  return status;
}

}  // namespace

void WaitForWrites(const ShardStore& store) {
  for (int waited = 0; waited < 400; ++waited) {
    uint64_t stopped = 0, delayed = 0;
    store.db()->GetIntProperty(rocksdb::DB::Properties::kIsWriteStopped, &stopped);
    store.db()->GetIntProperty(rocksdb::DB::Properties::kActualDelayedWriteRate, &delayed);
    if (stopped == 0 && delayed == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Status DrainClosed(ShardParts& shard, size_t most) {
  const MutexLock one(shard.drain_mutex);
  for (size_t drained_slots = 0; drained_slots < most; ++drained_slots) {
    if (shard.ring.ClosedSlots() == 0) return {};
    RETURN_IF_FAILED(shard.store->CheckWritable());
    const std::optional<SlotContents> slot = shard.ring.BeginDrain(kLongestPin);
    if (!slot) {
      return Status::Busy("plays are still being written into the slot that is to be drained");
    }
    const auto begin = std::chrono::steady_clock::now();
    Status drained = DrainSlot(shard, *slot);
    const auto spent = std::chrono::steady_clock::now() - begin;
    shard.counters->drain_us.fetch_add(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(spent).count()),
        std::memory_order_relaxed);
    shard.ring.EndDrain(slot->position, drained.ok());
    (drained.ok() ? shard.counters->drains : shard.counters->drain_failures)
        .fetch_add(1, std::memory_order_relaxed);
    if (!drained.ok()) return drained;
  }
  return {};
}

}  // namespace seendb
