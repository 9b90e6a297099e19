// Changing history otherwise than by plays: items deleted, recording paused.

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
  Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
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

// ---- Pause and resume ----

Status EngineImpl::SetRecording(IdRef user, bool paused) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
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
  const Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
  const Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const std::shared_ptr<const UserRecord> known = shard.ring->settings().Find(user.ToString());
  if (known == nullptr) return Recording{};
  if (known->damaged) return Status::Corruption("the user's settings can't be read");
  if (known->toggles.empty()) return Recording{};
  return Recording{known->toggles.back().paused, known->toggles.back().at_ms};
}

}  // namespace seendb
