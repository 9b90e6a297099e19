#if defined(__x86_64__)

#include <immintrin.h>

#include "filter/block_kernels.h"

#define SEENDB_AVX2 __attribute__((target("avx2")))

namespace seendb::internal {
namespace {

/// The bits of an item in one half of its block: lanes 0-3 or 4-7.
SEENDB_AVX2 inline __m256i HalfMask(__m256i hash, __m256i salts) noexcept {
  // A 64-bit product of two 32-bit numbers: its bits 26-31 are the lane's bit number.
  const __m256i product = _mm256_mul_epu32(hash, salts);
  const __m256i bit = _mm256_and_si256(_mm256_srli_epi64(product, 26), _mm256_set1_epi64x(63));
  return _mm256_sllv_epi64(_mm256_set1_epi64x(1), bit);
}

SEENDB_AVX2 inline __m256i SaltsFrom(size_t lane) noexcept {
  return _mm256_setr_epi64x(kLaneSalt[lane], kLaneSalt[lane + 1], kLaneSalt[lane + 2],
                            kLaneSalt[lane + 3]);
}

SEENDB_AVX2 void InsertMany(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n) {
  const __m256i salts_low = SaltsFrom(0);
  const __m256i salts_high = SaltsFrom(4);
  const size_t ahead = PrefetchDistance(blocks);
  for (size_t i = 0; i < n; ++i) {
    if (ahead != 0 && i + ahead < n) PrefetchBlock<true>(bits, blocks, BlockHash(fps[i + ahead]));
    const uint64_t hash = BlockHash(fps[i]);
    auto* block = reinterpret_cast<__m256i_u*>(bits + BlockOf(hash, blocks) * kBlockBytes);
    const __m256i lanes = _mm256_set1_epi64x(static_cast<int64_t>(hash));
    const __m256i low = _mm256_loadu_si256(block);
    const __m256i high = _mm256_loadu_si256(block + 1);
    _mm256_storeu_si256(block, _mm256_or_si256(low, HalfMask(lanes, salts_low)));
    _mm256_storeu_si256(block + 1, _mm256_or_si256(high, HalfMask(lanes, salts_high)));
  }
}

template <size_t kCount>
SEENDB_AVX2 void ProbeMany(const BlockFilter* given, const Fingerprint* fps, size_t n,
                           uint8_t* hits) {
  const auto filters = Copy<kCount>(given);
  const __m256i salts_low = SaltsFrom(0);
  const __m256i salts_high = SaltsFrom(4);
  const size_t ahead = PrefetchDistance(filters);
  for (size_t i = 0; i < n; ++i) {
    if (ahead != 0 && i + ahead < n) PrefetchBlocks(filters, fps[i + ahead]);
    const uint64_t hash = BlockHash(fps[i]);
    const __m256i lanes = _mm256_set1_epi64x(static_cast<int64_t>(hash));
    const __m256i low = HalfMask(lanes, salts_low);
    const __m256i high = HalfMask(lanes, salts_high);
    unsigned held = 0;
    for (size_t f = 0; f < kCount; ++f) {
      const auto* block = reinterpret_cast<const __m256i_u*>(
          filters[f].bits + BlockOf(hash, filters[f].blocks) * kBlockBytes);
      const __m256i missing =
          _mm256_or_si256(_mm256_andnot_si256(_mm256_loadu_si256(block), low),
                          _mm256_andnot_si256(_mm256_loadu_si256(block + 1), high));
      held |= static_cast<unsigned>(_mm256_testz_si256(missing, missing)) << f;
    }
    hits[i] = static_cast<uint8_t>(held);
  }
}

}  // namespace

const BlockKernels kAvx2Kernels = {InsertMany,
                                   {ProbeMany<1>, ProbeMany<2>, ProbeMany<3>, ProbeMany<4>}};

}  // namespace seendb::internal

#endif
