#include "shard/drain_history.h"

#include <algorithm>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "shard/drain.h"
#include "shard/verdict.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kHistoryBatchBytes = 1 << 20;
constexpr size_t kHistoryBatchRecords = 2048;

// Where the entries of one collection go, from one batch to the next found anew.
struct Target {
  std::string name;
  const CollectionFamilies* collection = nullptr;  // of the set below
  bool former = false;                             // deleted since
  int64_t oldest = 0;                              // bucket that takes rows
  std::shared_ptr<HistoryBucket> bucket{};
};

using Entries = std::vector<const HistoryStaging::Entry*>;

// For LoadedRecords: those of the next batch, or more. An erased entry has its user still.
auto UsersFrom(const Entries& entries, size_t at) {
  return [&entries, at](const auto& visit) {
    const HistoryStaging::User* last = nullptr;
    for (size_t i = at; i < std::min(entries.size(), at + kHistoryBatchRecords); ++i) {
      if (entries[i]->user == last) continue;
      last = entries[i]->user;
      visit(std::string_view(last->name));
    }
  };
}

// Words that were said in earlier buckets than the entry's go into these: so they leave with them,
// and with deletions that cover them, as if they had been drained when they were said.
Status MergeEarlier(ShardStore& store, const Target& to, const std::string& key,
                    HistoryState earlier, rocksdb::WriteBatch* batch) {
  std::string value;
  while (earlier.at_ms != kNoTimeMs) {
    const int64_t index = BucketIndexOf(to.collection->policy, earlier.at_ms);
    if (index < to.oldest) return {};  // all that is left has expired
    const Result<std::shared_ptr<HistoryBucket>> bucket =
        store.tables().EnsureHistoryBucket(to.name, index);
    if (!bucket.ok()) return bucket.status();
    const HistoryState before = earlier.TakeWordsBefore((*bucket)->begin_ms);
    EncodeHistory(earlier, &value);
    const rocksdb::Status merged = batch->Merge((*bucket)->states->get(), key, value);
    if (!merged.ok()) return FromRocks(merged, "drain history");
    earlier = before;
  }
  return {};
}

// Writes a batch of entries and moves `*from` on. No user is erased meanwhile, and no bucket
// dropped.
Status DrainSome(ShardParts& shard, const Entries& entries, const LoadedRecords& known,
                 size_t* from) REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  rocksdb::WriteBatch batch;
  std::string value;
  Target to;
  const HistoryStaging::User* user = nullptr;
  const UserRecord* record = nullptr;  // of the user
  uint64_t records = 0;
  std::vector<std::pair<std::string, const HistoryStaging::User*>> written;  // with collections
  size_t& at = *from;
  const size_t end = std::min(entries.size(), at + kHistoryBatchRecords);  // known that far
  for (; at < end && batch.GetDataSize() < kHistoryBatchBytes; ++at) {
    const HistoryStaging::Entry& entry = *entries[at];
    if (entry.at_ms == kNoTimeMs) continue;  // erased since
    if (user == nullptr || user->collection != entry.user->collection) {
      const NamedMaking of = shard.names->Find(entry.user->collection);
      to = {of.name, families->Find(of.name), families->IsFormer(of.name, of.making)};
      user = nullptr;
      if (!to.former && to.collection == nullptr) {
        return Status::Unavailable("the shard is being closed");
      }
    }
    if (to.former) {
      user = entry.user;
      continue;
    }
    if (user == nullptr) {
      to.oldest = OldestDrainedHistory(to.collection->policy, shard.clock->Look());
    }
    if (user != entry.user) {
      user = entry.user;
      record = known.Find(user->name);
    }
    if (!CountsInHistory(record, to.name, entry.at_ms)) continue;
    if (to.bucket == nullptr || entry.at_ms < to.bucket->begin_ms ||
        entry.at_ms >= to.bucket->end_ms) {
      const int64_t index = BucketIndexOf(to.collection->policy, entry.at_ms);
      if (index < to.oldest) {
        const int64_t end_ms = BucketBeginMs(to.collection->policy, index + 1);
        RETURN_IF_FAILED(shard.store->tables().NoteHistoryGone(to.name, end_ms - 1));
        continue;
      }
      Result<std::shared_ptr<HistoryBucket>> found =
          shard.store->tables().EnsureHistoryBucket(to.name, index);
      if (!found.ok()) return found.status();
      to.bucket = *found;
    }
    // What was cleared does not come to the disk with what came after.
    HistoryState state = entry.state();
    if (record != nullptr) state.EndWordsUpTo(record->Watermark(to.name));
    const HistoryState earlier = state.TakeWordsBefore(to.bucket->begin_ms);
    EncodeHistory(state, &value);
    const std::string key = HistoryKey(user->name, entry.item);
    rocksdb::Status status = batch.Merge(to.bucket->states->get(), key, value);
    if (status.ok()) {
      status = batch.Put(to.bucket->timeline->get(),
                         TimelineKey(user->name, entry.at_ms, entry.item), {});
    }
    if (!status.ok()) return FromRocks(status, "drain history");
    RETURN_IF_FAILED(MergeEarlier(*shard.store, to, key, earlier, &batch));
    ++records;
    if (written.empty() || written.back().second != user) written.emplace_back(to.name, user);
  }
  if (records == 0) return {};
  const rocksdb::Status status = shard.store->db()->Write(NotSynced(), &batch);
  shard.NoteRowWrite();
  for (const auto& [collection, of] : written) shard.written_users.Add(collection, of->name);
  if (!status.ok()) return FromRocks(status, "drain history");
  shard.counters->history_drained.fetch_add(records, std::memory_order_relaxed);
  return {};
}

}  // namespace

Status DrainHistory(ShardParts& shard, const HistoryStaging& staging) {
  const Entries entries = staging.Entries();
  SEENDB_PAUSE_POINT("drain: before history");
  for (size_t at = 0; at < entries.size();) {
    WaitForWrites(*shard.store);
    // Between batches users may be erased and buckets dropped.
    const Status drained = WithRecordsOf<SharedLock::Shared>(
        UsersFrom(entries, at), shard.users, shard.apply_lock, [&](const LoadedRecords& known) {
          shard.apply_lock.AssertHeldShared();
          return DrainSome(shard, entries, known, &at);
        });
    if (!drained.ok()) return drained;
  }
  return {};
}

}  // namespace seendb
