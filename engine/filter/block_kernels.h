// engine/filter/block_kernels.h: the hot loops of block_bloom.h, one file an instruction set.
// Included by the kernels and their dispatch only.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "filter/block_bloom.h"

namespace seendb::internal {

/// One instruction set's loops; contracts as in block_bloom.h.
struct BlockKernels {
  void (*insert_many)(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n);
  /// By the number of filters less one: a loop of each its own, unrolled.
  void (*probe_many[kProbedAtOnce])(const BlockFilter* filters, const Fingerprint* fps, size_t n,
                                    uint8_t* hits);
};

extern const BlockKernels kScalarKernels;
#if defined(__x86_64__)
extern const BlockKernels kAvx2Kernels;
extern const BlockKernels kAvx512Kernels;
#endif

/// Filters above this size don't stay in the nearest caches: probes into them are prefetched.
inline constexpr uint64_t kPrefetchBlocks = (256 << 10) / kBlockBytes;
/// How many items ahead.
inline constexpr size_t kPrefetchDistance = 16;

/// Fetches the block of an item, which may straddle two cache lines.
template <bool kForWriting>
inline void PrefetchBlock(const uint8_t* bits, uint64_t blocks, uint64_t hash) noexcept {
  const uint8_t* block = bits + BlockOf(hash, blocks) * kBlockBytes;
  __builtin_prefetch(block, kForWriting ? 1 : 0);
  __builtin_prefetch(block + kBlockBytes - 1, kForWriting ? 1 : 0);
}

/// How many items ahead so many blocks are prefetched; 0: not at all.
inline size_t PrefetchDistance(uint64_t blocks) noexcept {
  return blocks > kPrefetchBlocks ? kPrefetchDistance : 0;
}
/// The same for filters that are probed together.
template <size_t kCount>
inline size_t PrefetchDistance(const std::array<BlockFilter, kCount>& filters) noexcept {
  uint64_t blocks = 0;
  for (const BlockFilter& filter : filters) blocks += filter.blocks;
  return PrefetchDistance(blocks);
}

/// The blocks of an item in all filters.
template <size_t kCount>
inline void PrefetchBlocks(const std::array<BlockFilter, kCount>& filters,
                           Fingerprint fp) noexcept {
  const uint64_t hash = BlockHash(fp);
  for (const BlockFilter& filter : filters) PrefetchBlock<false>(filter.bits, filter.blocks, hash);
}

/// A copy that no store of a loop can change.
template <size_t kCount>
inline std::array<BlockFilter, kCount> Copy(const BlockFilter* filters) noexcept {
  std::array<BlockFilter, kCount> copy;
  std::copy_n(filters, kCount, copy.begin());
  return copy;
}

}  // namespace seendb::internal
