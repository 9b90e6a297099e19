// Arbitrary bits and fingerprints through every kernel this processor has: each makes the bytes and
// gives the answers of the scalar one, wherever in memory the filter lies. And the same of the
// other hot loops over fingerprints: sorting and probing packed lists against the standard library.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "filter/block_bloom.h"
#include "filter/probe_set.h"
#include "filter/sort.h"
#include "fuzz/input.h"

namespace {

using seendb::Fingerprint;
using seendb::InstructionSet;
using seendb::fuzz::Check;

constexpr uint64_t kBlocksMost = 48;

/// Bits at a chosen alignment, in memory that ends where they do.
struct Bits {
  Bits(size_t misplaced, const std::string& bytes)
      : memory(misplaced + bytes.size()), at(misplaced) {
    std::memcpy(data(), bytes.data(), bytes.size());
  }
  uint8_t* data() { return memory.data() + at; }
  bool operator==(const Bits& other) const {
    return std::equal(memory.begin() + static_cast<std::ptrdiff_t>(at), memory.end(),
                      other.memory.begin() + static_cast<std::ptrdiff_t>(other.at),
                      other.memory.end());
  }
  std::vector<uint8_t> memory;
  size_t at;
};

void CheckKernel(InstructionSet set, size_t misplaced, const std::string& bits, uint64_t blocks,
                 const std::vector<Fingerprint>& fps) {
  const size_t half = fps.size() / 2;
  Bits scalar(0, bits), other(misplaced, bits);
  const std::vector<Fingerprint> in(fps.begin(), fps.begin() + static_cast<std::ptrdiff_t>(half));
  InsertMany(InstructionSet::kScalar, scalar.data(), blocks, in.data(), in.size());
  InsertMany(set, other.data(), blocks, in.data(), in.size());
  Check(scalar == other);
  std::vector<uint8_t> expected(fps.size(), 7), hits(fps.size(), 9);
  ProbeMany(InstructionSet::kScalar, scalar.data(), blocks, fps.data(), fps.size(),
            expected.data());
  ProbeMany(set, other.data(), blocks, fps.data(), fps.size(), hits.data());
  Check(expected == hits);
  for (size_t i = 0; i < fps.size(); ++i) {
    Check(hits[i] <= 1 && (i >= half || hits[i] == 1));
    Check(seendb::Contains(other.data(), blocks, fps[i]) == (hits[i] == 1));
  }
}

/// Counting and folding, which have one implementation, against their definitions.
void CheckFold(const std::string& bits, uint64_t blocks, const std::vector<Fingerprint>& fps) {
  Bits whole(0, bits);
  uint64_t set_bits = 0;
  for (const char byte : bits) {
    for (unsigned mask = static_cast<uint8_t>(byte); mask != 0; mask &= mask - 1) ++set_bits;
  }
  Check(seendb::CountBits(whole.data(), blocks) == set_bits);
  if (blocks % 2 != 0) return;
  std::vector<uint8_t> folded(bits.size() / 2, 0xFF);
  seendb::InsertMany(whole.data(), blocks, fps.data(), fps.size());
  seendb::Fold(whole.data(), blocks, 2, folded.data());
  for (const Fingerprint fp : fps) Check(seendb::Contains(folded.data(), blocks / 2, fp));
}

void CheckLists(std::vector<Fingerprint> list, const std::vector<Fingerprint>& fps) {
  for (Fingerprint& fp : list) fp &= seendb::kFingerprintMask;
  std::vector<Fingerprint> sorted = list;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  seendb::SortUnique(&list);
  Check(list == sorted);
  std::vector<uint8_t> packed(list.size() * seendb::kFingerprintBytes);
  for (size_t i = 0; i < list.size(); ++i) {
    seendb::StoreFingerprint(list[i], packed.data() + i * seendb::kFingerprintBytes);
  }
  static seendb::ProbeScratch scratch;
  std::vector<uint8_t> hits(fps.size(), 9), of_set(fps.size(), 9);
  ProbeSortedList(packed.data(), list.size(), fps.data(), fps.size(), hits.data(), &scratch);
  seendb::ProbeSet(packed.data(), list.size(), &scratch)
      .Probe(fps.data(), fps.size(), of_set.data());
  for (size_t i = 0; i < fps.size(); ++i) {
    const bool in = std::binary_search(sorted.begin(), sorted.end(), fps[i]);
    Check(hits[i] == (in ? 1 : 0) && of_set[i] == hits[i]);
    Check(seendb::ContainsSorted(packed.data(), list.size(), fps[i]) == in);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const uint64_t blocks = 1 + input.Byte() % kBlocksMost;
  const size_t misplaced = input.Byte() % seendb::kBlockBytes;
  const size_t filled = input.Byte();  // bytes of the filter that the input gives
  std::string bits(blocks * seendb::kBlockBytes, '\0');
  for (size_t i = 0; i < filled; ++i) {
    bits[i * 97 % bits.size()] = static_cast<char>(input.Byte());
  }
  std::vector<Fingerprint> fps;
  // Six bytes each, as packed; every fourth has all 64 bits, which the kernels must stand too.
  while (!input.Rest().empty()) fps.push_back(input.Number(fps.size() % 4 == 3 ? 8 : 6));
  for (const auto set : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (Supported(set)) CheckKernel(set, misplaced, bits, blocks, fps);
  }
  CheckFold(bits, blocks, fps);
  for (Fingerprint& fp : fps) fp &= seendb::kFingerprintMask;
  const auto half = fps.begin() + static_cast<std::ptrdiff_t>(fps.size() / 2);
  CheckLists({fps.begin(), half}, fps);
  return 0;
}
