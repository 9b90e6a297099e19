#include "shard/shard.h"

#include "format/day_key.h"
#include "shard/counts.h"
#include "shard/entry.h"
#include "shard/erase.h"
#include "shard/filter_dump.h"
#include "shard/history_clear.h"
#include "shard/history_edit.h"
#include "shard/history_read.h"
#include "shard/marks.h"
#include "shard/replay.h"
#include "shard/reserve.h"

namespace seendb {

Result<std::unique_ptr<Shard>> Shard::Open(const ShardStoreOptions& options,
                                           const ShardContext& context) {
  Result<std::unique_ptr<ShardStore>> store = ShardStore::Open(options, context.resources);
  if (!store.ok()) return store.status();
  return std::make_unique<Shard>(context, std::move(store).value());
}

Status Shard::Replay() {
  const Status marked = parts_.store->MarkFormerLost();
  const Status replayed = marked.ok() ? seendb::Replay(parts_) : marked;
  const Status loaded = replayed.ok() ? parts_.sources.Load(parts_.store.get()) : replayed;
  return loaded.ok() ? parts_.outbox.Load() : loaded;
}

Status Shard::CheckWritable() {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return parts_.store->CheckWritable();
}

Status Shard::CheckSound() {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  const Status takes = parts_.store->CheckWritable();
  if (!takes.ok() || !parts_.recovering) return takes;
  return Status::Unavailable("shard " + std::to_string(parts_.store->shard()) +
                             " comes back from a failure of its disk");
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
  const RequestEntry inside(parts_);
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

Status Shard::Prepare(std::string_view collection, const GivenEvents& given) {
  const auto has_families = [&] {
    const std::shared_ptr<const FamilySet> families = parts_.store->families();
    const CollectionFamilies* const of = families->Find(collection);
    return of != nullptr && given.HasFamilies(*of);
  };
  if (given.memory_only) {
    const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
    if (inside && has_families()) return {};
    return Status(StatusCode::kIncomplete, "a family is to be made");
  }
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  if (has_families()) return {};
  Status made;
  if (given.fact == Fact::kExposed) made = parts_.store->tables().EnsureExposures(collection);
  if (made.ok() && given.groups.of) made = parts_.store->tables().EnsureCounts(collection);
  return made;
}

Status Shard::Erase(const std::string& user, const CollectionMap& collections,
                    const EraseOptions& options, Erasure* erasure) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return EraseUser(parts_, user, collections, options, erasure);
}

Status Shard::Clear(const std::string& user, std::span<const CollectionPtr> wanted, bool filter,
                    std::optional<int64_t> at_ms) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return ClearHistory(parts_, user, wanted, filter, at_ms);
}

Status Shard::DeleteItems(const Collection& of, const std::string& user, const ToDelete& named,
                          std::optional<int64_t> at_ms, int64_t oldest_ms) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::DeleteItems(parts_, of, user, named, at_ms, oldest_ms);
}

Status Shard::SetRecording(const std::string& user, bool paused, std::optional<int64_t> at_ms,
                           const CollectionMap& collections, int64_t oldest_ms) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::SetRecording(parts_, user, paused, at_ms, collections, oldest_ms);
}

bool Shard::Filter(const FilterRead& read, FilterResponse* response) {
  if (read.request.memory_only) {
    const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
    if (!inside) return false;
    parts_.use.AssertHeldShared();
    return AnswerFilter(parts_, read, response);
  }
  const RequestEntry inside(parts_);
  if (inside.ok()) {
    parts_.use.AssertHeldShared();
    return AnswerFilter(parts_, read, response);
  }
  AnswerFromMemory(parts_, read, response);
  return true;
}

Status Shard::DumpFilter(const Collection& collection, const std::string& user, bool served_ids,
                         FilterDump* dump) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  seendb::DumpFilter(parts_, collection, user, served_ids, dump);
  return {};
}

Status Shard::ReadHistory(const HistoryRequest& request, std::span<const CollectionPtr> wanted,
                          const HistoryCursor* cursor, HistoryPage* page) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::ReadHistory(parts_, request, wanted, cursor, page);
}

Status Shard::LookupHistory(const Collection& of, const std::string& user,
                            std::span<const IdRef> items, HistoryLookup* found) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::LookupHistory(parts_, of, user, items, found);
}

Result<Recording> Shard::GetRecording(const std::string& user) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::GetRecording(parts_, user);
}

Status Shard::PutMarks(const std::string& user, std::span<const Mark> marks, int64_t now_ms,
                       bool sync, RecordResult* result) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::PutMarks(parts_, user, marks, now_ms, sync, result);
}

Status Shard::DeleteMark(const std::string& user, std::string_view group, int64_t at_ms,
                         bool* deleted) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::DeleteMark(parts_, user, group, at_ms, deleted);
}

Status Shard::ReadMarks(const MarksRequest& request, MarksPage* page) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::ReadMarks(parts_, request.user.ToString(), request, page);
}

Status Shard::PutOwnSet(const std::string& user, const UserSet& set,
                        std::vector<std::string_view> items, int64_t now_ms, bool sync,
                        UserSetInfo* info) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::PutOwnSet(parts_, user, set, std::move(items), now_ms, sync, info);
}

Status Shard::DeleteOwnSet(const std::string& user, std::string_view name, const CallTime& at_ms,
                           int64_t now_ms, bool* deleted) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::DeleteOwnSet(parts_, user, name, at_ms, now_ms, deleted);
}

Status Shard::ListOwnSets(const std::string& user, UserSetList* list) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::ListOwnSets(parts_, user, list);
}

Status Shard::ReadOwnSet(const std::string& user, std::string_view name, std::string_view after,
                         size_t limit, UserSetPage* page) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::ReadOwnSet(parts_, user, name, after, limit, page);
}

bool Shard::FindOwnSets(std::string_view user, bool memory_only, NamedSets* named) {
  if (memory_only) {
    const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
    if (!inside) return false;
    parts_.use.AssertHeldShared();
    return seendb::FindOwnSets(parts_, user, true, named);
  }
  const RequestEntry inside(parts_);
  if (!inside.ok()) {
    LoseOwnSets(named);
    return true;
  }
  parts_.use.AssertHeldShared();
  return seendb::FindOwnSets(parts_, user, false, named);
}

Status Shard::Reserve(const Collection& collection, const std::string& user,
                      const ReserveRequest& request, int64_t at_ms, Reserved* reserved) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::Reserve(parts_, collection, user, request, at_ms, reserved);
}

Status Shard::ReadCounts(const Collection& collection, const CountsRequest& request,
                         CountsPage* page) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::ReadCounts(parts_, collection, request.user.ToString(), request, page);
}

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
