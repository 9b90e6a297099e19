// Recording plays, impressions and exposures: check everything, decide what is accepted, then for
// each shard journal, stage, acknowledge. The callers' own threads do all of it.

#include <algorithm>
#include <optional>

#include "base/counted_kinds.h"
#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "format/day_key.h"
#include "recorder.h"

namespace seendb {
namespace {

// Larger batches are recorded in pieces of this size.
constexpr size_t kPiece = 65'536;

std::span<const Play> PlaysOf(std::span<const Play> plays) { return plays; }
std::span<const Play> PlaysOf(std::span<const Impression>) { return {}; }
std::span<const Play> PlaysOf(std::span<const Exposure>) { return {}; }

// What the members of a call are.
template <typename Given>
constexpr Fact kFactOf = Fact::kPlayed;
template <>
constexpr Fact kFactOf<Impression> = Fact::kServed;
template <>
constexpr Fact kFactOf<Exposure> = Fact::kExposed;

void Give(std::span<const Play> plays, GivenEvents* events) { events->plays = plays; }
void Give(std::span<const Impression> served, GivenEvents* events) {
  events->served_items = served;
}
void Give(std::span<const Exposure> exposed, GivenEvents* events) {
  events->exposed_items = exposed;
}

Status CheckSurfacesOf(std::span<const Play>) { return {}; }
template <typename Given>
Status CheckSurfacesOf(std::span<const Given> given) {
  return CheckSurfaces(given);
}

}  // namespace

std::optional<Today> Recorder::TodayOf(const Collection& collection, Fact fact) const {
  if (!collection.policy.first_of_day || fact != Fact::kPlayed) return {};
  return TodayAt(collection, context_.clock->NowMs());
}

Today Recorder::TodayAt(const Collection& collection, int64_t at_ms) {
  const int64_t day = DayOf(collection.policy, at_ms);
  return {day, DayText(day)};
}

Result<RecordResult> Recorder::RecordPlays(std::span<const Play> plays,
                                           const RecordOptions& options) const {
  Result<RecordResult> result = RecordAll(plays, options);
  if (result.ok()) CountTaken(Fact::kPlayed, *result);
  return result;
}

Result<RecordResult> Recorder::RecordImpressions(std::span<const Impression> impressions,
                                                 const RecordOptions& options) const {
  return RecordShown(impressions, options, {});
}

Result<RecordResult> Recorder::RecordServed(std::span<const Impression> impressions,
                                            const RecordOptions& options, int64_t at_ms) const {
  return RecordShown(impressions, options, at_ms);
}

Result<RecordResult> Recorder::RecordShown(std::span<const Impression> impressions,
                                           const RecordOptions& options,
                                           std::optional<int64_t> present_ms) const {
  Result<RecordResult> result = RecordAll(impressions, options, present_ms);
  if (result.ok()) CountTaken(Fact::kServed, *result);
  return result;
}

Result<RecordResult> Recorder::RecordExposures(std::span<const Exposure> exposures,
                                               const RecordOptions& options) const {
  Result<RecordResult> result = RecordAll(exposures, options);
  if (result.ok()) CountTaken(Fact::kExposed, *result);
  return result;
}

void Recorder::CountTaken(Fact fact, const RecordResult& result) const {
  Counters& counters = *context_.counters;
  const bool played = fact == Fact::kPlayed, served = fact == Fact::kServed;
  auto& accepted = played   ? counters.plays_accepted
                   : served ? counters.impressions_accepted
                            : counters.exposures_accepted;
  auto& refused = played   ? counters.plays_refused
                  : served ? counters.impressions_refused
                           : counters.exposures_refused;
  accepted.fetch_add(result.accepted, std::memory_order_relaxed);
  refused.fetch_add(result.refused, std::memory_order_relaxed);
}

void Recorder::MarkNotTold(std::span<const Play> plays, const Collection& collection,
                           const Today& today, const RecordResult& result) const {
  for (const uint32_t index : result.first_today) {
    const IdRef& user = plays[index].user;
    const Result<std::shared_ptr<Shard>> shard = context_.shards->Of(user);
    if (!shard.ok()) continue;  // it forgets who it has told when it is detached
    (*shard)->MarkFirstNotTold(user.ToString(), collection.name, today.day);
  }
}

uint64_t Recorder::CountEvicted(ServedCount* served, const Collection& collection) const {
  const uint64_t evicted = served->Beyond(collection.policy.impressions);
  context_.counters->impressions_evicted.fetch_add(evicted, std::memory_order_relaxed);
  return evicted;
}

template <typename Given>
Result<RecordResult> Recorder::RecordAll(std::span<const Given> given, const RecordOptions& options,
                                         std::optional<int64_t> present_ms) const {
  constexpr Fact kFact = kFactOf<Given>;
  const Result<CollectionPtr> found = context_.catalog->Find(options.collection);
  if (!found.ok()) return found.status();
  const Collection& collection = **found;
  Status valid = CheckIds(given);
  if (valid.ok()) valid = CheckSurfacesOf(given);
  GroupsGiven groups;
  if (valid.ok()) valid = CheckEventGroups(given, &groups);
  groups.of = groups.of || ItemsCountedFor(collection.policy.counts) > 0;
  if (valid.ok() && collection.policy.history.enabled) valid = CheckWatches(PlaysOf(given));
  const std::optional<Today> today = TodayOf(collection, kFact);
  if (valid.ok() && today) valid = CheckDays(PlaysOf(given));
  const Present now = context_.clock->Look();
  if (valid.ok() && now.in_doubt) {
    valid = TimeCheck(collection.policy, now.ms).CheckNoneTooOld(given);
  }
  if (!valid.ok()) return valid;
  if (options.memory_only && given.size() > kPiece) {  // the second piece may need the disk
    return Status(StatusCode::kIncomplete, "too many events for memory alone");
  }
  RecordResult result;
  if (today) result.day = today->text;
  const TimeCheck times(collection.policy, present_ms.value_or(now.ms));
  ServedCount served;
  const bool may_exceed = kFact == Fact::kServed && !collection.policy.served_is_seen &&
                          given.size() > collection.policy.impressions;
  GivenEvents all{.fact = kFact,
                  .today = today ? &*today : nullptr,
                  .times = &times,
                  .served = may_exceed ? &served : nullptr,
                  .groups = groups,
                  .memory_only = options.memory_only};
  Give(given, &all);
  if (given.size() > kPiece) valid = CheckAttached(given);
  if (!valid.ok()) return valid;
  for (size_t begin = 0; begin < given.size(); begin += kPiece) {
    const Status recorded =
        RecordPiece(given.subspan(begin, std::min(kPiece, given.size() - begin)),
                    static_cast<uint32_t>(begin), collection, all, &result);
    if (recorded.ok()) continue;
    if (today) MarkNotTold(PlaysOf(given), collection, *today, result);
    return recorded;
  }
  std::sort(result.refusals.begin(), result.refusals.end(),
            [](const Refusal& a, const Refusal& b) { return a.index < b.index; });
  std::sort(result.first_today.begin(), result.first_today.end());
  result.beyond_cap = CountEvicted(&served, collection);
  return result;
}

template <typename Given>
Status Recorder::CheckAttached(std::span<const Given> given) const {
  const std::shared_ptr<const ShardSet> all = context_.shards->All();
  if (CheckNoneAbsent(*all).ok()) return {};
  for (const Given& one : given) {
    const uint32_t shard = ShardOf(one.user, static_cast<uint32_t>(all->size()));
    if ((*all)[shard] == nullptr) return context_.shards->Missing(shard);
  }
  return {};
}

template <typename Given>
Status Recorder::RecordPiece(std::span<const Given> given, uint32_t first_index,
                             const Collection& collection, const GivenEvents& all,
                             RecordResult* result) const {
  std::string numbers;
  TimeCheck times = *all.times;
  const EventsByShard by_shard = SortByShard(
      given, first_index, [&](size_t) -> TimeCheck& { return times; }, context_.shards->count(),
      **context_.hash, &numbers,
      [&](uint32_t, uint32_t index, const Status& why, RefusalReason reason) {
        Refuse(result, index, why, reason);
      });
  return WriteEvents(by_shard, collection, all, result);
}

Status Recorder::PinAll(const ShardSet& shards, const EventsByShard& by_shard,
                        const Collection& collection, const GivenEvents& given,
                        std::vector<std::optional<SlotPin>>* pins) {
  pins->resize(by_shard.groups().size());
  if (!given.MayStage(collection.policy)) return {};
  for (size_t i = 0; i < pins->size(); ++i) {
    Result<SlotPin> pin = shards[by_shard.groups()[i].shard]->Pin();
    if (!pin.ok()) return pin.status();
    (*pins)[i].emplace(std::move(pin).value());
  }
  return {};
}

// Other failures than kIOError say that nothing changed.
Status Recorder::FailureOf(Status failed, bool any_written) {
  if (!any_written || failed.code() == StatusCode::kIOError) return failed;
  return Status::IOError("part of the call is recorded, repeat it: " +
                         std::string(failed.message()));
}

// Each shard is entered on its own. The pins keep "kBusy: nothing changed" true meanwhile: room is
// found in all of them before the first is written.
Status Recorder::WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                             const GivenEvents& given, RecordResult* result) const {
  const std::shared_ptr<const ShardSet> shards = context_.shards->All();  // before the pins
  const std::span<const ShardGroup> groups = by_shard.groups();
  for (const ShardGroup& group : groups) {
    if ((*shards)[group.shard] == nullptr) return context_.shards->Missing(group.shard);
  }
  for (size_t i = 0; given.memory_only && i < groups.size(); ++i) {
    RETURN_IF_FAILED((*shards)[groups[i].shard]->LoadUsersFromMemory(groups[i].events));
  }
  for (size_t i = 0; given.NeedsFamilies() && i < groups.size(); ++i) {
    RETURN_IF_FAILED((*shards)[groups[i].shard]->Prepare(collection.name, given));
  }
  for (size_t i = 0; groups.size() > 1 && i < groups.size(); ++i) {  // one looks by itself
    RETURN_IF_FAILED((*shards)[groups[i].shard]->CheckWritable());
  }
  std::vector<std::optional<SlotPin>> pins;
  RETURN_IF_FAILED(PinAll(*shards, by_shard, collection, given, &pins));
  SEENDB_PAUSE_POINT("record: pinned");
  bool any_written = false;
  for (size_t i = 0; i < groups.size(); ++i) {
    Status written = (*shards)[groups[i].shard]->Apply(
        {collection, given, groups[i].events, nullptr}, pins[i] ? &*pins[i] : nullptr, result);
    if (!written.ok()) return FailureOf(std::move(written), any_written);
    any_written = true;
  }
  return {};
}

}  // namespace seendb
