// Staging the journals again when a shard opens. What only newer software reads was met before
// (ShardStore::CheckNewer): what is left of it here is only looked past.

#include <algorithm>
#include <cassert>
#include <optional>

#include "format/day_key.h"
#include "format/journal_codec.h"
#include "ring/ring.h"
#include "store/status.h"

namespace seendb {
namespace {

// What of a journalled play an erasure, or the clearing of its collection, left standing.
struct Standing {
  bool history = true, filter = true;

  Standing(const UserSettings& settings, std::string_view user, std::string_view collection,
           uint64_t sequence) {
    const std::shared_ptr<const UserRecord> known = settings.Find(user);
    if (known == nullptr) return;
    history = sequence > known->erased_seq;
    filter = sequence > known->ForgottenIn(collection).seq;
  }
};

}  // namespace

Status Ring::LoadSettings() {
  const Table& kind = *ParseFamilyName(kUsersFamilyName).kind;
  const rocksdb::Slice end(&kDayKeys, 1);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator(options, store_->users()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!kind.newer_reason(it->value().ToStringView()).empty()) continue;
    UserRecord record;
    // What a poisoned record still says holds: an erasure is not forgotten for it. Of one that says
    // nothing it is known that history fails closed.
    if (!record.Parse(it->value().ToStringView())) record = UserRecord{.damaged = true};
    if (record.damaged) {
      store_->AddProblem("the user record of " + it->key().ToString() + " is damaged");
      counters_->damaged.fetch_add(1, std::memory_order_relaxed);
    }
    settings_.Put(it->key().ToStringView(), record);
  }
  return FromRocks(it->status(), "read the user records");
}

// As ReplayRecord; the filters take what enters history.
bool Ring::ReplayHistory(uint64_t sequence, std::string_view record, Staging* staging,
                         HistoryStaging* history) {
  HistoryJournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  const std::shared_ptr<const FamilySet> families = store_->families();
  if (sequence <= families->MakingOf(decoder.collection()).sequence) return true;
  const CollectionFamilies* family = families->Find(decoder.collection());
  if (family == nullptr) return false;
  const uint16_t collection = names_->Intern(decoder.collection(), family->making);
  WatchedPlay play;
  while (decoder.Next(&play)) {
    if (play.at_ms < kFirstTimeMs || play.at_ms > kLastTimeMs) return false;
    const Standing stands(settings_, play.user, decoder.collection(), sequence);
    if (!stands.history) continue;
    const int64_t bucket = BucketIndexOf(family->policy, play.at_ms);
    if (stands.filter) {
      staging->Add(collection, {play.user, bucket, FingerprintOf(IdRef(play.item))});
    }
    history->Add(collection, play);
    counters_->replayed_plays.fetch_add(1, std::memory_order_relaxed);
  }
  return decoder.ok();
}

// Plays that are not above what made them be forgotten are skipped; false where the bytes are
// damaged or name a bucket of no calendar, whose family could not be opened again.
bool Ring::ReplayRecord(uint64_t sequence, std::string_view record, Staging* staging) {
  JournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  const std::shared_ptr<const FamilySet> families = store_->families();
  if (sequence <= families->MakingOf(decoder.collection()).sequence) return true;
  const CollectionFamilies* family = families->Find(decoder.collection());
  if (family == nullptr) return false;
  const uint16_t collection = names_->Intern(decoder.collection(), family->making);
  StagedPlay play;
  std::optional<int64_t> known;
  while (decoder.Next(&play.user, &play.bucket, &play.item)) {
    if (known != play.bucket) {
      const std::string label = BucketLabel(family->policy, play.bucket);
      const Result<int64_t> index = BucketIndexOfLabel(family->policy, label);
      if (!index.ok() || *index != play.bucket) return false;
      known = play.bucket;
    }
    if (!Standing(settings_, play.user, decoder.collection(), sequence).filter) continue;
    staging->Add(collection, play);
    counters_->replayed_plays.fetch_add(1, std::memory_order_relaxed);
  }
  return decoder.ok();
}

Status Ring::ReplayFamily(Slot* slot) {
  const uint32_t position = slot->position;
  const std::shared_ptr<Family> family = store_->ring_family(position);
  if (family == nullptr) return {};
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator({}, family->get()));
  bool any = false;
  auto staging = std::make_shared<Staging>();
  auto history = std::make_shared<HistoryStaging>();
  std::string damaged;  // the first
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    any = true;
    uint64_t sequence = 0;
    counters_->replayed_records.fetch_add(1, std::memory_order_relaxed);
    const std::string_view record = it->value().ToStringView();
    if (ParseSequenceKey(it->key().ToStringView(), &sequence) &&
        (HistoryJournalDecoder::IsOne(record)
             ? ReplayHistory(sequence, record, staging.get(), history.get())
             : ReplayRecord(sequence, record, staging.get()))) {
      continue;
    }
    if (!NewerText(record).empty()) continue;
    counters_->damaged.fetch_add(1, std::memory_order_relaxed);
    const std::string name = RingFamilyName(position) + "/" + it->key().ToString(true);
    if (damaged.empty()) damaged = name;
    store_->KeepDamaged(name, record);
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the journal");
  if (!damaged.empty()) {
    const Status marked = store_->MarkLogLost("a journal record is damaged: " + damaged);
    if (!marked.ok()) return marked;
  }
  if (!any) return {};
  slot->state = State::kClosed;
  slot->opened_ms = slot->closed_ms = clock_->NowMs();
  slot->closed_order = position + 1;
  slot->staging = std::move(staging);
  slot->history = std::move(history);
  return {};
}

Status Ring::Replay() {
  const Status loaded = LoadSettings();
  if (!loaded.ok()) return loaded;
  std::vector<Slot> slots(std::max(options_.slots, store_->ring_families()));
  for (uint32_t position = 0; position < slots.size(); ++position) {
    slots[position].position = position;
    const Status replayed = ReplayFamily(&slots[position]);
    if (!replayed.ok()) return replayed;
  }
  const WriterLock lock(mutex_);
  assert(slots_.empty());
  slots_ = std::move(slots);
  closings_ = slots_.size();
  if (!store_->read_only()) OpenNext();
  return {};
}

}  // namespace seendb
