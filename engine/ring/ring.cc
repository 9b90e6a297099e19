#include "ring/ring.h"

#include <algorithm>
#include <cassert>

#include "base/pause_point.h"
#include "format/journal_codec.h"
#include "store/status.h"

namespace seendb {

Ring::Ring(ShardStore* store, const RingOptions& options, const ClockGuard* clock, NameTable* names,
           Counters* counters)
    : store_(store),
      options_(options),
      clock_(clock),
      names_(names),
      counters_(counters),
      apply_lock_(LockRank::kApply, store->shard()),
      days_(store),
      sequence_(store->epoch() << 40) {}

const char* Ring::StateName(State state) {
  switch (state) {
    case State::kFree:
      return "free";
    case State::kCurrent:
      return "current";
    case State::kClosed:
      return "closed";
    case State::kDraining:
      return "draining";
    case State::kDrained:
      return "drained";
  }
  return "";
}

std::optional<SlotPin> Ring::Pin() {
  const ReaderLock lock(mutex_);
  if (current_ == nullptr) return {};
  Presence::Inside inside = current_->writers->presence.TryEnter();
  assert(inside);  // it is closed when it is current no more
  return SlotPin(current_->writers, std::move(inside), current_->position, current_->staging,
                 current_->history);
}

Status Ring::Record(const RingBatch& batch, const SlotPin& pin) {
  apply_lock_.AssertHeldShared();
  Staging* const staging = pin.staging_.get();
  HistoryStaging* const history = pin.history_.get();
  const std::shared_ptr<Family> journal = store_->ring_family(pin.position_);
  rocksdb::WriteBatch own;
  rocksdb::WriteBatch& writes = batch.also != nullptr ? *batch.also : own;
  rocksdb::Status status;
  uint64_t sequence = 0;
  const auto put = [&](std::string_view record) {
    sequence = NextSequence();
    status = writes.Put(journal->get(), SequenceKey(sequence), {record.data(), record.size()});
  };
  if (!batch.plays.empty()) {
    thread_local JournalEncoder encoder;
    encoder.Begin(batch.collection, batch.plays.front().bucket);
    for (const StagedPlay& play : batch.plays) encoder.Add(play.user, play.bucket, play.item);
    put(encoder.Finish());
  }
  if (status.ok() && !batch.watched.empty()) {
    thread_local HistoryJournalEncoder encoder;
    encoder.Begin(batch.collection, batch.watched.front().at_ms);
    for (const WatchedPlay& play : batch.watched) encoder.Add(play);
    put(encoder.Finish());
  }
  if (status.ok()) {
    status = store_->db()->Write(batch.sync ? Synced() : NotSynced(), &writes);
  }
  if (!status.ok()) return FromRocks(status, "journal");
  for (const StagedPlay& play : batch.plays) staging->Add(batch.collection_id, play);
  for (const StagedPlay& play : batch.watched_staged) staging->Add(batch.collection_id, play);
  for (const WatchedPlay& play : batch.watched) history->Add(batch.collection_id, play);
  // Summing the stripes costs more than a small batch: it is done now and then.
  const bool look = batch.plays.size() + batch.watched.size() >= 256 || sequence % 64 == 0;
  if (look && staging->bytes() + history->bytes() >= options_.slot_bytes_max)
    pin.writers_->full.store(true, std::memory_order_relaxed);
  return {};
}

void Ring::CollectHistory(uint16_t collection, std::string_view user, StagedStates* states) const {
  SEENDB_PAUSE_POINT("ring: collect history");
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.history == nullptr) continue;
    slot.history->ForUser(collection, user, [&](std::string_view item, const HistoryView& state) {
      StagedState& known = (*states)[std::string(item)];
      if (!state.Supersedes(known.state())) return;
      known.at_ms = state.at_ms;
      known.payload.assign(state.payload);
    });
  }
}

void Ring::Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket, bool drained,
                   std::vector<Fingerprint>* items) const {
  SEENDB_PAUSE_POINT("ring: collect");
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging == nullptr || (slot.state == State::kDrained) != drained) continue;
    slot.staging->Collect(collection, user, oldest_bucket, items);
  }
}

std::optional<int64_t> Ring::NewestStagedBucket(uint16_t collection, std::string_view user) const {
  std::optional<int64_t> newest;
  const auto meet = [&newest](int64_t bucket) {
    newest = std::max(newest.value_or(bucket), bucket);
  };
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging == nullptr || slot.state == State::kDrained) continue;
    if (!user.empty()) {
      slot.staging->ForUser(collection, user, [&](int64_t bucket, uint32_t) { meet(bucket); });
    } else if (const auto of_slot = slot.staging->NewestBucket(collection)) {
      meet(*of_slot);
    }
  }
  return newest;
}

void Ring::OpenNext() {
  current_ = nullptr;
  for (uint32_t tried = 0; tried < options_.slots; ++tried) {
    Slot& slot = slots_[(turn_ + tried) % options_.slots];
    if (slot.state != State::kFree && slot.state != State::kDrained) continue;
    slot.state = State::kCurrent;
    ++slot.generation;
    slot.opened_ms = clock_->NowMs();
    slot.closed_ms = 0;
    slot.staging = std::make_shared<Staging>();
    slot.history = std::make_shared<HistoryStaging>();
    slot.writers = std::make_shared<SlotWriters>();
    turn_ = (slot.position + 1) % options_.slots;
    current_ = &slot;
    return;
  }
}

void Ring::Turn() {
  if (current_ == nullptr) {
    OpenNext();
  } else if (current_->staging->entries() == 0) {
    current_->opened_ms = clock_->NowMs();
  } else {
    current_->writers->presence.Close();
    current_->state = State::kClosed;
    current_->closed_ms = clock_->NowMs();
    current_->closed_order = ++closings_;
    OpenNext();
  }
}

void Ring::Rotate() {
  const WriterLock lock(mutex_);
  Turn();
}

bool Ring::RotationIsDue(int64_t now_ms) const {
  return current_ == nullptr || current_->writers->full ||
         current_->opened_ms / options_.slot_ms != now_ms / options_.slot_ms;
}

void Ring::RotateIfDue() {
  const int64_t now_ms = clock_->NowMs();
  {
    const ReaderLock lock(mutex_);
    if (!RotationIsDue(now_ms)) return;
  }
  const WriterLock lock(mutex_);
  if (RotationIsDue(now_ms)) Turn();  // of many who saw it, one turns
}

uint32_t Ring::ClosedSlots() const {
  const ReaderLock lock(mutex_);
  return static_cast<uint32_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.state == State::kClosed || slot.state == State::kDraining;
  }));
}

std::vector<SlotInfo> Ring::Slots() const {
  const ReaderLock lock(mutex_);
  std::vector<SlotInfo> infos;
  for (const Slot& slot : slots_) {
    SlotInfo info;
    info.shard = store_->shard();
    info.slot = slot.position;
    info.state = StateName(slot.state);
    info.generation = slot.generation;
    info.opened_ms = slot.opened_ms;
    if (slot.staging != nullptr) {
      info.users = slot.staging->entries();
      info.plays = slot.staging->plays();
      info.bytes = slot.staging->bytes();
      if (slot.history != nullptr) info.bytes += slot.history->bytes();
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<StagedReport> Ring::Inspect(std::string_view user) const {
  const std::shared_ptr<const FamilySet> families = store_->families();
  const ReaderLock lock(mutex_);
  std::vector<StagedReport> reports;
  for (const Slot& slot : slots_) {
    if (slot.staging == nullptr) continue;
    for (const auto& [name, collection] : families->collections) {
      // Clang 14 captures no structured bindings.
      const auto report = [&, &name = name, &policy = collection.policy](int64_t bucket,
                                                                         uint32_t items) {
        reports.push_back({name, BucketLabel(policy, bucket), slot.position,
                           slot.state == State::kDrained, items});
      };
      slot.staging->ForUser(names_->Intern(name, collection.making), user, report);
    }
  }
  return reports;
}

void Ring::AddTo(EngineStats* stats) const {
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging == nullptr) continue;
    if (slot.state == State::kDrained) {
      stats->short_term_bytes += slot.staging->bytes();
      continue;
    }
    const uint64_t plays = slot.staging->plays();
    stats->ring_bytes += slot.staging->bytes();
    if (slot.history != nullptr) stats->ring_bytes += slot.history->bytes();
    stats->ring_plays += plays;
    if (plays > 0 && (stats->ring_oldest_ms == 0 || slot.opened_ms < stats->ring_oldest_ms)) {
      stats->ring_oldest_ms = slot.opened_ms;
    }
  }
}

}  // namespace seendb
