#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own header initialises "undefined" vectors with themselves and warns of it.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include "filter/block_kernels.h"

#define SEENDB_AVX512 __attribute__((target("avx512f,avx512dq")))

namespace seendb::internal {
namespace {

SEENDB_AVX512 inline __m512i Salts() noexcept {
  return _mm512_setr_epi64(kLaneSalt[0], kLaneSalt[1], kLaneSalt[2], kLaneSalt[3], kLaneSalt[4],
                           kLaneSalt[5], kLaneSalt[6], kLaneSalt[7]);
}

/// The bits of an item in its block.
SEENDB_AVX512 inline __m512i Mask(uint64_t hash, __m512i salts) noexcept {
  // A 64-bit product of two 32-bit numbers: its bits 26-31 are the lane's bit number, and a
  // rotation takes its count modulo 64.
  const __m512i lanes = _mm512_set1_epi64(static_cast<int64_t>(hash));
  const __m512i product = _mm512_mul_epu32(lanes, salts);
  return _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_srli_epi64(product, 26));
}

SEENDB_AVX512 void InsertMany(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n) {
  const __m512i salts = Salts();
  const size_t ahead = PrefetchDistance(blocks);
  for (size_t i = 0; i < n; ++i) {
    if (ahead != 0 && i + ahead < n) PrefetchBlock<true>(bits, blocks, BlockHash(fps[i + ahead]));
    const uint64_t hash = BlockHash(fps[i]);
    uint8_t* block = bits + BlockOf(hash, blocks) * kBlockBytes;
    _mm512_storeu_si512(block, _mm512_or_si512(_mm512_loadu_si512(block), Mask(hash, salts)));
  }
}

template <size_t kCount>
SEENDB_AVX512 void ProbeMany(const BlockFilter* given, const Fingerprint* fps, size_t n,
                             uint8_t* hits) {
  const auto filters = Copy<kCount>(given);
  const __m512i salts = Salts();
  const size_t ahead = PrefetchDistance(filters);
  for (size_t i = 0; i < n; ++i) {
    if (ahead != 0 && i + ahead < n) PrefetchBlocks(filters, fps[i + ahead]);
    const uint64_t hash = BlockHash(fps[i]);
    const __m512i mask = Mask(hash, salts);
    unsigned held = 0;
    for (size_t f = 0; f < kCount; ++f) {
      const uint8_t* block = filters[f].bits + BlockOf(hash, filters[f].blocks) * kBlockBytes;
      const __mmask8 present = _mm512_test_epi64_mask(_mm512_loadu_si512(block), mask);
      held |= static_cast<unsigned>(present == 0xFF) << f;
    }
    hits[i] = static_cast<uint8_t>(held);
  }
}

}  // namespace

const BlockKernels kAvx512Kernels = {InsertMany,
                                     {ProbeMany<1>, ProbeMany<2>, ProbeMany<3>, ProbeMany<4>}};

}  // namespace seendb::internal

#endif
