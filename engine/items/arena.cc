#include "items/arena.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace seendb::items {
namespace {

constexpr size_t kSlabBytes = size_t{64} << 10;
constexpr size_t kRegionBytes = size_t{4} << 20;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kStep = 8;
constexpr size_t kSmallest = 16;   // a free piece holds a pointer
constexpr size_t kFineMost = 512;  // steps of 8 bytes up to here
constexpr size_t kFine = (kFineMost - kSmallest) / kStep + 1;
constexpr size_t kStepsPerDouble = 6;  // beyond: at most a seventh is lost

/// Piece sizes: 16, 24 .. 512, and then six per doubling up to 8,192.
size_t SizeOfClass(size_t size_class) {
  if (size_class < kFine) return kSmallest + size_class * kStep;
  const size_t beyond = size_class - kFine;
  const size_t base = kFineMost << (beyond / kStepsPerDouble);
  return (base + base * (beyond % kStepsPerDouble + 1) / kStepsPerDouble + kStep - 1) / kStep *
         kStep;
}

size_t ClassOfSize(size_t size) {
  if (size <= kSmallest) return 0;
  if (size <= kFineMost) return (size - kSmallest + kStep - 1) / kStep;
  size_t size_class =
      kFine + (static_cast<size_t>(std::bit_width((size - 1) / kFineMost)) - 1) * kStepsPerDouble;
  while (SizeOfClass(size_class) < size) ++size_class;
  return size_class;
}

}  // namespace

/// Lies at the start of its 64 KB, which are aligned to their size.
struct Arena::Slab {
  struct FreePiece {
    FreePiece* next;
  };

  Slab* next;
  Slab* previous;
  FreePiece* free;  ///< pieces that were freed
  uint32_t fresh;   ///< offset of the first piece that was never used
  uint32_t used;    ///< pieces in use
  size_t size_class;

  static Slab* Of(void* piece) {
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(piece) & ~(kSlabBytes - 1));
  }
  bool HasRoom() const { return free != nullptr || fresh + SizeOfClass(size_class) <= kSlabBytes; }
  void Unlink(Slab** head) {
    (previous != nullptr ? previous->next : *head) = next;
    if (next != nullptr) next->previous = previous;
  }
  void Link(Slab** head) {
    previous = nullptr;
    next = *head;
    if (next != nullptr) next->previous = this;
    *head = this;
  }
};

Arena::Arena() = default;

Arena::~Arena() {
  const MutexLock lock(mutex_);
  for (void* region : regions_) std::free(region);
  for (void* piece : large_pieces_) ::operator delete(piece);
}

size_t Arena::PieceBytes(size_t size) {
  return size > kLargestPiece ? size : SizeOfClass(ClassOfSize(size));
}

Arena::Slab* Arena::TakeSlab(size_t size_class) {
  Slab* slab = empty_;
  if (slab != nullptr) {
    empty_ = slab->next;
  } else {
    if (regions_.empty() || cut_ == kRegionBytes) {
      void* region = std::aligned_alloc(kHugePage, kRegionBytes);
      if (region == nullptr) throw std::bad_alloc();
      madvise(region, kRegionBytes, MADV_HUGEPAGE);  // a hint: fewer misses of the address cache
      regions_.push_back(region);
      cut_ = 0;
    }
    slab = reinterpret_cast<Slab*>(static_cast<char*>(regions_.back()) + cut_);
    cut_ += kSlabBytes;
  }
  *slab = {.next = nullptr,
           .previous = nullptr,
           .free = nullptr,
           .fresh = sizeof(Slab),
           .used = 0,
           .size_class = size_class};
  slab->Link(&partial_[size_class]);
  return slab;
}

void* Arena::Allocate(size_t size) {
  if (size > kLargestPiece) {
    void* piece = ::operator new(size);
    const MutexLock lock(mutex_);
    large_pieces_.insert(piece);
    large_ += size;
    used_ += size;
    return piece;
  }
  const size_t size_class = ClassOfSize(size);
  const MutexLock lock(mutex_);
  Slab* slab = partial_[size_class];
  if (slab == nullptr) slab = TakeSlab(size_class);
  void* piece = slab->free;
  if (piece != nullptr) {
    slab->free = slab->free->next;
  } else {
    piece = reinterpret_cast<char*>(slab) + slab->fresh;
    slab->fresh += static_cast<uint32_t>(SizeOfClass(size_class));
  }
  ++slab->used;
  used_ += SizeOfClass(size_class);
  if (!slab->HasRoom()) slab->Unlink(&partial_[size_class]);
  return piece;
}

void Arena::Free(void* piece, size_t size) {
  if (size > kLargestPiece) {
    {
      const MutexLock lock(mutex_);
      large_pieces_.erase(piece);
      large_ -= size;
      used_ -= size;
    }
    ::operator delete(piece);
    return;
  }
  Slab* slab = Slab::Of(piece);
  const MutexLock lock(mutex_);
  const bool had_room = slab->HasRoom();
  slab->free = ::new (piece) Slab::FreePiece{slab->free};
  used_ -= SizeOfClass(slab->size_class);
  if (!had_room) slab->Link(&partial_[slab->size_class]);
  if (--slab->used > 0) return;
  slab->Unlink(&partial_[slab->size_class]);
  slab->next = empty_;
  empty_ = slab;
}

uint64_t Arena::used_bytes() const {
  const MutexLock lock(mutex_);
  return used_;
}

uint64_t Arena::reserved_bytes() const {
  const MutexLock lock(mutex_);
  if (regions_.empty()) return large_;
  return (regions_.size() - 1) * kRegionBytes + cut_ + large_;
}

}  // namespace seendb::items
