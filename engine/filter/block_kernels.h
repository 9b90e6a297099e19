// engine/filter/block_kernels.h: the hot loops of block_bloom.h, one file an instruction set.
// Included by the kernels and their dispatch only.

#pragma once

#include <cstddef>
#include <cstdint>

#include "filter/block_bloom.h"

namespace seendb::internal {

/// One instruction set's loops; contracts as in block_bloom.h.
struct BlockKernels {
  void (*insert_many)(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n);
  void (*probe_many)(const uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n,
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
inline void PrefetchBlock(const uint8_t* bits, uint64_t blocks, Fingerprint fp) noexcept {
  const uint8_t* block = bits + BlockOf(BlockHash(fp), blocks) * kBlockBytes;
  __builtin_prefetch(block, kForWriting ? 1 : 0);
  __builtin_prefetch(block + kBlockBytes - 1, kForWriting ? 1 : 0);
}

}  // namespace seendb::internal
