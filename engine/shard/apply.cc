#include "shard/apply.h"

#include <algorithm>
#include <string>

#include "store/status.h"

namespace seendb {
namespace {

// A shard that lost a part of its log lost the offsets in it: what lies between what it has and the
// batch would be passed over.
Status CheckGoesOn(const IngestBatch& batch, Sources& sources, uint32_t shard)
    REQUIRES(sources.mutex()) {
  for (size_t i = 0; i < batch.sources.size(); ++i) {
    const SourceStep& step = batch.sources[i];
    if (!step.from || step.held) continue;
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

Status WriteBatches(ShardParts& shard, const Collection& collection, const SlotPin* pin,
                    ShardBatch* taken, rocksdb::WriteBatch* batch)
    REQUIRES_SHARED(shard.ring->apply_lock()) {
  shard.ring->apply_lock().AssertHeldShared();
  const bool sync = collection.policy.durability == Durability::kSync;
  const RingBatch plays = taken->ForRing(collection.id, batch, sync);
  if (!plays.empty()) {
    assert(pin != nullptr);
    return shard.ring->Record(plays, *pin);
  }
  if (batch->Count() == 0) return {};
  return FromRocks(shard.store->db()->Write(sync ? Synced() : NotSynced(), batch), "record");
}

// `change`: what the write does to its sources, or null.
Status Write(ShardParts& shard, const ShardWrite& write, const SlotPin* pin, SourceChange* change,
             RecordResult* result) REQUIRES_SHARED(shard.ring->apply_lock()) {
  shard.ring->apply_lock().AssertHeldShared();
  const Collection& collection = write.collection;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection.name);
  if (family == nullptr) return Status::Unavailable("the collection is being made");
  ShardBatch taken(shard.ring.get(), family, collection.policy, write.given, write.firsts);
  rocksdb::WriteBatch batch;
  Status status = taken.Take(write.events, change, result);
  if (status.ok()) status = taken.AddTo(&batch, *shard.store);
  if (status.ok() && change != nullptr) status = change->AddTo(&batch, *shard.store);
  if (!status.ok()) return status;
  result->accepted += taken.accepted();
  status = WriteBatches(shard, collection, pin, &taken, &batch);
  if (write.firsts != nullptr) write.firsts->End(status.ok(), result);
  if (!status.ok()) return status;
  taken.Commit();
  if (collection.policy.history.enabled) {
    shard.counters->history_recorded.fetch_add(taken.watched(), std::memory_order_relaxed);
    shard.counters->history_paused.fetch_add(taken.paused(), std::memory_order_relaxed);
  }
  return {};
}

// What the shard has had of the log is left out.
Status WriteOfLog(ShardParts& shard, const ShardWrite& write, const SlotPin* pin,
                  RecordResult* result) REQUIRES_SHARED(shard.ring->apply_lock()) {
  const LogPart& log = *write.log;
  const MutexLock lock(shard.sources.mutex());
  const Status goes_on = CheckGoesOn(log.batch, shard.sources, shard.store->shard());
  if (!goes_on.ok()) return goes_on;
  SourceChange change(log.batch, &shard.sources, log.counts_dead_letters);
  const auto repeated = [&](const ShardEvent& event) { return change.Repeated(event.index); };
  std::vector<ShardEvent> fresh;  // where some are repeated
  const bool all = std::none_of(write.events.begin(), write.events.end(), repeated);
  if (!all) {
    std::remove_copy_if(write.events.begin(), write.events.end(), std::back_inserter(fresh),
                        repeated);
  }
  for (const uint32_t event : log.refused) {
    if (change.Repeated(event)) continue;
    change.Count(event, false);
    ++result->refused;
  }
  if (change.nothing_new()) return {};
  const ShardWrite part{write.collection, write.given, all ? write.events : fresh, write.firsts,
                        write.log};
  shard.ring->apply_lock().AssertHeldShared();
  const Status written = Write(shard, part, pin, &change, result);
  if (written.ok()) change.Commit();
  return written;
}

}  // namespace

Status CheckLog(ShardParts& shard, const IngestBatch& batch) {
  shard.use.AssertHeldShared();
  const Status writable = shard.store->CheckWritable();
  if (!writable.ok()) return writable;
  if (shard.recovering) return Status::Busy("a shard comes back from a failure of its disk");
  const MutexLock lock(shard.sources.mutex());
  return CheckGoesOn(batch, shard.sources, shard.store->shard());
}

Status Apply(ShardParts& shard, const ShardWrite& write, const SlotPin* pin, RecordResult* result) {
  shard.use.AssertHeldShared();
  const Status writable = shard.store->CheckWritable();
  if (!writable.ok()) return writable;
  if (write.log != nullptr && shard.recovering) {
    return Status::Busy("a shard comes back from a failure of its disk");
  }
  const SharedLock::Shared inside(shard.ring->apply_lock());
  shard.ring->apply_lock().AssertHeldShared();
  return write.log == nullptr ? Write(shard, write, pin, nullptr, result)
                              : WriteOfLog(shard, write, pin, result);
}

}  // namespace seendb
