#include "shard/erase.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/return_if_failed.h"
#include "format/counts_codec.h"
#include "format/impressions_codec.h"
#include "shard/erasure.h"
#include "shard/history_clear.h"
#include "shard/history_reader.h"
#include "shard/marks.h"
#include "shard/own_sets.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// From one failure to go on with an erasure to the next try: twice as long each time.
constexpr int64_t kFirstErasePauseMs = 1'000;
constexpr int64_t kLongestErasePauseMs = 3'600'000;

// The keys erasing/<user>.
Status ListErasures(const ShardStore& store, std::map<std::string, int64_t>* users) {
  const std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator({}, store.meta()));
  const rocksdb::Slice prefix(kErasingPrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    rocksdb::Slice user = it->key();
    user.remove_prefix(prefix.size());
    // Where the value can't be read, the user's record says until when.
    (*users)[user.ToString()] = ParseErasingState(it->value().ToStringView()).value_or(kNeverMs);
  }
  return FromRocks(it->status(), "look for erasures");
}

// The newest time of what a collection has, or had, of a user, where it is known: history, what
// cleared it or was deleted ahead of the clock, impressions, exposures and counts keep times; where
// there is no history, a bucket that has not begun has plays up to its end.
int64_t NewestKnownMs(const ShardParts& shard, const Collection& of, const std::string& user,
                      int64_t now_ms) {
  const int64_t reach_ms = now_ms + of.policy.max_future_ms;
  ReadGaps gaps;
  HistoryReader reader(shard, of, user, now_ms, &gaps);
  int64_t newest_ms = reader.NewestMs(reach_ms);
  if (const auto settings = shard.users.Find(user)) {
    const auto marks = settings->marks.find(of.name);
    if (marks != settings->marks.end()) {
      newest_ms = std::max(newest_ms, marks->second.cleared_at_ms);
      for (const auto& [item, deletion] : marks->second.deletions_ahead) {
        newest_ms = std::max(newest_ms, deletion.until_ms);
      }
    }
  }
  if (reader.family() == nullptr) return std::min(newest_ms, reach_ms);
  std::string value;
  const auto has = [&](const std::shared_ptr<Family>& family) {
    return family != nullptr && shard.store->db()->Get({}, family->get(), user, &value).ok();
  };
  ImpressionList list;
  for (const auto& family : {reader.family()->impressions, reader.family()->exposures}) {
    if (!has(family) || !list.Parse(value)) continue;
    for (const ImpressionEntry& entry : list.entries) {
      newest_ms = std::max(newest_ms, entry.at_ms);
    }
  }
  CountList counts;
  if (has(reader.family()->counts) && counts.Parse(value)) {
    for (const CountEntry& entry : counts.entries) newest_ms = std::max(newest_ms, entry.at_ms);
  }
  if (of.policy.history.enabled) return std::min(newest_ms, reach_ms);
  const int64_t next = BucketIndexOf(of.policy, now_ms) + 1;
  std::vector<Fingerprint> staged;
  BucketSpan buckets;
  shard.ring.Collect(of.id, user, next, false, &staged, &buckets);
  if (!staged.empty()) return reach_ms;
  for (const auto& [index, bucket] : reader.family()->buckets) {
    if (index < next) break;
    if (has(bucket->family)) newest_ms = std::max(newest_ms, bucket->end_ms - 1);
  }
  return std::min(newest_ms, reach_ms);
}

// The newest time that the user's marks were said, or deleted, at.
int64_t NewestSaidMs(const ShardParts& shard, const std::string& user, int64_t now_ms) {
  rocksdb::PinnableSlice value;
  MarkList list;
  if (!LoadMarks(shard, user, &value, &list).ok()) return kNeverMs;
  int64_t newest_ms = kNeverMs;
  for (const StoredMark& mark : list.marks) newest_ms = std::max(newest_ms, mark.said_ms);
  for (const MarkDeletion& gone : list.deletions) newest_ms = std::max(newest_ms, gone.at_ms);
  return std::min(newest_ms, now_ms + kMostAheadMs);
}

// Whether plays may come out of a log.
bool ReadsLog(ShardParts& shard) {
  const MutexLock lock(shard.sources.mutex());
  return !shard.sources.records().empty();
}

// Deletes the rows of an erasure that is on disk, of history and of the outbox. Where it fails, it
// is gone on with later: nothing up to the erasure counts meanwhile.
Status EraseRows(ShardParts& shard, const std::string& user, int64_t at_ms)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock) {
  shard.use.AssertHeldShared();
  UserRecordPtr record;
  Status first = shard.users.Find(user, RecordTier::kDisk, &record);
  const uint64_t seq = record == nullptr ? 0 : record->erased_seq;
  const int64_t up_to_ms = seq == 0 ? at_ms : std::max(at_ms, record->erased_at_ms);
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  for (const auto& [name, collection] : families->collections) {
    if (collection.history.empty()) continue;
    Status gone = DeleteHistoryRows(shard, {name, user, up_to_ms, true});
    if (first.ok()) first = std::move(gone);
  }
  Status removed = shard.outbox.Erase(user, seq == 0 ? UINT64_MAX : seq);
  if (first.ok()) first = std::move(removed);
  // An erasure holds the apply lock alone: here there is none of the user between its look and its
  // end.
  const auto end = [&](const LoadedRecords& known) -> Status {
    const UserRecord* const now = known.Find(user);
    // A later one has rows of its own to delete.
    if ((now == nullptr ? 0 : now->erased_seq) != seq) return {};
    return FromRocks(shard.store->db()->Delete(NotSynced(), shard.store->meta(), ErasingKey(user)),
                     "end an erasure");
  };
  if (first.ok()) {
    first = WithRecordsOf<SharedLock::Shared>(OneUser(user), shard.users, shard.apply_lock, end);
  }
  if (!first.ok()) {
    const MutexLock lock(shard.erasures.mutex);
    shard.erasures.users[user] = up_to_ms;
  }
  return first;
}

}  // namespace

// A known time ahead of the clock stays erased as well: its event may be delivered again.
Status EraseUser(ShardParts& shard, const std::string& user, const CollectionMap& collections,
                 const EraseOptions& options, Erasure* erasure) {
  shard.use.AssertHeldShared();
  const int64_t asked_ms = options.at_ms.ms.value_or(shard.clock->NowMs());
  int64_t at_ms = asked_ms;
  for (const auto& [name, collection] : collections) {
    at_ms = std::max(at_ms, NewestKnownMs(shard, *collection, user, asked_ms));
  }
  at_ms = std::max(at_ms, NewestSaidMs(shard, user, asked_ms));
  at_ms = std::max(at_ms, NewestSetMs(shard, user, asked_ms + kMostAheadMs));
  Erasure done;
  Status erased = CommitErase(shard, user, at_ms, options.always || ReadsLog(shard), &done);
  if (erased.ok() && done.written) erased = EraseRows(shard, user, at_ms);
  if (!erased.ok()) return erased;
  if (done.written) {
    shard.traces.erasures.fetch_add(1);
    shard.counters->users_erased.fetch_add(1, std::memory_order_relaxed);
    const auto settings = shard.users.Find(user);  // an earlier one may reach further
    done.until_ms = settings == nullptr ? at_ms : std::max(at_ms, settings->erased_at_ms);
  }
  if (erasure != nullptr) *erasure = done;
  return {};
}

Status ResumeErasures(ShardParts& shard) {
  shard.use.AssertHeldShared();
  if (!shard.store->CheckWritable().ok()) return {};  // it is opened anew first
  UnfinishedErasures& left = shard.erasures;
  std::map<std::string, int64_t> users;
  {
    const MutexLock lock(left.mutex);
    if (left.epoch != shard.store->epoch()) {
      RETURN_IF_FAILED(ListErasures(*shard.store, &left.users));
      left.epoch = shard.store->epoch();
    }
    const bool rests = shard.options.background && std::chrono::steady_clock::now() < left.next;
    if (left.users.empty() || rests) return {};
    users.swap(left.users);
  }
  Status first;
  for (const auto& [user, at_ms] : users) {
    Status erased = EraseRows(shard, user, at_ms);
    if (first.ok()) first = std::move(erased);
  }
  shard.traces.erasures.fetch_add(1);
  const MutexLock lock(left.mutex);
  left.tries = first.ok() ? 0 : left.tries + 1;
  const int64_t pause_ms = std::min(kFirstErasePauseMs << std::min(std::max(left.tries - 1, 0), 20),
                                    kLongestErasePauseMs);
  left.next =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(first.ok() ? 0 : pause_ms);
  return first.code() == StatusCode::kUnavailable ? Status() : first;
}

}  // namespace seendb
