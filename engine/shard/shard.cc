#include "shard/shard.h"

#include "format/day_key.h"
#include "shard/drain.h"
#include "shard/erase.h"
#include "shard/heal.h"
#include "shard/history_clear.h"
#include "shard/history_edit.h"
#include "shard/history_read.h"
#include "shard/history_trim.h"
#include "shard/replay.h"

namespace seendb {

Result<std::unique_ptr<Shard>> Shard::Open(const ShardStoreOptions& options,
                                           const ShardContext& context) {
  Result<std::unique_ptr<ShardStore>> store = ShardStore::Open(options, context.resources);
  if (!store.ok()) return store.status();
  return std::make_unique<Shard>(context, std::move(store).value());
}

Status Shard::Replay() {
  const Status replayed = seendb::Replay(parts_);
  const Status loaded = replayed.ok() ? parts_.sources.Load(parts_.store.get()) : replayed;
  return loaded.ok() ? parts_.outbox.Load() : loaded;
}

// Of a request: while the shard is being opened anew it is waited for no longer than kReopenWait.
class Shard::Entry {
 public:
  explicit Entry(ShardParts* parts)
      : parts_(parts), inside_(SharedLock::Shared::TryFor(parts->use, kReopenWait)) {}
  bool ok() const { return inside_.has_value(); }
  Status status() const {
    return Status::Unavailable("shard " + std::to_string(parts_->store->shard()) +
                               " is being opened anew");
  }

 private:
  ShardParts* const parts_;
  const std::optional<SharedLock::Shared> inside_;
};

template <typename Work>
bool Shard::TryInside(const Work& work) {
  if (parts_.healing.running) return false;
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) return false;
  parts_.use.AssertHeldShared();
  work();
  return true;
}

// ---- Writes ----

Status Shard::CheckWritable() {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return parts_.store->CheckWritable();
}

Result<SlotPin> Shard::Pin() {
  std::optional<SlotPin> pin = parts_.ring.Pin();
  if (pin) return *std::move(pin);
  parts_.counters->busy.fetch_add(1, std::memory_order_relaxed);
  return Status::Busy("the ring of shard " + std::to_string(parts_.store->shard()) +
                      " is full: every slot waits to be drained");
}

void Shard::MarkFirstNotTold(const std::string& user, std::string_view collection, int64_t day) {
  parts_.days.MarkNotTold(DayKey(user, collection), day);
}

Status Shard::Apply(const ShardWrite& write, const SlotPin* pin, RecordResult* result) {
  const bool told = write.given.today != nullptr;
  FirstPlays firsts(&parts_.days, write.collection.name, write.given.today);
  if (told) {
    AddFirstPlays(parts_.users, write.events, write.collection.name, write.collection.policy,
                  write.given, &firsts);
    firsts.Claim();
  }
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  if (told) firsts.KeepFirst();
  Status applied = seendb::Apply(parts_, write, told ? &firsts : nullptr, pin, result);
  if (pin != nullptr && pin->full()) parts_.ring.RotateIfDue();
  return applied;
}

// Where it is being opened anew, memory does not tell either.
Status Shard::LoadUsersFromMemory(std::span<const ShardEvent> events) {
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) return Status(StatusCode::kIncomplete, "the shard is being opened anew");
  parts_.use.AssertHeldShared();
  return LoadUsers(parts_, events, RecordTier::kMemory);
}

Status Shard::CheckLog(const IngestBatch& batch) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::CheckLog(parts_, batch);
}

void Shard::AddSources(KnownSources* known) {
  const SharedLock::Shared inside(parts_.use);
  const MutexLock lock(parts_.sources.mutex());
  for (const auto& key : parts_.sources.forgotten()) known->try_emplace(key);
  for (const auto& [key, record] : parts_.sources.records()) {
    KnownSource& one = (*known)[key];
    std::optional<int64_t>& lowest = one.info.next_offset;
    if (!lowest || record.next_offset < *lowest) {
      lowest = record.next_offset;
      one.info.last = record.last;
    }
    if (key.second == parts_.store->shard()) {
      one.info.next_of_shard = record.next_offset;
      one.info.last_of_shard = record.last;
    }
    one.info.held = one.info.held || record.held;
    one.info.counts += record.counts;
    ++one.shards;
  }
}

Status Shard::ForgetTopic(std::string_view topic) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  const Status takes = parts_.store->CheckWritable();
  if (!takes.ok()) return takes;
  const Status untold = parts_.outbox.Forget(topic);
  if (!untold.ok()) return untold;
  const MutexLock lock(parts_.sources.mutex());
  return parts_.sources.Forget(parts_.store.get(), topic);
}

void Shard::AddOutboxSources(std::vector<OutboxSource>* sources) {
  if (!parts_.healing.running) parts_.outbox.AddSources(sources);
}

Status Shard::ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                         std::vector<OutboxRow>* rows) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return parts_.outbox.Read(source, after, limit, parts_.users, rows);
}

Status Shard::DeleteOutbox(std::span<const OutboxRow> told) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  const Status takes = parts_.store->CheckWritable();
  return takes.ok() ? parts_.outbox.Delete(told) : takes;
}

Status Shard::Erase(const std::string& user, const CollectionMap& collections,
                    const EraseOptions& options, Erasure* erasure) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return EraseUser(parts_, user, collections, options, erasure);
}

Status Shard::Clear(const std::string& user, std::span<const CollectionPtr> wanted, bool filter) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return ClearHistory(parts_, user, wanted, filter);
}

Status Shard::DeleteItems(const Collection& of, const std::string& user,
                          std::span<const IdRef> items, int64_t oldest_ms) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::DeleteItems(parts_, of, user, items, oldest_ms);
}

Status Shard::SetRecording(const std::string& user, bool paused, const CollectionMap& collections,
                           int64_t oldest_ms) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::SetRecording(parts_, user, paused, collections, oldest_ms);
}

// ---- Policies ----

std::optional<CollectionClaims> Shard::Claims() {
  const SharedLock::Shared inside(parts_.use);
  if (!parts_.store->readable()) return {};
  return ClaimsOf(*parts_.store->families());
}

Status Shard::AdoptPolicy(const Collection& known) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::AdoptPolicy(parts_, known);
}

HistoryIncomplete Shard::HistoryIncompleteUnder(const Collection& wanted, const Policy* recorded_by,
                                                int64_t now_ms) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::HistoryIncompleteUnder(parts_, wanted, recorded_by, now_ms);
}

Status Shard::AnnouncePolicy(const Collection& wanted, const HistoryIncomplete& incomplete) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::AnnouncePolicy(parts_, wanted, incomplete);
}

Status Shard::ConfirmPolicy(const Collection& wanted, const HistoryIncomplete& incomplete) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::ConfirmPolicy(parts_, wanted, incomplete);
}

// ---- Collections that go, or begin anew ----

void Shard::StopWrites(const std::string& name) {
  const SharedLock::Shared inside(parts_.use);
  seendb::StopWrites(parts_, name);
}

void Shard::ResumeWrites(const std::string& name) {
  const SharedLock::Shared inside(parts_.use);
  seendb::ResumeWrites(parts_, name);
}

bool Shard::HoldsAny(const Collection& collection) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::HoldsAny(parts_, collection);
}

Status Shard::BeginDeletion(const std::string& name, uint64_t making) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::BeginDeletion(parts_, name, making);
}

Status Shard::FinishDeletion(const std::string& name) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::FinishDeletion(parts_, name);
}

Status Shard::BeginAnew(const Collection& wanted) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::BeginAnew(parts_, wanted);
}

// ---- Reads ----

bool Shard::Filter(const FilterRead& read, FilterResponse* response) {
  if (read.request.memory_only) {
    const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
    if (!inside) return false;
    parts_.use.AssertHeldShared();
    return AnswerFilter(parts_, read, response);
  }
  const Entry inside(&parts_);
  if (inside.ok()) {
    parts_.use.AssertHeldShared();
    return AnswerFilter(parts_, read, response);
  }
  AnswerFromMemory(parts_, read, response);
  return true;
}

Status Shard::ReadHistory(const HistoryRequest& request, std::span<const CollectionPtr> wanted,
                          const HistoryCursor* cursor, HistoryPage* page) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::ReadHistory(parts_, request, wanted, cursor, page);
}

Status Shard::LookupHistory(const Collection& of, const std::string& user,
                            std::span<const IdRef> items, HistoryLookup* found) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::LookupHistory(parts_, of, user, items, found);
}

Result<Recording> Shard::GetRecording(const std::string& user) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::GetRecording(parts_, user);
}

Status Shard::Inspect(std::string_view only, UserReport* report) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return InspectUser(parts_, only, report);
}

Status Shard::Verify(VerifyReport* report) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return VerifyRows(parts_, report);
}

Status Shard::Scan(std::string_view family_prefix, const std::function<bool(const ScanRow&)>& visit,
                   bool* enough) {
  const Entry inside(&parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return ScanRows(parts_, family_prefix, visit, enough);
}

// ---- Statistics ----

void Shard::AddTo(EngineStats* stats) {
  const std::string name = "shard " + std::to_string(parts_.store->shard()) + ": ";
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) {
    stats->problems.push_back(name + "is being opened anew");
    return;
  }
  parts_.use.AssertHeldShared();
  for (const std::string& problem : parts_.store->Problems()) {
    stats->problems.push_back(name + problem);
  }
  AddStats(parts_, stats);
}

void Shard::AddBucketsTo(const Collection& collection, int64_t now_ms, BucketSums* sums) {
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) return;
  parts_.use.AssertHeldShared();
  AddBuckets(parts_, collection, now_ms, sums);
}

void Shard::AddSlotsTo(std::vector<SlotInfo>* infos) {
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) return;
  for (SlotInfo& info : parts_.ring.Slots()) {
    info.shard = parts_.store->shard();
    infos->push_back(std::move(info));
  }
}

// ---- Background work ----

Status Shard::Sync(bool* passed_over) {
  Status synced;
  const auto sync = [&] { synced = parts_.store->SyncWal(); };
  if (passed_over != nullptr) {
    *passed_over = !TryInside(sync);
    return synced;
  }
  const SharedLock::Shared inside(parts_.use);
  sync();
  return synced;
}

Status Shard::Drain() {
  const SharedLock::Shared inside(parts_.use);
  parts_.ring.Rotate();
  return DrainClosed(parts_);
}

Status Shard::DrainIfDue() {
  Status drained;
  TryInside([&] {
    parts_.ring.RotateIfDue();
    drained = DrainClosed(parts_);
  });
  // Calls that still write into the slot are waited for next time.
  return drained.code() == StatusCode::kBusy ? Status() : drained;
}

Status Shard::NoteClock(int64_t now_ms) {
  Status noted;
  TryInside([&] { noted = parts_.store->NoteClock(now_ms); });
  return noted;
}

Status Shard::FlushUsers() {
  Status flushed;
  TryInside([&] { flushed = parts_.users.FlushIfChanged(); });
  return flushed;
}

Status Shard::Maintain(const CollectionMap& collections) {
  const MutexLock one(parts_.upkeep.mutex);
  Status maintained;
  TryInside([&] {
    parts_.use.AssertHeldShared();
    parts_.upkeep.mutex.AssertHeld();
    maintained = MaintainIfDue(parts_, collections);
  });
  return maintained;
}

Status Shard::HealIfDue(bool wait, bool* healed) {
  if (!wait && !WantsHealing(parts_)) return {};
  return seendb::HealIfDue(parts_, healed);
}

Status Shard::BeginUpkeep(const CollectionMap& collections) {
  BeginMaintenance(parts_);
  if (parts_.options.read_only || parts_.clock->Look().in_doubt) return {};
  const SharedLock::Shared inside(parts_.use);
  return EnsureBuckets(parts_, collections, true);
}

Status Shard::Seal(const Collection& collection, const std::function<bool(const Bucket&)>& wanted) {
  const SharedLock::Shared inside(parts_.use);
  return SealBuckets(parts_, collection, wanted);
}

Status Shard::DropFilters(const Collection& collection, const OldestKept& oldest_kept) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::DropFilters(parts_, collection, oldest_kept);
}

Status Shard::DropHistory(const Collection& collection, const OldestKept& oldest_kept) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::DropHistory(parts_, collection, oldest_kept);
}

Status Shard::TrimHistory(const Collection& collection) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::TrimHistory(parts_, collection);
}

Status Shard::Compact() {
  const SharedLock::Shared inside(parts_.use);
  return parts_.store->CompactAll();
}

// ---- The whole shard ----

Status Shard::Checkpoint(const std::string& folder, CheckpointReport* report) {
  const SharedLock::Shared inside(parts_.use);
  return parts_.store->Checkpoint(folder, report);
}

void Shard::GiveUp() {
  const SharedLock::Shared inside(parts_.use);
  parts_.store->GiveUp();
}

Status Shard::Close(std::optional<int64_t> now_ms) {
  const Status noted = now_ms ? parts_.store->NoteClock(*now_ms) : Status();
  return noted.ok() ? parts_.store->SyncWal() : noted;
}

}  // namespace seendb
