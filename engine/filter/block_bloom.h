// engine/filter/block_bloom.h: the split-block Bloom filter: one cache line a probe.
//
// A filter is `blocks` blocks of 512 bits, each 8 lanes of 64 bits, little-endian, at any
// alignment; nothing else, so it is probed in place inside a stored value. An item sets one bit
// in each lane of one block. From a fingerprint fp, all arithmetic modulo 2^64:
//
//   h     = fp * 0x9E3779B97F4A7C15;  h = h xor (h >> 32)
//   block = ((h >> 32) * blocks) >> 32
//   bit of lane i = ((low 32 bits of h * kLaneSalt[i]) modulo 2^32) >> 26
//
// The block is found by scaling, not by remainder, so that the block of a filter of n/f blocks is
// floor(block of n / f): a filter folds to any divisor of its size.
//
// Source: F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters"
// (2007), and Apache Parquet's split-block filter, with longer lanes.
// Threads: pure functions; a filter being inserted into belongs to one thread.
// Limits: 1 <= blocks < 2^32. `bits` holds blocks * kBlockBytes bytes.

#pragma once

#include <cstddef>
#include <cstdint>

#include "filter/hash.h"

namespace seendb {

inline constexpr size_t kBlockBytes = 64;
inline constexpr size_t kLanesPerBlock = 8;
inline constexpr size_t kLaneBits = 64;
inline constexpr size_t kBlockBits = kLanesPerBlock * kLaneBits;
inline constexpr uint64_t kBlocksMax = (uint64_t{1} << 32) - 1;

/// Odd multipliers: the fractions of the square roots of the first eight primes, made odd.
inline constexpr uint32_t kLaneSalt[kLanesPerBlock] = {
    0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19};

/// h above.
constexpr uint64_t BlockHash(Fingerprint fp) noexcept {
  const uint64_t product = fp * 0x9E37'79B9'7F4A'7C15ULL;
  return product ^ (product >> 32);
}
/// The block an item's hash falls into.
constexpr uint64_t BlockOf(uint64_t hash, uint64_t blocks) noexcept {
  return ((hash >> 32) * blocks) >> 32;
}
/// The bit an item's hash sets in a lane, 0-63.
constexpr uint32_t LaneBitOf(uint64_t hash, size_t lane) noexcept {
  return (static_cast<uint32_t>(hash) * kLaneSalt[lane]) >> 26;
}

/// Sets an item's bits.
void Insert(uint8_t* bits, uint64_t blocks, Fingerprint fp) noexcept;
/// True where all of an item's bits are set: it was inserted, or is a false positive.
bool Contains(const uint8_t* bits, uint64_t blocks, Fingerprint fp) noexcept;

/// Insert for many, by the fastest kernel of this processor.
void InsertMany(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n) noexcept;

/// A filter to probe, borrowed.
struct BlockFilter {
  const uint8_t* bits = nullptr;
  uint64_t blocks = 0;
};
/// Filters that one ProbeMany takes: a bit of its answer each.
inline constexpr size_t kProbedAtOnce = 4;

/// Contains for many items in several filters, by the fastest kernel of this processor: bit f of
/// hits[i] says whether filters[f] holds fps[i]. What an item sets is worked out once for all of
/// them. Precondition:
/// 1 <= count <= kProbedAtOnce.
void ProbeMany(const BlockFilter* filters, size_t count, const Fingerprint* fps, size_t n,
               uint8_t* hits) noexcept;
/// The same for one filter: hits[i] becomes 0 or 1.
inline void ProbeMany(const uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n,
                      uint8_t* hits) noexcept {
  const BlockFilter filter{bits, blocks};
  ProbeMany(&filter, 1, fps, n, hits);
}

/// Set bits.
uint64_t CountBits(const uint8_t* bits, uint64_t blocks) noexcept;
/// Sum over blocks of the product over lanes of (set bits / 64): the chance, times `blocks`, that
/// an absent item is answered as present.
double SumOfHitChances(const uint8_t* bits, uint64_t blocks) noexcept;

/// Writes the filter of blocks / factor blocks that inserting the same items would have made.
/// `to` must not overlap `from`. Precondition: factor divides blocks.
void Fold(const uint8_t* from, uint64_t blocks, uint64_t factor, uint8_t* to) noexcept;

/// `to` |= `from`, both of `blocks` blocks.
void OrBlocks(const uint8_t* from, uint64_t blocks, uint8_t* to) noexcept;

/// The kernels; every one gives the same bytes and answers.
enum class InstructionSet : uint8_t { kScalar, kAvx2, kAvx512 };

/// True where this build and this processor have the kernel.
bool Supported(InstructionSet set) noexcept;
/// What InsertMany and ProbeMany use.
InstructionSet FastestInstructionSet() noexcept;
/// "scalar", "avx2", "avx512".
const char* InstructionSetName(InstructionSet set) noexcept;

/// InsertMany and ProbeMany by a chosen kernel. Precondition: Supported(set).
void InsertMany(InstructionSet set, uint8_t* bits, uint64_t blocks, const Fingerprint* fps,
                size_t n) noexcept;
void ProbeMany(InstructionSet set, const BlockFilter* filters, size_t count, const Fingerprint* fps,
               size_t n, uint8_t* hits) noexcept;
inline void ProbeMany(InstructionSet set, const uint8_t* bits, uint64_t blocks,
                      const Fingerprint* fps, size_t n, uint8_t* hits) noexcept {
  const BlockFilter filter{bits, blocks};
  ProbeMany(set, &filter, 1, fps, n, hits);
}

}  // namespace seendb
