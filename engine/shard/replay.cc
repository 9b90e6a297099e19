#include "shard/replay.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "format/journal_codec.h"
#include "shard/verdict.h"
#include "store/status.h"

namespace seendb {

Result<uint64_t> FirstJournalled(const ShardStore& store) {
  uint64_t first = UINT64_MAX;
  for (uint32_t position = 0; position < store.database().ring_families(); ++position) {
    const std::shared_ptr<Family> family = store.database().ring_family(position);
    if (family == nullptr) continue;
    const std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator({}, family->get()));
    uint64_t sequence = 0;
    it->SeekToFirst();
    while (it->Valid() && !ParseSequenceKey(it->key().ToStringView(), &sequence)) it->Next();
    if (!it->status().ok()) return FromRocks(it->status(), "read the journal");
    if (it->Valid()) first = std::min(first, sequence);
  }
  return first;
}

namespace {

// Erasures, and clears of filters, that journal records are older than: those of a few hours. The
// users' records are read once for them, and not at each play.
class ReplayedMarks {
 public:
  explicit ReplayedMarks(uint64_t first_sequence) : first_sequence_(first_sequence) {}

  void Add(std::string_view user, const UserRecord& record) {
    UserRecord marks;
    if (record.erased_seq >= first_sequence_) marks.erased_seq = record.erased_seq;
    for (const auto& [collection, of] : record.marks) {
      if (of.forgotten.seq >= first_sequence_) marks.marks[collection].forgotten = of.forgotten;
    }
    if (marks != UserRecord()) users_.emplace(user, std::move(marks));
  }
  const UserRecord* Find(std::string_view user) const {
    const auto at = users_.find(user);
    return at == users_.end() ? nullptr : &at->second;
  }

 private:
  const uint64_t first_sequence_;
  std::unordered_map<std::string, UserRecord, KeyedHasher, std::equal_to<>> users_;
};

// As ReplayRecord; the filters take what enters history.
bool ReplayHistory(ShardParts& shard, const ReplayedMarks& marks, uint64_t sequence,
                   std::string_view record, Staging* staging, HistoryStaging* history) {
  HistoryJournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  if (sequence <= families->MakingOf(decoder.collection()).sequence) return true;
  const CollectionFamilies* family = families->Find(decoder.collection());
  if (family == nullptr) return false;
  const uint16_t collection = shard.names->Intern(decoder.collection(), family->making);
  WatchedPlay play;
  while (decoder.Next(&play)) {
    if (play.at_ms < kFirstTimeMs || play.at_ms > kLastTimeMs) return false;
    const Standing stands = StandingOf(marks.Find(play.user), decoder.collection(), sequence);
    if (!stands.history) continue;
    const int64_t bucket = BucketIndexOf(family->policy, play.at_ms);
    if (stands.filter) {
      staging->Add(collection, {play.user, bucket, shard.hash.Of(IdRef(play.item))});
    }
    history->Add(collection, play);
    shard.counters->replayed_plays.fetch_add(1, std::memory_order_relaxed);
  }
  return decoder.ok();
}

// Plays that are not above what made them be forgotten are skipped; false where the bytes are
// damaged or name a bucket of no calendar, whose family could not be opened again.
bool ReplayRecord(ShardParts& shard, const ReplayedMarks& marks, uint64_t sequence,
                  std::string_view record, Staging* staging) {
  JournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  if (sequence <= families->MakingOf(decoder.collection()).sequence) return true;
  const CollectionFamilies* family = families->Find(decoder.collection());
  if (family == nullptr) return false;
  const uint16_t collection = shard.names->Intern(decoder.collection(), family->making);
  StagedPlay play;
  std::optional<int64_t> known;
  while (decoder.Next(&play.user, &play.bucket, &play.item)) {
    if (known != play.bucket) {
      const std::string label = BucketLabel(family->policy, play.bucket);
      const Result<int64_t> index = BucketIndexOfLabel(family->policy, label);
      if (!index.ok() || *index != play.bucket) return false;
      known = play.bucket;
    }
    if (!StandingOf(marks.Find(play.user), decoder.collection(), sequence).filter) continue;
    staging->Add(collection, play);
    shard.counters->replayed_plays.fetch_add(1, std::memory_order_relaxed);
  }
  return decoder.ok();
}

Status ReplaySlot(ShardParts& shard, const ReplayedMarks& marks, uint32_t position,
                  SlotContents* slot) {
  const std::shared_ptr<Family> family = shard.store->database().ring_family(position);
  if (family == nullptr) return {};
  const std::unique_ptr<rocksdb::Iterator> it(shard.store->db()->NewIterator({}, family->get()));
  bool any = false;
  auto staging = std::make_shared<Staging>();
  auto history = std::make_shared<HistoryStaging>();
  std::string damaged;  // the first
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    any = true;
    uint64_t sequence = 0;
    shard.counters->replayed_records.fetch_add(1, std::memory_order_relaxed);
    const std::string_view record = it->value().ToStringView();
    if (ParseSequenceKey(it->key().ToStringView(), &sequence) &&
        (HistoryJournalDecoder::IsOne(record)
             ? ReplayHistory(shard, marks, sequence, record, staging.get(), history.get())
             : ReplayRecord(shard, marks, sequence, record, staging.get()))) {
      continue;
    }
    if (!NewerText(record).empty()) continue;
    shard.counters->damaged.fetch_add(1, std::memory_order_relaxed);
    const std::string name = RingFamilyName(position) + "/" + it->key().ToString(true);
    if (damaged.empty()) damaged = name;
    shard.store->KeepDamaged(name, record);
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the journal");
  if (!damaged.empty()) {
    RETURN_IF_FAILED(shard.store->MarkLogLost("a journal record is damaged: " + damaged));
  }
  if (!any) return {};
  slot->staging = std::move(staging);
  slot->history = std::move(history);
  return {};
}

}  // namespace

Status Replay(ShardParts& shard) {
  const Result<uint64_t> first = FirstJournalled(*shard.store);
  if (!first.ok()) return first.status();
  ReplayedMarks marks(*first);
  const Status loaded = shard.users.Load([&](std::string_view user, const UserRecord& record) {
    marks.Add(user, record);
    return true;
  });
  if (!loaded.ok()) return loaded;
  SEENDB_PAUSE_POINT("replay: before the journals");
  std::vector<SlotContents> slots(shard.store->database().ring_families());
  for (uint32_t position = 0; position < slots.size(); ++position) {
    RETURN_IF_FAILED(ReplaySlot(shard, marks, position, &slots[position]));
  }
  shard.ring.Begin(std::move(slots), !shard.store->database().read_only());
  return {};
}

}  // namespace seendb
