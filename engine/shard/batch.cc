#include "shard/batch.h"

#include <algorithm>
#include <utility>

#include "base/counted_kinds.h"
#include "store/status.h"

namespace seendb {
namespace {

// Kept by the thread for their allocations.
std::vector<StagedPlay>& PlaysOfThread() {
  thread_local std::vector<StagedPlay> plays;
  plays.clear();
  return plays;
}
WatchedPlays& WatchedOfThread() {
  thread_local WatchedPlays watched;
  watched.Clear();
  return watched;
}

// What a player says, as a state of the item; an empty text and a duration of 0 say nothing.
// `watch` may be null.
HistoryState ReportOf(int64_t at_ms, const Watch* watch) {
  HistoryState report;
  report.at_ms = at_ms;
  if (watch == nullptr) return report;
  if (watch->progress_s) report.progress_s = {at_ms, *watch->progress_s};
  if (watch->duration_s.value_or(0) != 0) report.duration_s = {at_ms, *watch->duration_s};
  if (!watch->device.empty()) report.device = {at_ms, watch->device};
  if (!watch->fields.empty()) report.fields = {at_ms, watch->fields};
  return report;
}

}  // namespace

void WatchedPlays::Clear() {
  bytes_.clear();
  places_.clear();
  plays_.clear();
  staged_.clear();
}

void WatchedPlays::Add(const ShardEvent& event, const Play& play, bool ids_only) {
  Place place;
  place.item = bytes_.size();
  play.item.AppendTo(&bytes_);
  place.words = bytes_.size();
  PutWords(&bytes_, ReportOf(event.at_ms, ids_only ? nullptr : play.watch));
  place.end = bytes_.size();
  places_.push_back(place);
  plays_.push_back({event.play.user, {}, event.at_ms, {}});
  staged_.push_back(event.play);
}

std::span<const WatchedPlay> WatchedPlays::Finish() {
  const std::string_view bytes = bytes_;
  for (size_t i = 0; i < plays_.size(); ++i) {
    const Place& place = places_[i];
    plays_[i].item = bytes.substr(place.item, place.words - place.item);
    plays_[i].words = bytes.substr(place.words, place.end - place.words);
  }
  return plays_;
}

ShardBatch::ShardBatch(ShardParts* shard, const LoadedRecords* known,
                       const CollectionFamilies* family, const Policy& policy,
                       const GivenEvents& given, FirstPlays* firsts)
    : shard_(shard),
      known_(known),
      family_(family),
      policy_(policy),
      given_(given),
      firsts_(firsts),
      staged_(given.MayStage(policy)),
      history_(given.fact == Fact::kPlayed && policy.history.enabled),
      plays_(PlaysOfThread()),
      watched_(WatchedOfThread()),
      counts_items_(ItemsCountedFor(policy.counts) > 0) {
  if (given.fact == Fact::kServed && policy.impressions > 0) {
    list_family_ = family->impressions.get();
    list_limit_ = policy.impressions;
  } else if (given.fact == Fact::kExposed) {
    list_family_ = family->exposures.get();
    list_limit_ = policy.exposures.recent;
  }
}

void AddFirstPlays(const UserLookup& users, std::span<const ShardEvent> events,
                   std::string_view collection, const Policy& policy, const GivenEvents& given,
                   FirstPlays* firsts) {
  std::string_view user;
  UserRecordPtr settings;
  for (const ShardEvent& event : events) {
    if (firsts->KnowsToday(given.PlayOf(event))) continue;
    if (event.play.user != user) {
      user = event.play.user;
      if (!users.Find(user, RecordTier::kCached, &settings).ok()) settings = nullptr;
    }
    const Verdict verdict =
        Judge(settings.get(), event.at_ms, collection, policy, policy.history.enabled);
    if (verdict == Verdict::kFilter || verdict == Verdict::kBoth) firsts->Add(user);
  }
}

// A play that enters history, and that a deletion of before would hide, is recorded right behind
// that: it is in the list, and the filter knows it for as long.
ShardEvent ShardBatch::BehindDeletion(const ShardEvent& event) const {
  const auto until_ms = settings_->HiddenUntil(family_->name, event.play.item, event.at_ms);
  if (!until_ms) return event;
  ShardEvent moved = event;
  moved.at_ms = std::min(*until_ms + 1, kLastTimeMs);
  moved.play.bucket = BucketIndexOf(policy_, moved.at_ms);
  return moved;
}

// A group goes where the item goes, but for history, which knows items alone: it is one more.
void ShardBatch::AcceptGroups(const ShardEvent& event, Verdict verdict) {
  const bool listed = given_.fact == Fact::kExposed;
  const bool staged = staged_ && verdict != Verdict::kNothing;
  for (const std::string_view group : given_.SameAs(event)) {
    const Fingerprint same = shard_->hash.OfGroup(group);
    if (listed) {
      list_.entries.push_back(
          {event.at_ms, stamp_, event.index, same, {}, given_.SurfaceOf(event)});
    }
    if (!staged) continue;
    plays_.push_back({event.play.user, event.play.bucket, same});
    EndOverride(event, same);
  }
}

void ShardBatch::EndOverride(const ShardEvent& event, Fingerprint item) {
  if (settings_ == nullptr) return;
  const Override* deleted = settings_->FindOverride(family_->name, item);
  if (deleted == nullptr || event.at_ms <= deleted->at_ms) return;
  Override& ended = ended_[std::string(event.play.user)].marks[family_->name].overrides[item];
  const Override played{event.at_ms, shard_->NextSequence(), true};
  if (played.Supersedes(ended)) ended = played;
}

void ShardBatch::Accept(const ShardEvent& event, Verdict verdict) {
  if (given_.groups.same_as) AcceptGroups(event, verdict);
  if (list_family_ != nullptr) {
    list_.entries.push_back({event.at_ms, stamp_, event.index, event.play.item, IdToKeep(event),
                             given_.SurfaceOf(event)});
  }
  if (given_.served != nullptr) given_.served->Add(event.play.user, event.play.item);
  if (history_ && verdict != Verdict::kBoth) ++paused_;
  if (!staged_ || verdict == Verdict::kNothing) return;
  if (firsts_ != nullptr && !firsts_->KnowsToday(given_.PlayOf(event))) {
    firsts_->Take(event.play.user, event.index);
  }
  if (verdict == Verdict::kBoth) {
    watched_.Add(event, given_.PlayOf(event), policy_.history.ids_only);
  } else {
    plays_.push_back(event.play);
  }
  EndOverride(event, event.play.item);
}

// The item's id as text, where the policy keeps it; good until the list is written.
std::string_view ShardBatch::IdToKeep(const ShardEvent& event) {
  if (!policy_.impression_ids || given_.fact == Fact::kExposed) return {};
  const IdRef& item = given_.ItemOf(event);
  return item.is_number() ? decimal_ids_.emplace_back(item.ToString()) : item.text();
}

void ShardBatch::FlushList() {
  if (list_.entries.empty()) return;
  list_.Normalize(list_limit_);
  list_.Encode(&lists_.emplace_back(user_, std::string()).second);
  list_.entries.clear();
  decimal_ids_.clear();
}

// By the time that the caller gave, so that a repeat is the same event.
void ShardBatch::CountGroups(const ShardEvent& event) {
  const auto count = [&](std::string_view key) {
    counts_.entries.push_back({key, event.at_ms, static_cast<CountedFact>(given_.fact),
                               event.play.item, given_.SurfaceOf(event)});
  };
  for (const std::string_view group : given_.GroupsOf(event)) count(group);
  if (counts_items_) count(item_keys_.emplace_back(ItemKey(given_.ItemOf(event))));
}

void ShardBatch::FlushCounts() {
  if (counts_.entries.empty()) return;
  counts_.Normalize();
  counts_.Encode(&counted_.emplace_back(user_, std::string()).second);
  counts_.entries.clear();
  item_keys_.clear();
}

Status ShardBatch::Take(std::span<const ShardEvent> events, SourceChange* change,
                        RecordResult* result) {
  if (list_family_ != nullptr) stamp_ = shard_->NextSequence();
  for (const ShardEvent& event : events) {
    if (event.play.user != user_) {
      FlushList();
      FlushCounts();
      user_ = event.play.user;
      settings_ = known_->Find(user_);
    }
    const Verdict verdict = Judge(settings_, event.at_ms, family_->name, policy_, history_);
    const bool accepted = verdict != Verdict::kRefused;
    if (change != nullptr) change->Count(event.index, accepted);
    if (!accepted) {
      Refuse(result, event.index, RefusalOf(*settings_, family_->name, event.at_ms),
             ReasonOfRefusal(*settings_, family_->name));
      continue;
    }
    ++accepted_;
    if (given_.times->IsOutsideWindow(event.play.bucket)) ++outside_window_;
    if (given_.groups.of && verdict != Verdict::kNothing) CountGroups(event);
    const bool may_be_hidden = verdict == Verdict::kBoth && settings_ != nullptr;
    Accept(may_be_hidden ? BehindDeletion(event) : event, verdict);
  }
  FlushList();
  FlushCounts();
  return {};
}

Status ShardBatch::AddTo(rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  for (const auto& [user, list] : lists_) {
    if (status.ok()) {
      status = batch->Merge(list_family_->get(), {user.data(), user.size()}, list);
    }
  }
  for (const auto& [user, counts] : counted_) {
    if (status.ok()) {
      status = batch->Merge(family_->counts->get(), {user.data(), user.size()}, counts);
    }
  }
  std::string encoded;
  for (const auto& [user, record] : ended_) {
    record.Encode(&encoded);
    shard_->users.Announce(user);
    if (status.ok()) status = batch->Merge(shard_->store->users(), user, encoded);
  }
  if (!status.ok() || firsts_ == nullptr) return FromRocks(status, "record");
  return firsts_->AddTo(batch, *shard_->store);
}

RingPlays ShardBatch::ForRing() { return {plays_, watched_.Finish(), watched_.staged()}; }

void ShardBatch::Commit() {
  for (const auto& [user, record] : ended_) shard_->users.Settle(user, record);
}

}  // namespace seendb
