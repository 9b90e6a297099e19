// Recording plays and impressions: check everything, decide what is accepted, then for each shard
// journal, stage, acknowledge. The callers' own threads do all of it.

#include <algorithm>

#include "engine_impl.h"
#include "format/impressions_codec.h"
#include "shard_events.h"
#include "store/status.h"

namespace seendb {
namespace {

// Larger batches are recorded in pieces of this size.
constexpr size_t kPiece = 65'536;

}  // namespace

Result<RecordResult> EngineImpl::RecordPlays(std::span<const Play> plays,
                                             const RecordOptions& options) {
  Result<RecordResult> result = RecordAll(plays, options, false);
  if (result.ok()) {
    counters_.plays_accepted.fetch_add(result->accepted, std::memory_order_relaxed);
    counters_.plays_refused.fetch_add(result->refused, std::memory_order_relaxed);
  }
  return result;
}

Result<RecordResult> EngineImpl::RecordImpressions(std::span<const Impression> impressions,
                                                   const RecordOptions& options) {
  Result<RecordResult> result = RecordAll(impressions, options, true);
  if (result.ok()) {
    counters_.impressions_accepted.fetch_add(result->accepted, std::memory_order_relaxed);
    counters_.impressions_refused.fetch_add(result->refused, std::memory_order_relaxed);
  }
  return result;
}

template <typename Given>
Result<RecordResult> EngineImpl::RecordAll(std::span<const Given> given,
                                           const RecordOptions& options, bool impressions) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Result<Collection> collection = FindCollection(options.collection);
  if (!collection.ok()) return collection.status();
  const Status ids = CheckIds(given);
  if (!ids.ok()) return ids;
  RecordResult result;
  for (size_t begin = 0; begin < given.size(); begin += kPiece) {
    const Status recorded =
        RecordPiece(given.subspan(begin, std::min(kPiece, given.size() - begin)),
                    static_cast<uint32_t>(begin), *collection, impressions, &result);
    if (!recorded.ok()) return recorded;
  }
  std::sort(result.refusals.begin(), result.refusals.end(),
            [](const Refusal& a, const Refusal& b) { return a.index < b.index; });
  return result;
}

template <typename Given>
Status EngineImpl::RecordPiece(std::span<const Given> given, uint32_t first_index,
                               const Collection& collection, bool impressions,
                               RecordResult* result) {
  std::string numbers;
  const EventsByShard by_shard = SortByShard(
      given, first_index, TimeCheck(collection.policy, clock_->NowMs()), shard_count_, &numbers,
      [&](uint32_t, uint32_t index, const Status& why) { Refuse(result, index, why); });
  return WriteEvents(by_shard, collection, impressions, result);
}

Status EngineImpl::CheckRoom(size_t shard) {
  if (shards_[shard].ring->HasCurrent()) return {};
  counters_.busy.fetch_add(1, std::memory_order_relaxed);
  return Status::Busy("the ring of shard " + std::to_string(shard) +
                      " is full: every slot waits to be drained");
}

Status EngineImpl::WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                               bool impressions, RecordResult* result) {
  const bool staged = !impressions || collection.policy.served_is_seen;
  std::vector<Gate::Scope> used;
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (by_shard[i].empty()) continue;
    used.emplace_back(*shards_[i].use);
    const Status writable = shards_[i].store->CheckWritable();
    if (!writable.ok()) return writable;
  }
  std::vector<std::pair<size_t, Gate::Scope>> inside;
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (by_shard[i].empty()) continue;
    inside.emplace_back(i, Gate::Scope(shards_[i].ring->gate()));
    const Status room = staged ? CheckRoom(i) : Status();
    if (!room.ok()) return room;
  }
  for (const auto& [i, scope] : inside) {
    const Status written =
        WriteShard(scope, shards_[i], by_shard[i], collection, impressions, nullptr, result);
    if (!written.ok()) return written;
  }
  inside.clear();
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (!by_shard[i].empty() && shards_[i].ring->Full()) shards_[i].ring->RotateIfDue();
  }
  return {};
}

Status EngineImpl::WriteShard(const Gate::Scope& inside, Shard& shard,
                              const std::vector<ShardEvent>& events, const Collection& collection,
                              bool impressions, SourceChange* change, RecordResult* result) {
  const Policy& policy = collection.policy;
  const bool listed = impressions && policy.impressions > 0;
  thread_local std::vector<StagedPlay> plays;
  plays.clear();
  rocksdb::WriteBatch batch;
  ImpressionList list;
  std::string operand;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection.name);
  if (family == nullptr) return Status::Unavailable("the collection is being made");
  const uint64_t stamp = listed ? shard.ring->NextSequence() : 0;
  const auto flush_list = [&](std::string_view user) -> rocksdb::Status {
    if (list.entries.empty()) return {};
    list.Normalize(policy.impressions);
    list.Encode(&operand);
    list.entries.clear();
    return batch.Merge(family->impressions->get(), {user.data(), user.size()}, operand);
  };

  std::string_view user;
  UserRecord erased;
  uint64_t accepted = 0;
  rocksdb::Status status;
  for (const ShardEvent& event : events) {
    if (event.play.user != user) {
      status = flush_list(user);
      if (!status.ok()) return FromRocks(status, "impressions");
      user = event.play.user;
      erased = shard.ring->erasures().Find(user);
    }
    if (erased.erased_seq != 0 && event.at_ms <= erased.erased_at_ms) {
      Refuse(result, event.index,
             Status::InvalidArgument("at " + std::to_string(event.at_ms) +
                                     " is not after the user's erasure at " +
                                     std::to_string(erased.erased_at_ms)));
      if (change != nullptr) change->Count(event.index, false);
      continue;
    }
    ++accepted;
    if (change != nullptr) change->Count(event.index, true);
    if (listed) list.entries.push_back({event.at_ms, stamp, event.index, event.play.item});
    if (!impressions || policy.served_is_seen) plays.push_back(event.play);
  }
  status = flush_list(user);
  if (!status.ok()) return FromRocks(status, "impressions");
  if (change != nullptr) {
    const Status added = change->AddTo(&batch, *shard.store);
    if (!added.ok()) return added;
  }
  result->accepted += accepted;
  const bool sync = policy.durability == Durability::kSync;
  if (!plays.empty()) {
    return shard.ring->Record(inside, collection.name, collection.id, plays, sync, &batch);
  }
  if (batch.Count() == 0) return {};
  rocksdb::WriteOptions options;
  options.sync = sync;
  options.ignore_missing_column_families = true;
  return FromRocks(shard.store->db()->Write(options, &batch), "record");
}

Status EngineImpl::EraseUser(IdRef user) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  Status valid = user.Validate();
  if (!valid.ok()) return Status(valid.code(), std::string(valid.message()), "/user");
  const Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const Status erased = shard.ring->Erase(user.ToString(), clock_->NowMs());
  if (erased.ok()) counters_.users_erased.fetch_add(1, std::memory_order_relaxed);
  return erased;
}

}  // namespace seendb
