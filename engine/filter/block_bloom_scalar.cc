#include <cstring>

#include "filter/block_kernels.h"

namespace seendb::internal {
namespace {

inline uint64_t LoadLane(const uint8_t* block, size_t lane) noexcept {
  uint64_t bits = 0;
  std::memcpy(&bits, block + lane * sizeof(bits), sizeof(bits));
  return bits;
}

inline void InsertOne(uint8_t* bits, uint64_t blocks, Fingerprint fp) noexcept {
  const uint64_t hash = BlockHash(fp);
  uint8_t* block = bits + BlockOf(hash, blocks) * kBlockBytes;
  for (size_t lane = 0; lane < kLanesPerBlock; ++lane) {
    const uint64_t set = LoadLane(block, lane) | (uint64_t{1} << LaneBitOf(hash, lane));
    std::memcpy(block + lane * sizeof(set), &set, sizeof(set));
  }
}

/// 1 where the item is in the filter, else 0.
inline unsigned ProbeOne(const BlockFilter& filter, uint64_t hash) noexcept {
  const uint8_t* block = filter.bits + BlockOf(hash, filter.blocks) * kBlockBytes;
  uint64_t all = 1;
  for (size_t lane = 0; lane < kLanesPerBlock; ++lane) {
    all &= LoadLane(block, lane) >> LaneBitOf(hash, lane);
  }
  return static_cast<unsigned>(all);
}

void InsertMany(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n) {
  const size_t ahead = PrefetchDistance(blocks);
  for (size_t i = 0; i < n; ++i) {
    if (ahead != 0 && i + ahead < n) PrefetchBlock<true>(bits, blocks, BlockHash(fps[i + ahead]));
    InsertOne(bits, blocks, fps[i]);
  }
}

template <size_t kCount>
void ProbeMany(const BlockFilter* given, const Fingerprint* fps, size_t n, uint8_t* hits) {
  const auto filters = Copy<kCount>(given);
  const size_t ahead = PrefetchDistance(filters);
  for (size_t i = 0; i < n; ++i) {
    if (ahead != 0 && i + ahead < n) PrefetchBlocks(filters, fps[i + ahead]);
    const uint64_t hash = BlockHash(fps[i]);
    unsigned held = 0;
    for (size_t f = 0; f < kCount; ++f) held |= ProbeOne(filters[f], hash) << f;
    hits[i] = static_cast<uint8_t>(held);
  }
}

}  // namespace

const BlockKernels kScalarKernels = {InsertMany,
                                     {ProbeMany<1>, ProbeMany<2>, ProbeMany<3>, ProbeMany<4>}};

}  // namespace seendb::internal
