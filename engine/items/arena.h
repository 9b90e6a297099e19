// items/arena.h: memory for records and texts, by size class: pieces of a class lie in slabs of
// 64 KB that hold nothing else, so that what one item leaves the next one fits into. A slab that is
// empty serves any class.

#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "base/sync.h"

namespace seendb::items {

/// See the head of this file. Threads: any. The arena frees what is left when it goes.
class Arena {
 public:
  /// Larger pieces are the allocator's own.
  static constexpr size_t kLargestPiece = 8192;

  Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// At least `size` bytes, aligned to 8. Cost: a short section of a mutex.
  void* Allocate(size_t size);
  /// `size` as it was asked for.
  void Free(void* piece, size_t size);

  /// The bytes that a piece of this size takes.
  static size_t PieceBytes(size_t size);
  /// The bytes of all pieces that are in use.
  uint64_t used_bytes() const;
  /// The bytes of slabs, in use or empty, and of large pieces.
  uint64_t reserved_bytes() const;

 private:
  struct Slab;
  static constexpr size_t kClasses = 88;

  Slab* TakeSlab(size_t size_class) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  std::array<Slab*, kClasses> partial_ GUARDED_BY(mutex_) = {};  // slabs with room, by class
  Slab* empty_ GUARDED_BY(mutex_) = nullptr;
  std::vector<void*> regions_ GUARDED_BY(mutex_);  // memory that slabs are cut from
  size_t cut_ GUARDED_BY(mutex_) = 0;              // bytes of the last region that are slabs
  uint64_t used_ GUARDED_BY(mutex_) = 0;
  std::unordered_set<void*> large_pieces_ GUARDED_BY(mutex_);
  uint64_t large_ GUARDED_BY(mutex_) = 0;  // their bytes
};

}  // namespace seendb::items
