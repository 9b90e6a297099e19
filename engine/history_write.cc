// Changing history otherwise than by plays: items deleted, everything cleared, recording paused.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine_impl.h"
#include "history_reader.h"
#include "store/status.h"

namespace seendb {
namespace {

// Changes of a pause kept within retention, a user.
constexpr size_t kMaxToggles = 4'096;
// Rows deleted at a time, alone in the gate.
constexpr size_t kRowsAtOnce = 1'000;

Status UserFault(const Status& fault) {
  return Status(fault.code(), std::string(fault.message()), "/user");
}

// What is known of an item, and what can't be read of it but may be there, is covered; what does
// not count any more is as if it were not known.
int64_t CoverOf(const HistoryReader& reader, const FoundState& found, int64_t now_ms) {
  const int64_t reach_ms = now_ms + reader.collection().policy.max_future_ms;
  const int64_t known_ms = reader.Reaches(found.at_ms) ? found.at_ms : now_ms;
  return std::max({now_ms, known_ms, std::min(found.unread_to_ms, reach_ms)});
}

}  // namespace

// In one synced batch: a deletion of each item that covers all that is known of it, and, where the
// policy lets it be recommended again, its override. A play that comes meanwhile is older and
// covered, or newer and stays; but it could miss the override that it ends, so these are written
// alone.
Status EngineImpl::DeleteHistory(IdRef user, std::string_view collection,
                                 std::span<const IdRef> items) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  Status valid = user.Validate();
  if (!valid.ok()) return UserFault(valid);
  valid = CheckHistoryItems(items);
  if (!valid.ok()) return valid;
  const Result<Collection> of = FindHistory(collection);
  if (!of.ok()) return of.status();
  const std::string name = user.ToString();
  Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  std::optional<Gate::Scope> together;
  std::optional<Gate::Exclusive> alone;
  if (of->policy.history.deleted_items == DeletedItems::kRecommendAgain) {
    alone.emplace(shard.ring->gate());
  } else {
    together.emplace(shard.ring->gate());
  }
  const Status takes = shard.store->CheckWritable();
  if (!takes.ok()) return takes;
  const Status deleted = WriteDeletions(shard, *of, name, items);
  if (deleted.ok()) counters_.history_deleted.fetch_add(items.size(), std::memory_order_relaxed);
  return deleted;
}

// Precondition: inside the gate of the shard's ring.
Status EngineImpl::WriteDeletions(Shard& shard, const Collection& of, const std::string& user,
                                  std::span<const IdRef> items) {
  const int64_t now = clock_->NowMs();
  std::vector<std::string> texts;
  for (const IdRef& item : items) texts.push_back(item.ToString());
  Lacks lacks;
  HistoryReader reader(shard, of, user, now, &lacks);
  const std::vector<FoundState> found =
      reader.Find(std::vector<std::string_view>(texts.begin(), texts.end()));
  const bool again = of.policy.history.deleted_items == DeletedItems::kRecommendAgain;
  const std::shared_ptr<const UserRecord> settings = shard.ring->settings().Find(user);
  UserRecord record;
  std::string value;
  rocksdb::WriteBatch batch;
  for (size_t i = 0; i < texts.size(); ++i) {
    int64_t at_ms = CoverOf(reader, found[i], now);
    const Fingerprint fp = FingerprintOf(items[i]);
    if (again && settings != nullptr) {
      // A play that ended an override need not be in history.
      const auto marks = settings->marks.find(of.name);
      if (marks != settings->marks.end()) {
        const auto known = marks->second.overrides.find(fp);
        if (known != marks->second.overrides.end()) {
          at_ms = std::max(at_ms, known->second.at_ms);
        }
      }
    }
    const Result<std::shared_ptr<HistoryBucket>> bucket =
        shard.store->EnsureHistoryBucket(of.name, BucketIndexOf(of.policy, at_ms));
    if (!bucket.ok()) return bucket.status();
    EncodeHistory({at_ms, true, {}}, &value);
    const rocksdb::Status merged =
        batch.Merge((*bucket)->states->get(), HistoryKey(user, texts[i]), value);
    if (!merged.ok()) return FromRocks(merged, "delete from history");
    if (again) record.marks[of.name].overrides[fp] = {at_ms, shard.ring->NextSequence(), false};
  }
  if (again && !items.empty()) {
    record.forget_before_ms = OldestAccepted(now);
    record.Encode(&value);
    const rocksdb::Status merged = batch.Merge(shard.store->users(), user, value);
    if (!merged.ok()) return FromRocks(merged, "delete from history");
  }
  if (batch.Count() == 0) return {};
  const Status written =
      FromRocks(shard.store->db()->Write(Synced(), &batch), "delete from history");
  if (written.ok() && again) shard.ring->Settle(user, record);
  return written;
}

// The beginning of the longest retention, before which no play is accepted any more; and as much
// earlier as plays may be later than they come, so that what is kept of a pause tells of each
// bucket whether it lacks plays that came meanwhile.
int64_t EngineImpl::OldestAccepted(int64_t now_ms) const {
  int64_t oldest_ms = now_ms;
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    const Policy& policy = collection.policy;
    const int64_t oldest =
        BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.retention) + 1;
    oldest_ms = std::min(oldest_ms, BucketBeginMs(policy, oldest) - policy.max_future_ms);
  }
  return oldest_ms;
}

// First the synced word that nothing up to a time counts; then the rows go. Where no collection is
// named, those whose history is off are cleared too: they may keep entries of before.
Status EngineImpl::ClearHistory(IdRef user, std::span<const std::string_view> named) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status valid = user.Validate();
  if (!valid.ok()) return UserFault(valid);
  const Result<std::vector<Collection>> wanted = HistoryCollections(named, true);
  if (!wanted.ok()) return wanted.status();
  const std::string name = user.ToString();
  Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  UserRecord record;
  {
    const Gate::Scope in_ring(shard.ring->gate());
    const int64_t now = clock_->NowMs();
    for (const Collection& of : *wanted) {
      Lacks lacks;
      HistoryReader reader(shard, of, name, now, &lacks);
      const int64_t newest_ms = reader.NewestMs(now + of.policy.max_future_ms);
      record.marks[of.name].cleared_at_ms = std::max(now, newest_ms);
    }
    if (record.marks.empty()) return {};
    const Status cleared = shard.ring->ChangeSettings(
        in_ring, name, [&](const UserRecord*) { return std::optional<UserRecord>(record); });
    if (!cleared.ok()) return cleared;
  }
  counters_.history_cleared.fetch_add(record.marks.size(), std::memory_order_relaxed);
  for (const auto& [collection, marks] : record.marks) {
    const Status gone = DeleteHistoryRows(shard, collection, name, marks.cleared_at_ms);
    if (!gone.ok()) return gone;
  }
  return {};
}

// Deletes what does not count any more, a piece at a time: alone in the gate, so that no drain
// merges a newer state between the look and the deletion. Precondition: inside the shard, outside
// its ring's gate.
Status EngineImpl::DeleteHistoryRows(Shard& shard, const std::string& collection,
                                     const std::string& user, int64_t up_to_ms) {
  std::vector<int64_t> buckets;
  {
    const std::shared_ptr<const FamilySet> families = shard.store->families();
    const CollectionFamilies* family = families->Find(collection);
    if (family == nullptr) return Status::Unavailable("the shard is being closed");
    for (const auto& [index, bucket] : family->history) {
      if (bucket->begin_ms <= up_to_ms) buckets.push_back(index);
    }
  }
  // The oldest first: who reads meanwhile meets no older state of what is gone.
  std::reverse(buckets.begin(), buckets.end());
  for (const int64_t index : buckets) {
    for (const bool timeline : {true, false}) {
      std::string from = timeline ? TimelineKey(user, up_to_ms, {}) : HistoryPrefix(user);
      while (!from.empty()) {
        const Status status =
            DeleteSomeRows(shard, collection, index, timeline, user, up_to_ms, &from);
        if (!status.ok()) return status;
      }
    }
  }
  return {};
}

// Goes on from `*from`, which is empty at the end.
Status EngineImpl::DeleteSomeRows(Shard& shard, const std::string& collection, int64_t index,
                                  bool timeline, const std::string& user, int64_t up_to_ms,
                                  std::string* from) {
  const Gate::Exclusive alone(shard.ring->gate());
  const Status writable = shard.store->CheckWritable();
  if (!writable.ok()) return writable;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection);
  const auto bucket =
      family == nullptr ? decltype(family->history)::const_iterator() : family->history.find(index);
  const std::string first = std::exchange(*from, {});
  if (family == nullptr || bucket == family->history.end()) return {};  // dropped since
  rocksdb::ColumnFamilyHandle* const handle =
      (timeline ? bucket->second->timeline : bucket->second->states)->get();
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(shard.store->db()->NewIterator(options, handle));
  rocksdb::WriteBatch batch;
  size_t looked_at = 0;
  for (it->Seek(first); it->Valid() && looked_at < kRowsAtOnce; it->Next(), ++looked_at) {
    HistoryValue value;
    const bool readable = timeline || value.Parse(it->value().ToStringView());
    const int64_t newest_ms = !readable  ? bucket->second->end_ms - 1
                              : timeline ? up_to_ms
                                         : value.state.at_ms;
    if (newest_ms > up_to_ms) continue;
    const rocksdb::Status status = batch.Delete(handle, it->key());
    if (!status.ok()) return FromRocks(status, "delete history");
  }
  if (it->Valid()) *from = it->key().ToString();
  if (!it->status().ok()) return FromRocks(it->status(), "delete history");
  if (batch.Count() == 0) return {};
  rocksdb::WriteOptions writes;
  writes.ignore_missing_column_families = true;
  return FromRocks(shard.store->db()->Write(writes, &batch), "delete history");
}

// ---- Pause and resume ----

Status EngineImpl::SetRecording(IdRef user, bool paused) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status valid = user.Validate();
  if (!valid.ok()) return UserFault(valid);
  Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const Gate::Scope in_ring(shard.ring->gate());
  const int64_t now = clock_->NowMs();
  using Change = Result<std::optional<UserRecord>>;
  return shard.ring->ChangeSettings(
      in_ring, user.ToString(), [&](const UserRecord* known) -> Change {
        if (known != nullptr && known->damaged) {
          return Status::Corruption("the user's settings can't be read");
        }
        const PauseToggle* last =
            known == nullptr || known->toggles.empty() ? nullptr : &known->toggles.back();
        if ((last != nullptr && last->paused) == paused) return std::optional<UserRecord>();
        if (last != nullptr && known->toggles.size() >= kMaxToggles) {
          return Status::Busy("paused and resumed too often");
        }
        UserRecord record;
        record.forget_before_ms = OldestAccepted(now);
        // A clock that went back changes nothing of what was said before.
        const int64_t at_ms = last == nullptr ? now : std::max(now, last->at_ms);
        record.toggles.push_back({at_ms, shard.ring->NextSequence(), paused});
        return std::optional<UserRecord>(std::move(record));
      });
}

Result<Recording> EngineImpl::GetRecording(IdRef user) {
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  const Status valid = user.Validate();
  if (!valid.ok()) return UserFault(valid);
  const Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const std::shared_ptr<const UserRecord> known = shard.ring->settings().Find(user.ToString());
  if (known == nullptr) return Recording{};
  if (known->damaged) return Status::Corruption("the user's settings can't be read");
  if (known->toggles.empty()) return Recording{};
  return Recording{known->toggles.back().paused, known->toggles.back().at_ms};
}

}  // namespace seendb
