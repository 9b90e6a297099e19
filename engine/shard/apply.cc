#include "shard/apply.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/return_if_failed.h"
#include "format/history_journal.h"
#include "format/journal_codec.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// A shard that lost a part of its log lost the offsets in it: what lies between what it has and the
// batch would be passed over.
Status CheckGoesOn(const IngestBatch& batch, Sources& sources, uint32_t shard)
    REQUIRES(sources.mutex()) {
  for (size_t i = 0; i < batch.sources.size(); ++i) {
    const SourceStep& step = batch.sources[i];
    if (!step.from || step.held || !StepsOfShard{shard}.Has(batch, step)) continue;
    const auto known = sources.records().find(Sources::Key(step.topic, step.partition));
    const bool fresh = known == sources.records().end();
    if (!fresh && known->second.next_offset >= *step.from) continue;
    return Status::Incompatible(
        "shard " + std::to_string(shard) + " has stored " +
            (fresh ? "no offset" : "offset " + std::to_string(known->second.next_offset)) +
            " of topic \"" + std::string(step.topic) + "\", partition " +
            std::to_string(step.partition) + "; the batch goes on from offset " +
            std::to_string(*step.from),
        "/sources/" + std::to_string(i) + "/from");
  }
  return {};
}

// Adds the journal records of what is to be staged.
rocksdb::Status AddJournal(ShardParts& shard, std::string_view collection, const RingPlays& plays,
                           const SlotPin& pin, rocksdb::WriteBatch* batch) {
  const std::shared_ptr<Family> journal = shard.store->database().ring_family(pin.position());
  rocksdb::Status status;
  const auto put = [&](std::string_view record) {
    status = batch->Put(journal->get(), SequenceKey(shard.NextSequence()),
                        {record.data(), record.size()});
  };
  if (!plays.plays.empty()) {
    thread_local JournalEncoder encoder;
    encoder.Begin(collection, plays.plays.front().bucket);
    for (const StagedPlay& play : plays.plays) encoder.Add(play.user, play.bucket, play.item);
    put(encoder.Finish());
  }
  if (status.ok() && !plays.watched.empty()) {
    thread_local HistoryJournalEncoder encoder;
    encoder.Begin(collection, plays.watched.front().at_ms);
    for (const WatchedPlay& play : plays.watched) encoder.Add(play);
    put(encoder.Finish());
  }
  return status;
}

// For LoadedRecords. Events of one user mostly follow each other.
auto UsersOf(std::span<const ShardEvent> events) {
  return [events](const auto& visit) {
    std::string_view last;
    for (const ShardEvent& event : events) {
      if (event.play.user == last) continue;
      last = event.play.user;
      visit(last);
    }
  };
}

Status WriteBatches(ShardParts& shard, const Collection& collection, const SlotPin* pin,
                    ShardBatch* taken, rocksdb::WriteBatch* batch)
    REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  const RingPlays plays = taken->ForRing();
  rocksdb::Status status;
  if (!plays.empty()) {
    assert(pin != nullptr);
    status = AddJournal(shard, collection.name, plays, *pin, batch);
  }
  if (status.ok() && batch->Count() > 0) {
    const bool sync = collection.policy.durability == Durability::kSync;
    status = shard.store->db()->Write(sync ? Synced() : NotSynced(), batch);
  }
  if (!status.ok()) return FromRocks(status, "record");
  if (!plays.empty()) shard.ring.Stage(collection.id, plays, *pin);
  return {};
}

// What a write does to the log it comes from.
struct LogChange {
  SourceChange sources;
  bool meets_rows = false;  // of the outbox, and their changes() is held
  Outbox::Added rows = {};  // new ones there
};

Status AddLog(ShardParts& shard, const ShardWrite& write, const FirstPlays* firsts,
              LogChange* change, rocksdb::WriteBatch* batch) REQUIRES_SHARED(shard.apply_lock) {
  Status status = change->sources.AddTo(batch, *shard.store);
  if (!status.ok() || firsts == nullptr || !write.log->batch.outbox_first_plays) return status;
  const OutboxValue stamp{shard.NextSequence(), shard.clock->NowMs(), {}};
  return shard.outbox.AddTo(batch, write.log->batch, stamp, *firsts, change->meets_rows,
                            &change->rows);
}

// `change`: null where the write is not out of a log.
Status Write(ShardParts& shard, const ShardWrite& write, const LoadedRecords& known,
             FirstPlays* firsts, const SlotPin* pin, LogChange* change, RecordResult* result)
    REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  const Collection& collection = write.collection;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection.name);
  if (shard.stopped.contains(collection.name)) {
    return Status::Busy("the collection is being changed");
  }
  if (family == nullptr || family->making != collection.making) {
    return Status::Unavailable("the collection is being made");
  }
  if (!write.events.empty() && !write.given.HasFamilies(*family)) {
    return Status::Unavailable("the collection was made anew meanwhile");
  }
  ShardBatch taken(&shard, &known, family, collection.policy, write.given, firsts);
  rocksdb::WriteBatch batch;
  Status status = taken.Take(write.events, change == nullptr ? nullptr : &change->sources, result);
  if (status.ok()) status = taken.AddTo(&batch);
  if (status.ok() && change != nullptr) status = AddLog(shard, write, firsts, change, &batch);
  if (!status.ok()) return status;
  result->accepted += taken.accepted();
  result->outside_window += taken.outside_window();
  status = WriteBatches(shard, collection, pin, &taken, &batch);
  if (firsts != nullptr) firsts->End(status.ok(), result);
  if (!status.ok()) return status;
  taken.Commit();
  if (change != nullptr) shard.outbox.Commit(change->rows);
  if (collection.policy.history.enabled) {
    shard.counters->history_recorded.fetch_add(taken.watched(), std::memory_order_relaxed);
    shard.counters->history_paused.fetch_add(taken.paused(), std::memory_order_relaxed);
  }
  return {};
}

// What the shard has had of the log is left out.
Status WriteOfLog(ShardParts& shard, const ShardWrite& write, const LoadedRecords& known,
                  FirstPlays* firsts, const SlotPin* pin, RecordResult* result)
    REQUIRES_SHARED(shard.apply_lock) {
  const LogPart& log = *write.log;
  const MutexLock lock(shard.sources.mutex());
  RETURN_IF_FAILED(CheckGoesOn(log.batch, shard.sources, shard.store->shard()));
  LogChange change{
      SourceChange(log.batch, &shard.sources, StepsOfShard{shard.store->shard(), log.shards})};
  const auto repeated = [&](const ShardEvent& event) {
    return change.sources.Repeated(event.index);
  };
  std::vector<ShardEvent> fresh;  // where some are repeated
  const bool all = std::none_of(write.events.begin(), write.events.end(), repeated);
  if (!all) {
    std::remove_copy_if(write.events.begin(), write.events.end(), std::back_inserter(fresh),
                        repeated);
  }
  for (const Refusal& refusal : log.refused) {
    if (change.sources.Repeated(refusal.index)) continue;
    change.sources.Count(refusal.index, false);
    Refuse(result, refusal.index, refusal.status, refusal.reason);
  }
  if (change.sources.nothing_new()) return {};
  const ShardWrite part{write.collection, write.given,
                        all ? write.events : std::span<const ShardEvent>(fresh), write.log};
  shard.apply_lock.AssertHeldShared();
  Status written;
  if (firsts != nullptr && log.batch.outbox_first_plays && shard.outbox.MayMeet(log.batch)) {
    const MutexLock rows_lock(shard.outbox.changes());
    change.meets_rows = true;
    written = Write(shard, part, known, firsts, pin, &change, result);
  } else {
    written = Write(shard, part, known, firsts, pin, &change, result);
  }
  if (written.ok()) change.sources.Commit();
  return written;
}

}  // namespace

Status CheckLog(ShardParts& shard, const IngestBatch& batch) {
  shard.use.AssertHeldShared();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  if (shard.recovering) return Status::Busy("a shard comes back from a failure of its disk");
  const MutexLock lock(shard.sources.mutex());
  return CheckGoesOn(batch, shard.sources, shard.store->shard());
}

Status Apply(ShardParts& shard, const ShardWrite& write, FirstPlays* firsts, const SlotPin* pin,
             RecordResult* result) {
  shard.use.AssertHeldShared();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  if (write.log != nullptr && shard.recovering) {
    return Status::Busy("a shard comes back from a failure of its disk");
  }
  return WithRecordsOf<SharedLock::Shared>(
      UsersOf(write.events), shard.users, shard.apply_lock, [&](const LoadedRecords& known) {
        shard.apply_lock.AssertHeldShared();
        return write.log == nullptr ? Write(shard, write, known, firsts, pin, nullptr, result)
                                    : WriteOfLog(shard, write, known, firsts, pin, result);
      });
}

Status LoadUsers(const ShardParts& shard, std::span<const ShardEvent> events, RecordTier tier) {
  shard.use.AssertHeldShared();
  return LoadedRecords(&shard.users).Load(UsersOf(events), tier);
}

}  // namespace seendb
