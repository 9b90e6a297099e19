#include "ring/ring.h"

#include <algorithm>
#include <cassert>

#include "base/pause_point.h"

namespace seendb {
namespace {

// Summing the stripes costs more than a small write: it is done for large ones, and now and then.
constexpr size_t kLargeWrite = 256;
constexpr uint32_t kLookEvery = 64;

}  // namespace

void Ring::Begin(std::vector<SlotContents> slots, bool takes_plays) {
  const WriterLock lock(mutex_);
  assert(slots_.empty());
  slots_.resize(std::max<size_t>(options_.slots, slots.size()));
  for (uint32_t position = 0; position < slots_.size(); ++position) {
    Slot& slot = slots_[position];
    slot.position = position;
    if (position >= slots.size() || slots[position].staging == nullptr) continue;
    slot.state = State::kClosed;
    slot.opened_ms = slot.closed_ms = clock_->NowMs();
    slot.closed_order = position + 1;
    slot.staging = std::move(slots[position].staging);
    slot.history = std::move(slots[position].history);
  }
  closings_ = slots_.size();
  if (takes_plays) OpenNext();
}

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

void Ring::Stage(uint16_t collection, const RingPlays& plays, const SlotPin& pin) const {
  assert(pin.inside_ && plays.watched.size() == plays.watched_staged.size());
  Staging& staging = *pin.staging_;
  HistoryStaging& history = *pin.history_;
  // History first: whoever finds a play in a filter, and looks for it in history, finds it there.
  for (const WatchedPlay& play : plays.watched) history.Add(collection, play);
  staging.AddAll(collection, plays.plays);
  staging.AddAll(collection, plays.watched_staged);
  const bool large = plays.plays.size() + plays.watched.size() >= kLargeWrite;
  thread_local uint32_t small_writes = 0;
  if (!large && small_writes++ % kLookEvery != 0) return;
  const bool full = staging.bytes() + history.bytes() >= options_.slot_bytes_max;
  if (!full && !staging.crowded()) return;
  pin.writers_->full.store(true, std::memory_order_relaxed);
}

void Ring::Forget(uint16_t collection, std::string_view user, bool history) {
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging != nullptr) slot.staging->Erase(collection, user);
    if (history && slot.history != nullptr) slot.history->Erase(collection, user);
  }
}

StagedHistory Ring::HistoryOf(uint16_t collection, std::string_view user) const {
  SEENDB_PAUSE_POINT("ring: collect history");
  std::vector<std::shared_ptr<HistoryStaging>> slots;
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.history != nullptr) slots.push_back(slot.history);
  }
  return {std::move(slots), collection, user};
}

bool Ring::HoldsHistoryOf(uint16_t collection, std::string_view user) const {
  return HistoryOf(collection, user).NewestMs() != kNoTimeMs;
}

uint64_t Ring::DrainsBegun() const {
  const ReaderLock lock(mutex_);
  return drains_begun_;
}

void Ring::Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket, bool drained,
                   std::vector<Fingerprint>* items, BucketSpan* buckets) const {
  SEENDB_PAUSE_POINT("ring: collect");
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging == nullptr || (slot.state == State::kDrained) != drained) continue;
    slot.staging->Collect(collection, user, oldest_bucket, items, buckets);
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

bool Ring::Holds(uint16_t collection) const {
  if (NewestStagedBucket(collection, {})) return true;
  const ReaderLock lock(mutex_);
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.history != nullptr && slot.history->Holds(collection);
  });
}

// ---- Draining ----

Ring::Slot* Ring::OldestClosed() {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    if (slot.state != State::kClosed) continue;
    if (oldest == nullptr || slot.closed_order < oldest->closed_order) oldest = &slot;
  }
  return oldest;
}

std::optional<SlotContents> Ring::BeginDrain(std::chrono::milliseconds longest_wait) {
  std::shared_ptr<SlotWriters> writers;
  {
    const ReaderLock lock(mutex_);
    const Slot* const oldest = OldestClosed();
    assert(oldest != nullptr);
    writers = oldest->writers;
  }
  const auto deadline = std::chrono::steady_clock::now() + longest_wait;
  if (writers != nullptr && !writers->presence.WaitUntilEmpty(deadline)) return {};
  const WriterLock lock(mutex_);
  Slot* const oldest = OldestClosed();  // the same: only drains, one at a time, take any away
  assert(oldest != nullptr && oldest->writers == writers);
  oldest->state = State::kDraining;
  ++drains_begun_;
  return SlotContents{oldest->position, oldest->closed_ms, oldest->staging, oldest->history};
}

void Ring::EndDrain(uint32_t position, bool drained) {
  const WriterLock lock(mutex_);
  assert(position < slots_.size());
  Slot& slot = slots_[position];
  assert(slot.state == State::kDraining);
  slot.state = drained ? State::kDrained : State::kClosed;
  if (!drained) return;
  slot.history.reset();  // whoever comes now finds it in its families
  EvictShortTerm();
  if (current_ == nullptr) OpenNext();
}

void Ring::EvictShortTerm() {
  while (true) {
    uint64_t bytes = 0;
    Slot* oldest = nullptr;
    for (Slot& slot : slots_) {
      if (slot.state != State::kDrained || slot.staging == nullptr) continue;
      bytes += slot.staging->bytes();
      if (oldest == nullptr || slot.closed_order < oldest->closed_order) oldest = &slot;
    }
    if (oldest == nullptr || bytes <= options_.short_term_bytes) return;
    oldest->staging.reset();
  }
}

// ---- Reports ----

std::vector<SlotInfo> Ring::Slots() const {
  const ReaderLock lock(mutex_);
  std::vector<SlotInfo> infos;
  for (const Slot& slot : slots_) {
    SlotInfo info;
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
