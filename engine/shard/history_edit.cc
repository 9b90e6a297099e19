#include "shard/history_edit.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/return_if_failed.h"
#include "shard/history_reader.h"
#include "store/status.h"

namespace seendb {
namespace {

// Changes of a pause kept within retention, a user.
constexpr size_t kMaxToggles = 4'096;

// The newest that is known of an item; what was cleared, erased or has expired is ignored.
int64_t NewestKnownMs(const HistoryReader& reader, const FoundState& found, int64_t now_ms) {
  return std::max(now_ms, reader.Reaches(found.time_ms()) ? found.time_ms() : now_ms);
}

// The time of an item's deletion: it covers what is known, and a state that could not be read.
int64_t CoverOf(const HistoryReader& reader, const FoundState& found, int64_t known_ms,
                int64_t now_ms) {
  const int64_t reach_ms = now_ms + reader.collection().policy.max_future_ms;
  return std::min(std::max(known_ms, std::min(found.unread_to_ms, reach_ms)), kLastTimeMs);
}

Status WriteDeletions(ShardParts& shard, const Collection& of, const std::string& user,
                      const ToDelete& named, std::optional<int64_t> given_ms, int64_t oldest_ms,
                      const LoadedRecords& known) REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  const int64_t asked_ms = given_ms.value_or(shard.clock->NowMs());
  const std::span<const IdRef> items = named.items;
  std::vector<std::string> texts;
  for (const IdRef& item : items) texts.push_back(item.ToString());
  ReadGaps gaps;
  HistoryReader reader(shard, of, user, asked_ms, &gaps, &known);
  const std::vector<FoundState> found =
      reader.Find(std::vector<std::string_view>(texts.begin(), texts.end()), Sought::kNewest);
  const bool again = of.policy.history.deleted_items == DeletedItems::kRecommendAgain;
  const UserRecord* const settings = known.Find(user);
  UserRecord record;
  CollectionMarks& marks = record.marks[of.name];
  std::string value;
  rocksdb::WriteBatch batch;
  for (size_t i = 0; i < texts.size(); ++i) {
    int64_t known_ms = NewestKnownMs(reader, found[i], asked_ms);
    const Fingerprint fp = shard.hash.Of(items[i]);
    if (again && settings != nullptr) {
      // A play that ended an override need not be in history.
      const auto known_marks = settings->marks.find(of.name);
      if (known_marks != settings->marks.end()) {
        const auto deleted = known_marks->second.overrides.find(fp);
        if (deleted != known_marks->second.overrides.end()) {
          known_ms = std::max(known_ms, deleted->second.at_ms);
        }
      }
    }
    const int64_t at_ms = CoverOf(reader, found[i], known_ms, asked_ms);
    const Result<std::shared_ptr<HistoryBucket>> bucket =
        shard.store->tables().EnsureHistoryBucket(of.name, BucketIndexOf(of.policy, at_ms));
    if (!bucket.ok()) return bucket.status();
    EncodeHistory(DeletionAt(at_ms), &value);
    const rocksdb::Status merged =
        batch.Merge((*bucket)->states->get(), HistoryKey(user, texts[i]), value);
    if (!merged.ok()) return FromRocks(merged, "delete from history");
    // The override has the time of the call and not that of the deletion, which may lie ahead of
    // the clock: it lifts what was played before the call.
    if (again) marks.overrides[fp] = {asked_ms, shard.NextSequence(), false};
    // By what is known alone: what can't be read is another matter on each replica.
    if (known_ms > asked_ms) {
      marks.deletions_ahead[fp] = {shard.NextSequence(), std::min(known_ms, kLastTimeMs), asked_ms};
    }
  }
  for (const std::string_view group : named.same_as) {
    if (again) marks.overrides[shard.hash.OfGroup(group)] = {asked_ms, shard.NextSequence(), false};
  }
  const bool changes_record = !marks.overrides.empty() || !marks.deletions_ahead.empty();
  if (changes_record) {
    record.forget_before_ms = oldest_ms;
    record.Encode(&value);
    shard.users.Announce(user);
    const rocksdb::Status merged = batch.Merge(shard.store->users(), user, value);
    if (!merged.ok()) return FromRocks(merged, "delete from history");
  }
  if (batch.Count() == 0) return {};
  const Status written =
      FromRocks(shard.store->db()->Write(NotSynced(), &batch), "delete from history");
  shard.NoteRowWrite();
  if (written.ok() && changes_record) shard.users.Settle(user, record);
  return written;
}

// A pause may end while the clock is set back. The user's plays that lie ahead of the clock may
// then have come during the pause, and are not in history. Up to `max_future` after the end of a
// pause history counts as incomplete anyway (history_whole.cc); this marks the collections' history
// as incomplete up to the newest of those plays.
Status NoteIncompleteAhead(const ShardParts& shard, const std::string& user, int64_t now_ms,
                           const CollectionMap& collections) REQUIRES_SHARED(shard.use) {
  shard.use.AssertHeldShared();
  const Result<Recording> recording = GetRecording(shard, user);
  if (!recording.ok() || !recording->paused) return recording.status();
  for (const auto& [name, of] : collections) {
    const int64_t newest_ms = NewestAheadMs(shard, *of, user, now_ms);
    if (newest_ms == kNeverMs) continue;
    RETURN_IF_FAILED(shard.store->tables().NoteHistoryGone(name, newest_ms));
  }
  return {};
}

// Writes the change, which is not synced yet.
Status ChangeRecording(ShardParts& shard, const std::string& user, bool paused,
                       std::optional<int64_t> given_ms, int64_t oldest_ms)
    EXCLUDES(shard.apply_lock) {
  using Change = Result<std::optional<UserRecord>>;
  const auto change = [&](const UserRecord* known) -> Change {
    const int64_t asked_ms = given_ms.value_or(shard.clock->NowMs());
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
    record.forget_before_ms = oldest_ms;
    // A clock that went back changes nothing of what was said before.
    const int64_t at_ms = last == nullptr ? asked_ms : std::max(asked_ms, last->at_ms);
    record.toggles.push_back({at_ms, shard.NextSequence(), paused});
    return std::optional<UserRecord>(std::move(record));
  };
  return WithRecordsOf<SharedLock::Shared>(
      OneUser(user), shard.users, shard.apply_lock,
      [&](LoadedRecords& known) { return shard.users.ChangeOne(user, &known, change); });
}

}  // namespace

// A concurrent play is covered if it is not newer than the deletion, and stays if it is. But it
// could miss the override that it has to end: overrides are written under the exclusive apply lock.
Status DeleteItems(ShardParts& shard, const Collection& of, const std::string& user,
                   const ToDelete& named, std::optional<int64_t> at_ms, int64_t oldest_ms) {
  // Mostly the bucket that is needed: made here, so that no family is made under the exclusive
  // lock.
  const int64_t current = BucketIndexOf(of.policy, at_ms.value_or(shard.clock->NowMs()));
  Status deleted = shard.store->tables().EnsureHistoryBucket(of.name, current).status();
  if (!deleted.ok()) return deleted;
  const auto write = [&](const LoadedRecords& known) {
    shard.apply_lock.AssertHeldShared();
    return WriteDeletions(shard, of, user, named, at_ms, oldest_ms, known);
  };
  if (of.policy.history.deleted_items == DeletedItems::kRecommendAgain) {
    deleted =
        WithRecordsOf<SharedLock::Exclusive>(OneUser(user), shard.users, shard.apply_lock, write);
  } else {
    deleted =
        WithRecordsOf<SharedLock::Shared>(OneUser(user), shard.users, shard.apply_lock, write);
  }
  if (deleted.ok()) deleted = shard.store->SyncWal();
  if (!deleted.ok()) return deleted;
  shard.counters->history_deleted.fetch_add(named.items.size(), std::memory_order_relaxed);
  return {};
}

// The ring first: plays that a drain moves meanwhile are found in their bucket.
int64_t NewestAheadMs(const ShardParts& shard, const Collection& of, std::string_view user,
                      int64_t now_ms) {
  shard.use.AssertHeldShared();
  const int64_t first = BucketIndexOf(of.policy, now_ms + of.policy.max_future_ms) + 1;
  std::optional<int64_t> newest = shard.ring.NewestStagedBucket(of.id, user);
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(of.name);
  if (family == nullptr) return kNeverMs;
  for (const auto& [index, bucket] : family->buckets) {
    if (index < first || (newest && index <= *newest)) break;
    bool has_plays = false;  // what can't be read may be one
    if (user.empty()) {
      const std::unique_ptr<rocksdb::Iterator> it(
          shard.store->db()->NewIterator({}, bucket->family->get()));
      it->SeekToFirst();
      has_plays = it->Valid() || !it->status().ok();
    } else {
      rocksdb::PinnableSlice value;
      has_plays = !shard.store->db()
                       ->Get({}, bucket->family->get(), {user.data(), user.size()}, &value)
                       .IsNotFound();
    }
    if (has_plays) newest = index;
  }
  return newest && *newest >= first ? BucketBeginMs(of.policy, *newest + 1) - 1 : kNeverMs;
}

Status SetRecording(ShardParts& shard, const std::string& user, bool paused,
                    std::optional<int64_t> at_ms, const CollectionMap& collections,
                    int64_t oldest_ms) {
  const int64_t asked_ms = at_ms.value_or(shard.clock->NowMs());
  Status changed = paused ? Status() : NoteIncompleteAhead(shard, user, asked_ms, collections);
  if (changed.ok()) changed = ChangeRecording(shard, user, paused, at_ms, oldest_ms);
  return changed.ok() ? shard.store->SyncWal() : changed;
}

Result<Recording> GetRecording(const ShardParts& shard, const std::string& user) {
  UserRecordPtr known;
  RETURN_IF_FAILED(shard.users.Find(user, RecordTier::kDisk, &known));
  if (known == nullptr) return Recording{};
  if (known->damaged) return Status::Corruption("the user's settings can't be read");
  if (known->toggles.empty()) return Recording{};
  return Recording{known->toggles.back().paused, known->toggles.back().at_ms};
}

}  // namespace seendb
