// items/chunked.h: an array that grows while others read it: pieces of 65,536 entries that never
// move. An entry is one value or several beside each other. Entries begin as zero bytes.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/sync.h"

namespace seendb::items {

/// Threads: any; what T is must be safe for the use that is made of it (an atomic).
template <typename T>
class Chunked {
 public:
  static constexpr uint32_t kChunkBits = 16;
  static constexpr uint32_t kChunk = 1 << kChunkBits;
  static constexpr uint32_t kChunks = 1 << 14;
  static constexpr uint64_t kMost = uint64_t{kChunk} * kChunks;

  /// `width`: values per entry, at least 1.
  explicit Chunked(uint32_t width = 1) : width_(width), chunks_(new std::atomic<T*>[kChunks]()) {}
  Chunked(const Chunked&) = delete;
  Chunked& operator=(const Chunked&) = delete;
  ~Chunked() {
    for (uint32_t i = 0; i < kChunks; ++i) delete[] chunks_[i].load();
  }

  /// The first value of the entry, whose piece is made where it is missing. Precondition: index <
  /// kMost.
  T& Make(uint32_t index) {
    std::atomic<T*>& chunk = chunks_[index >> kChunkBits];
    if (T* there = chunk.load(std::memory_order_acquire)) return there[PlaceOf(index)];
    const MutexLock lock(mutex_);
    if (chunk.load(std::memory_order_acquire) == nullptr) {
      const size_t values = size_t{kChunk} * width_;
      chunk.store(new T[values](), std::memory_order_release);
      bytes_.fetch_add(sizeof(T) * values, std::memory_order_relaxed);
    }
    return chunk.load(std::memory_order_acquire)[PlaceOf(index)];
  }
  /// The first value of the entry; nullptr where its piece was never made.
  T* Find(uint32_t index) const {
    T* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + PlaceOf(index);
  }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  size_t PlaceOf(uint32_t index) const { return size_t{index % kChunk} * width_; }

  const uint32_t width_;
  const std::unique_ptr<std::atomic<T*>[]> chunks_;
  std::atomic<uint64_t> bytes_{sizeof(T*) * kChunks};
  Mutex mutex_{LockRank::kLeaf};
};

}  // namespace seendb::items
