// items/epochs.h: memory that readers may still look at is freed once they have left.
//
//   reader:  const Epochs::Guard guard(epochs);
//            ... follow pointers ...
//   writer:  slot.store(new_record);
//            epochs.Retire([=] { Free(old_record); });
//
// A reader notes the epoch in which it entered, in a slot of its own cache line. The writer
// frees what was retired in an epoch when every reader inside entered later (Fraser, "Practical
// lock-freedom", 2004). The pointers that readers follow and writers replace are sequentially
// consistent atomics: either the reader sees the new one, or the writer sees the reader.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/sync.h"

namespace seendb::items {

/// See the head of this file. Threads: any.
class Epochs {
 public:
  /// Readers at once; more wait for one another.
  static constexpr uint32_t kReaders = 256;

  /// A reader inside, while it lives. Cost: two atomic writes to a line of the thread's own.
  class Guard {
   public:
    explicit Guard(const Epochs& epochs) : slot_(epochs.Enter()) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { slot_.store(0, std::memory_order_release); }

   private:
    std::atomic<uint64_t>& slot_;
  };

  Epochs() : slots_(new Slot[kReaders]) {}
  Epochs(const Epochs&) = delete;
  Epochs& operator=(const Epochs&) = delete;
  /// Nobody is inside any more.
  ~Epochs();

  /// Calls `free` when nobody can see any more what the caller has just made unreachable. It may
  /// run on any thread that retires or collects, which must hold no lock of rank kLeaf. A callable
  /// of two words or less costs no allocation.
  void Retire(std::function<void()> free);
  /// Frees what can be freed.
  void Collect();

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> epoch{0};  // 0: nobody
  };
  struct Retired {
    uint64_t epoch;
    std::function<void()> free;
  };
  static constexpr size_t kCollectEvery = 64;

  std::atomic<uint64_t>& Enter() const;
  uint64_t OldestInside() const;

  const std::unique_ptr<Slot[]> slots_;
  std::atomic<uint64_t> now_{1};
  Mutex mutex_{LockRank::kLeaf};
  std::vector<Retired> retired_ GUARDED_BY(mutex_);  // ascending by epoch
  size_t since_collected_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seendb::items
