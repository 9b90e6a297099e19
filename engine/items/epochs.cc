#include "items/epochs.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace seendb::items {

Epochs::~Epochs() { Collect(); }

std::atomic<uint64_t>& Epochs::Enter() const {
  static std::atomic<uint32_t> next_thread{0};
  thread_local uint32_t mine = next_thread.fetch_add(1, std::memory_order_relaxed) % kReaders;
  for (uint32_t tries = 0;; ++tries) {
    std::atomic<uint64_t>& slot = slots_[mine].epoch;
    uint64_t free = 0;
    // An epoch that is older by now only keeps more alive.
    if (slot.load(std::memory_order_relaxed) == 0 && slot.compare_exchange_strong(free, now_)) {
      return slot;
    }
    mine = (mine + 1) % kReaders;
    if (tries % kReaders == kReaders - 1) std::this_thread::yield();
  }
}

uint64_t Epochs::OldestInside() const {
  uint64_t oldest = now_;
  for (uint32_t i = 0; i < kReaders; ++i) {
    const uint64_t epoch = slots_[i].epoch;
    if (epoch != 0) oldest = std::min(oldest, epoch);
  }
  return oldest;
}

void Epochs::Retire(std::function<void()> free) {
  bool due = false;
  {
    const MutexLock lock(mutex_);
    retired_.push_back({now_, std::move(free)});
    due = ++since_collected_ >= kCollectEvery;
  }
  if (due) Collect();
}

void Epochs::Collect() {
  ++now_;
  const uint64_t oldest = OldestInside();
  std::vector<Retired> done;
  {
    const MutexLock lock(mutex_);
    since_collected_ = 0;
    const auto end = std::find_if(retired_.begin(), retired_.end(),
                                  [oldest](const Retired& one) { return one.epoch >= oldest; });
    done.assign(std::make_move_iterator(retired_.begin()), std::make_move_iterator(end));
    retired_.erase(retired_.begin(), end);
  }
  for (const Retired& one : done) one.free();
}

}  // namespace seendb::items
