// Recording plays and impressions: check everything, decide what is accepted, then for each shard
// journal, stage, acknowledge. The callers' own threads do all of it.

#include <algorithm>

#include "base/utf8.h"
#include "engine_impl.h"
#include "format/day_key.h"
#include "shard_batch.h"
#include "store/status.h"

namespace seendb {
namespace {

// Larger batches are recorded in pieces of this size.
constexpr size_t kPiece = 65'536;

std::span<const Play> PlaysOf(std::span<const Play> plays) { return plays; }
std::span<const Play> PlaysOf(std::span<const Impression>) { return {}; }

}  // namespace

// What is kept of a play where there is history; else it is not looked at.
Status CheckWatches(std::span<const Play> plays) {
  for (size_t i = 0; i < plays.size(); ++i) {
    if (plays[i].watch == nullptr) continue;
    const Watch& watch = *plays[i].watch;
    const auto refused = [i](const char* member, const std::string& why) {
      return Status::InvalidArgument(std::string(member) + " " + why,
                                     "/" + std::to_string(i) + "/" + member);
    };
    if (watch.progress_s < kFinished) return refused("progress_s", "must be -1 or not negative");
    if (watch.duration_s < 0) return refused("duration_s", "must not be negative");
    if (watch.device.size() > kMaxDeviceBytes) {
      return refused("device", "is longer than " + std::to_string(kMaxDeviceBytes) + " bytes");
    }
    if (!IsUtf8(watch.device)) return refused("device", "is not valid UTF-8");
    if (watch.fields.size() > kMaxFieldsBytes) {
      return refused("fields", "is longer than " + std::to_string(kMaxFieldsBytes) + " bytes");
    }
  }
  return {};
}

Status CheckDays(std::span<const Play> plays) {
  for (size_t i = 0; i < plays.size(); ++i) {
    if (plays[i].day.empty()) continue;
    const Result<int64_t> day = DayOfText(plays[i].day);
    if (!day.ok()) return day.status().WithFieldPrefix("/" + std::to_string(i) + "/day");
  }
  return {};
}

std::optional<Today> EngineImpl::TodayOf(const Collection& collection, bool impressions) const {
  if (!collection.policy.first_of_day || impressions) return {};
  const int64_t day = DayOf(collection.policy, clock_->NowMs());
  return Today{day, DayText(day)};
}

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

void EngineImpl::Untell(std::span<const Play> plays, const Collection& collection,
                        const Today& today, const RecordResult& result) {
  for (const uint32_t index : result.first_today) {
    const IdRef& user = plays[index].user;
    ActiveDays& days = shards_[ShardOf(user)].ring->days();
    days.Untell(DayKey(user.ToString(), collection.name), today.day);
  }
}

template <typename Given>
Result<RecordResult> EngineImpl::RecordAll(std::span<const Given> given,
                                           const RecordOptions& options, bool impressions) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Result<Collection> collection = FindCollection(options.collection);
  if (!collection.ok()) return collection.status();
  Status valid = CheckIds(given);
  if (valid.ok() && collection->policy.history.enabled) valid = CheckWatches(PlaysOf(given));
  const std::optional<Today> today = TodayOf(*collection, impressions);
  if (valid.ok() && today) valid = CheckDays(PlaysOf(given));
  if (!valid.ok()) return valid;
  RecordResult result;
  if (today) result.day = today->text;
  for (size_t begin = 0; begin < given.size(); begin += kPiece) {
    const Status recorded = RecordPiece(
        given.subspan(begin, std::min(kPiece, given.size() - begin)), static_cast<uint32_t>(begin),
        *collection, {impressions, PlaysOf(given), today ? &*today : nullptr}, &result);
    if (recorded.ok()) continue;
    if (today) Untell(PlaysOf(given), *collection, *today, result);
    return recorded;
  }
  std::sort(result.refusals.begin(), result.refusals.end(),
            [](const Refusal& a, const Refusal& b) { return a.index < b.index; });
  std::sort(result.first_today.begin(), result.first_today.end());
  return result;
}

template <typename Given>
Status EngineImpl::RecordPiece(std::span<const Given> given, uint32_t first_index,
                               const Collection& collection, const GivenEvents& all,
                               RecordResult* result) {
  std::string numbers;
  const EventsByShard by_shard = SortByShard(
      given, first_index, TimeCheck(collection.policy, clock_->NowMs()), shard_count_, &numbers,
      [&](uint32_t, uint32_t index, const Status& why) { Refuse(result, index, why); });
  return WriteEvents(by_shard, collection, all, result);
}

Status EngineImpl::CheckRoom(size_t shard) {
  if (shards_[shard].ring->HasCurrent()) return {};
  counters_.busy.fetch_add(1, std::memory_order_relaxed);
  return Status::Busy("the ring of shard " + std::to_string(shard) +
                      " is full: every slot waits to be drained");
}

std::vector<FirstPlays> EngineImpl::ClaimFirsts(const EventsByShard& by_shard,
                                                const Collection& collection,
                                                const GivenEvents& given) {
  std::vector<FirstPlays> firsts;
  if (given.today == nullptr) return firsts;
  firsts.reserve(by_shard.size());
  for (size_t i = 0; i < by_shard.size(); ++i) {
    class Ring* const ring = shards_[i].ring.get();
    FirstPlays& first = firsts.emplace_back(&ring->days(), collection.name, given.today);
    ClaimFirstPlays(ring, by_shard[i], collection.name, collection.policy, given, &first);
  }
  return firsts;
}

Status EngineImpl::WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                               const GivenEvents& given, RecordResult* result) {
  const bool staged = !given.impressions || collection.policy.served_is_seen;
  std::vector<Gate::Scope> used;
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (by_shard[i].empty()) continue;
    used.emplace_back(*shards_[i].use);
    const Status writable = shards_[i].store->CheckWritable();
    if (!writable.ok()) return writable;
  }
  std::vector<FirstPlays> firsts = ClaimFirsts(by_shard, collection, given);
  std::vector<std::pair<size_t, Gate::Scope>> inside;
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (by_shard[i].empty()) continue;
    inside.emplace_back(i, Gate::Scope(shards_[i].ring->gate()));
    const Status room = staged ? CheckRoom(i) : Status();
    if (!room.ok()) return room;
  }
  for (const auto& [i, scope] : inside) {
    FirstPlays* const first = firsts.empty() ? nullptr : &firsts[i];
    const Status written =
        WriteShard(scope, shards_[i], {by_shard[i], nullptr, first}, collection, given, result);
    if (!written.ok()) return written;
  }
  inside.clear();
  for (size_t i = 0; i < by_shard.size(); ++i) {
    if (!by_shard[i].empty() && shards_[i].ring->Full()) shards_[i].ring->RotateIfDue();
  }
  return {};
}

Status EngineImpl::WriteBatches(const Gate::Scope& inside, Shard& shard,
                                const Collection& collection, ShardBatch* taken,
                                rocksdb::WriteBatch* batch) {
  const bool sync = collection.policy.durability == Durability::kSync;
  const RingBatch plays = taken->ForRing(collection.id, batch, sync);
  if (!plays.empty()) return shard.ring->Record(inside, plays);
  if (batch->Count() == 0) return {};
  rocksdb::WriteOptions options;
  options.sync = sync;
  options.ignore_missing_column_families = true;
  return FromRocks(shard.store->db()->Write(options, batch), "record");
}

Status EngineImpl::WriteShard(const Gate::Scope& inside, Shard& shard, const ShardPart& part,
                              const Collection& collection, const GivenEvents& given,
                              RecordResult* result) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection.name);
  if (family == nullptr) return Status::Unavailable("the collection is being made");
  ShardBatch taken(shard.ring.get(), family, collection.policy, given, part.firsts);
  rocksdb::WriteBatch batch;
  Status status = taken.Take(part.events, part.change, result);
  if (status.ok()) status = taken.AddTo(&batch, *shard.store);
  if (status.ok() && part.change != nullptr) status = part.change->AddTo(&batch, *shard.store);
  if (!status.ok()) return status;
  result->accepted += taken.accepted();
  status = WriteBatches(inside, shard, collection, &taken, &batch);
  if (part.firsts != nullptr) part.firsts->End(status.ok(), result);
  if (!status.ok()) return status;
  taken.Commit();
  if (collection.policy.history.enabled) {
    counters_.history_recorded.fetch_add(taken.watched(), std::memory_order_relaxed);
    counters_.history_paused.fetch_add(taken.paused(), std::memory_order_relaxed);
  }
  return {};
}

Status EngineImpl::EraseUser(IdRef user) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
  const Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const Status erased = shard.ring->Erase(user.ToString(), clock_->NowMs());
  if (erased.ok()) counters_.users_erased.fetch_add(1, std::memory_order_relaxed);
  return erased;
}

}  // namespace seendb
