#include "shard/history_clear.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "shard/erasure.h"
#include "shard/history_reader.h"
#include "store/status.h"

namespace seendb {
namespace {

// Rows looked at and deleted at a time.
constexpr size_t kRowsAtOnce = 256;
// Looks without the apply lock, while others write rows, before one is done while holding it alone.
constexpr int kLooksOutside = 4;

// Some rows that go, rows that stay without words that go, and where to look for the next ones:
// empty at the end.
struct FoundRows {
  std::vector<std::string> keys;
  std::vector<std::pair<std::string, std::string>> rewritten;  // with their values
  std::string next;

  bool empty() const { return keys.empty() && rewritten.empty(); }
};

// Takes out of a value what was said up to that time; false where it has nothing of it.
bool StripWords(int64_t up_to_ms, HistoryValue* value, std::string* stripped) {
  const HistoryState before = value->state;
  value->state.EndWordsUpTo(up_to_ms);
  if (value->state == before) return false;
  value->Encode(stripped);
  return true;
}

Status FindRows(rocksdb::DB* db, const HistoryBucket& bucket, const GoneRows& gone, bool timeline,
                const std::string& from, FoundRows* found) {
  *found = {};
  const std::string end = HistoryPrefixEnd(gone.user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(
      db->NewIterator(options, (timeline ? bucket.timeline : bucket.states)->get()));
  size_t looked_at = 0;
  for (it->Seek(from); it->Valid() && looked_at < kRowsAtOnce; it->Next(), ++looked_at) {
    HistoryValue value;
    const bool readable = timeline || value.Parse(it->value().ToStringView());
    int64_t newest_ms = gone.up_to_ms;
    if (!readable && !gone.unreadable) newest_ms = bucket.end_ms - 1;
    if (readable && !timeline) newest_ms = value.state.time_ms();
    std::string stripped;
    if (newest_ms <= gone.up_to_ms) {
      found->keys.push_back(it->key().ToString());
    } else if (readable && !timeline && StripWords(gone.up_to_ms, &value, &stripped)) {
      found->rewritten.emplace_back(it->key().ToString(), std::move(stripped));
    }
  }
  if (it->Valid()) found->next = it->key().ToString();
  return FromRocks(it->status(), "look for history to delete");
}

Status DeleteRows(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const FoundRows& found) {
  rocksdb::WriteBatch batch;
  for (const std::string& key : found.keys) {
    const rocksdb::Status status = batch.Delete(family, key);
    if (!status.ok()) return FromRocks(status, "delete history");
  }
  for (const auto& [key, value] : found.rewritten) {
    const rocksdb::Status status = batch.Put(family, key, value);
    if (!status.ok()) return FromRocks(status, "delete history");
  }
  return FromRocks(db->Write(NotSynced(), &batch), "delete history");
}

// The marks of a clear: what it covers.
UserRecord ClearMarks(ShardParts& shard, std::span<const CollectionPtr> wanted,
                      const std::string& user, int64_t at_ms, const LoadedRecords& known)
    REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  UserRecord record;
  for (const CollectionPtr& of : wanted) {
    ReadGaps gaps;
    HistoryReader reader(shard, *of, user, at_ms, &gaps, &known);
    const int64_t newest_ms = reader.NewestMs(at_ms + of->policy.max_future_ms);
    record.marks[of->name].cleared_at_ms = std::max(at_ms, newest_ms);
  }
  return record;
}

Result<UserRecord> MarkCleared(ShardParts& shard, std::span<const CollectionPtr> wanted,
                               const std::string& user, std::optional<int64_t> at_ms)
    EXCLUDES(shard.apply_lock) {
  UserRecord record;
  Status cleared = WithRecordsOf<SharedLock::Shared>(
      OneUser(user), shard.users, shard.apply_lock, [&](const LoadedRecords& known) {
        shard.apply_lock.AssertHeldShared();
        record = ClearMarks(shard, wanted, user, at_ms.value_or(shard.clock->NowMs()), known);
        return shard.users.Unite(user, record);
      });
  if (!cleared.ok()) return cleared;
  return record;
}

// As an erasure, alone: no play is between its journal and the slot, no drain half way.
Result<UserRecord> ForgetAndClear(ShardParts& shard, std::span<const CollectionPtr> wanted,
                                  const std::string& user, std::optional<int64_t> at_ms)
    EXCLUDES(shard.apply_lock) {
  UserRecord record;
  Status forgotten = WithRecordsOf<SharedLock::Exclusive>(
      OneUser(user), shard.users, shard.apply_lock, [&](const LoadedRecords& known) {
        shard.apply_lock.AssertHeld();
        const int64_t asked_ms = at_ms.value_or(shard.clock->NowMs());
        record = ClearMarks(shard, wanted, user, asked_ms, known);
        return CommitForget(shard, user, asked_ms, &record);
      });
  if (!forgotten.ok()) return forgotten;
  return record;
}

// Goes on from `*from`, which is empty at the end. The rows are looked up while others write, and
// deleted while the lock is held alone, unless a row was written meanwhile: a state that a drain
// merges between the look and the deletion would be lost.
Status DeleteSomeRows(ShardParts& shard, const GoneRows& gone, int64_t index, bool timeline,
                      std::string* from) {
  const auto find_bucket = [&] {
    return shard.store->families()->FindBucket(&CollectionFamilies::history, gone.collection,
                                               index);
  };
  FoundRows found;
  for (int looks = 1;; ++looks) {
    RETURN_IF_FAILED(shard.store->CheckWritable());
    if (shard.store->database().giving_up()) {
      return Status::Unavailable("the shard is being closed");
    }
    const std::shared_ptr<HistoryBucket> bucket = find_bucket();
    if (bucket == nullptr) {  // dropped since
      from->clear();
      return {};
    }
    const uint64_t row_writes_before = shard.row_writes.load();
    Status status = FindRows(shard.store->db(), *bucket, gone, timeline, *from, &found);
    if (!status.ok()) return status;
    if (found.empty()) break;  // what does not go now never will
    SEENDB_PAUSE_POINT(timeline ? "clear: timeline looked at" : "clear: states looked at");
    const SharedLock::Exclusive alone(shard.apply_lock);
    if (shard.row_writes.load() != row_writes_before) {
      if (looks < kLooksOutside) continue;
      status = FindRows(shard.store->db(), *bucket, gone, timeline, *from, &found);
      if (!status.ok()) return status;
    }
    if (find_bucket() != bucket) continue;  // dropped since
    status =
        DeleteRows(shard.store->db(), (timeline ? bucket->timeline : bucket->states)->get(), found);
    if (!status.ok()) return status;
    shard.NoteRowWrite();  // whoever looked meanwhile would write a row back that is gone
    break;
  }
  *from = std::move(found.next);
  return {};
}

}  // namespace

// First the synced word that nothing up to a time counts; then the rows go.
Status ClearHistory(ShardParts& shard, const std::string& user,
                    std::span<const CollectionPtr> wanted, bool filter,
                    std::optional<int64_t> at_ms) {
  const Result<UserRecord> record =
      filter ? ForgetAndClear(shard, wanted, user, at_ms) : MarkCleared(shard, wanted, user, at_ms);
  if (!record.ok()) return record.status();
  // Nobody waits for the disk but the caller.
  RETURN_IF_FAILED(shard.store->SyncWal());
  shard.counters->history_cleared.fetch_add(record->marks.size(), std::memory_order_relaxed);
  SEENDB_PAUSE_POINT("clear: marked");
  for (const auto& [collection, marks] : record->marks) {
    RETURN_IF_FAILED(DeleteHistoryRows(shard, {collection, user, marks.cleared_at_ms}));
  }
  return {};
}

Status DeleteHistoryRows(ShardParts& shard, const GoneRows& gone) {
  std::vector<int64_t> buckets;
  {
    const std::shared_ptr<const FamilySet> families = shard.store->families();
    const CollectionFamilies* family = families->Find(gone.collection);
    if (family == nullptr) return Status::Unavailable("the shard is being closed");
    for (const auto& [index, bucket] : family->history) {
      if (bucket->begin_ms <= gone.up_to_ms) buckets.push_back(index);
    }
  }
  // The oldest first: who reads meanwhile meets no older state of what is gone.
  std::reverse(buckets.begin(), buckets.end());
  for (const int64_t index : buckets) {
    for (const bool timeline : {true, false}) {
      std::string from =
          timeline ? TimelineKey(gone.user, gone.up_to_ms, {}) : HistoryPrefix(gone.user);
      while (!from.empty()) {
        RETURN_IF_FAILED(DeleteSomeRows(shard, gone, index, timeline, &from));
      }
    }
  }
  return {};
}

}  // namespace seendb
