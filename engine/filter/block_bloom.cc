#include "filter/block_bloom.h"

#include <cassert>
#include <cstring>

#include "filter/block_kernels.h"

namespace seendb {
namespace {

const internal::BlockKernels& KernelsFor(InstructionSet set) noexcept {
#if defined(__x86_64__)
  if (set == InstructionSet::kAvx512) return internal::kAvx512Kernels;
  if (set == InstructionSet::kAvx2) return internal::kAvx2Kernels;
#endif
  static_cast<void>(set);
  return internal::kScalarKernels;
}

const internal::BlockKernels& Fastest() noexcept {
  static const internal::BlockKernels& kernels = KernelsFor(FastestInstructionSet());
  return kernels;
}

inline uint64_t LoadWord(const uint8_t* p) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

/// Set bits of a word without the instruction, which not every processor has.
constexpr uint32_t PopCount(uint64_t word) noexcept {
  word -= (word >> 1) & 0x5555'5555'5555'5555ULL;
  word = (word & 0x3333'3333'3333'3333ULL) + ((word >> 2) & 0x3333'3333'3333'3333ULL);
  word = (word + (word >> 4)) & 0x0F0F'0F0F'0F0F'0F0FULL;
  return static_cast<uint32_t>((word * 0x0101'0101'0101'0101ULL) >> 56);
}

}  // namespace

bool Supported(InstructionSet set) noexcept {
#if defined(__x86_64__)
  switch (set) {
    case InstructionSet::kScalar:
      return true;
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") != 0;
    case InstructionSet::kAvx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  }
  return false;
#else
  return set == InstructionSet::kScalar;
#endif
}

InstructionSet FastestInstructionSet() noexcept {
  if (Supported(InstructionSet::kAvx512)) return InstructionSet::kAvx512;
  if (Supported(InstructionSet::kAvx2)) return InstructionSet::kAvx2;
  return InstructionSet::kScalar;
}

const char* InstructionSetName(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::kScalar:
      return "scalar";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
  }
  return "unknown";
}

void Insert(uint8_t* bits, uint64_t blocks, Fingerprint fp) noexcept {
  internal::kScalarKernels.insert_many(bits, blocks, &fp, 1);
}

bool Contains(const uint8_t* bits, uint64_t blocks, Fingerprint fp) noexcept {
  // One item at a time may as well stop at the first clear bit.
  const uint64_t hash = BlockHash(fp);
  const uint8_t* block = bits + BlockOf(hash, blocks) * kBlockBytes;
  for (size_t lane = 0; lane < kLanesPerBlock; ++lane) {
    if (((LoadWord(block + lane * 8) >> LaneBitOf(hash, lane)) & 1) == 0) return false;
  }
  return true;
}

void InsertMany(uint8_t* bits, uint64_t blocks, const Fingerprint* fps, size_t n) noexcept {
  Fastest().insert_many(bits, blocks, fps, n);
}

void ProbeMany(const BlockFilter* filters, size_t count, const Fingerprint* fps, size_t n,
               uint8_t* hits) noexcept {
  assert(count >= 1 && count <= kProbedAtOnce);
  Fastest().probe_many[count - 1](filters, fps, n, hits);
}

void InsertMany(InstructionSet set, uint8_t* bits, uint64_t blocks, const Fingerprint* fps,
                size_t n) noexcept {
  assert(Supported(set));
  KernelsFor(set).insert_many(bits, blocks, fps, n);
}

void ProbeMany(InstructionSet set, const BlockFilter* filters, size_t count, const Fingerprint* fps,
               size_t n, uint8_t* hits) noexcept {
  assert(Supported(set) && count >= 1 && count <= kProbedAtOnce);
  KernelsFor(set).probe_many[count - 1](filters, fps, n, hits);
}

uint64_t CountBits(const uint8_t* bits, uint64_t blocks) noexcept {
  uint64_t count = 0;
  for (uint64_t i = 0; i < blocks * kLanesPerBlock; ++i) count += PopCount(LoadWord(bits + i * 8));
  return count;
}

double SumOfHitChances(const uint8_t* bits, uint64_t blocks) noexcept {
  constexpr double kScale = 1.0 / static_cast<double>(uint64_t{1} << 48);  // 64^-8
  double sum = 0;
  for (uint64_t b = 0; b < blocks; ++b) {
    uint64_t product = 1;  // of eight counts up to 64: at most 2^48
    for (size_t lane = 0; lane < kLanesPerBlock; ++lane) {
      product *= PopCount(LoadWord(bits + b * kBlockBytes + lane * 8));
    }
    sum += static_cast<double>(product) * kScale;
  }
  return sum;
}

void OrBlocks(const uint8_t* from, uint64_t blocks, uint8_t* to) noexcept {
  for (uint64_t i = 0; i < blocks * kLanesPerBlock; ++i) {
    const uint64_t word = LoadWord(from + i * 8) | LoadWord(to + i * 8);
    std::memcpy(to + i * 8, &word, sizeof(word));
  }
}

void Fold(const uint8_t* from, uint64_t blocks, uint64_t factor, uint8_t* to) noexcept {
  assert(factor != 0 && blocks % factor == 0);
  assert(to + blocks / factor * kBlockBytes <= from || from + blocks * kBlockBytes <= to);
  const uint64_t folded = blocks / factor;
  std::memset(to, 0, folded * kBlockBytes);
  for (uint64_t b = 0; b < folded; ++b) {
    for (uint64_t run = 0; run < factor; ++run) {
      OrBlocks(from + (b * factor + run) * kBlockBytes, 1, to + b * kBlockBytes);
    }
  }
}

}  // namespace seendb
