#include "filter/probe_set.h"

#include <algorithm>
#include <bit>

namespace seendb {
namespace {

constexpr unsigned kFingerprintBits = 48;
constexpr size_t kBitmapBitsMin = 4096;
/// Entries of a list to one of the directory, up to twice that.
constexpr size_t kDirectoryRun = 2;
/// Runs longer than this are bisected down to it.
constexpr size_t kScanMax = 8;
/// Candidates whose survivors are collected before they are looked up.
constexpr size_t kChunk = 512;
/// Making a list ready costs as much as searching it for one candidate in so many entries.
constexpr size_t kEntriesPerSearch = 16;

inline Fingerprint EntryAt(const uint8_t* packed, size_t index) noexcept {
  return LoadFingerprint(packed + index * kFingerprintBytes);
}

constexpr unsigned ShiftFor(size_t slots) noexcept {
  return kFingerprintBits - static_cast<unsigned>(std::countr_zero(slots));
}

/// Looks at entries [low, high), which are all in the list.
bool FindBetween(const uint8_t* packed, size_t low, size_t high, Fingerprint fp) noexcept {
  while (high - low > kScanMax) {
    const size_t middle = low + (high - low) / 2;
    (EntryAt(packed, middle) <= fp ? low : high) = middle;
  }
  bool found = false;
  for (size_t i = low; i < high; ++i) found |= EntryAt(packed, i) == fp;
  return found;
}

}  // namespace

ProbeSet::ProbeSet(const uint8_t* packed, size_t count, ProbeScratch* scratch)
    : packed_(packed), count_(count) {
  if (count == 0) return;
  const size_t bitmap_bits = std::max(std::bit_ceil(count) * 8, kBitmapBitsMin);
  const size_t runs = std::max<size_t>(std::bit_ceil(count) / (2 * kDirectoryRun), 1);
  bitmap_shift_ = ShiftFor(bitmap_bits);
  directory_shift_ = ShiftFor(runs);

  scratch->bitmap_.assign(bitmap_bits / 64, 0);
  scratch->directory_.assign(runs + 1, 0);
  uint64_t* const bitmap = scratch->bitmap_.data();
  uint32_t* const directory = scratch->directory_.data();
  for (size_t i = 0; i < count; ++i) {
    const Fingerprint fp = EntryAt(packed, i);
    const uint64_t bit = fp >> bitmap_shift_;
    bitmap[bit / 64] |= uint64_t{1} << (bit % 64);
    directory[(fp >> directory_shift_) + 1] = static_cast<uint32_t>(i + 1);  // the last one stays
  }
  // Runs without entries begin and end where the run before them ends.
  for (size_t run = 1; run <= runs; ++run) {
    directory[run] = std::max(directory[run], directory[run - 1]);
  }
  bitmap_ = bitmap;
  directory_ = directory;
}

bool ProbeSet::Find(Fingerprint fp) const noexcept {
  const uint64_t run = fp >> directory_shift_;
  return FindBetween(packed_, directory_[run], directory_[run + 1], fp);
}

void ProbeSet::Probe(const Fingerprint* fps, size_t n, uint8_t* hits) const noexcept {
  if (count_ == 0) {
    std::fill_n(hits, n, uint8_t{0});
    return;
  }
  uint32_t survivors[kChunk];
  for (size_t begin = 0; begin < n; begin += kChunk) {
    const size_t size = std::min(kChunk, n - begin);
    size_t survived = 0;
    for (size_t i = 0; i < size; ++i) {
      const uint64_t bit = (fps[begin + i] & kFingerprintMask) >> bitmap_shift_;
      survivors[survived] = static_cast<uint32_t>(i);
      survived += (bitmap_[bit / 64] >> (bit % 64)) & 1;
      hits[begin + i] = 0;
    }
    for (size_t s = 0; s < survived; ++s) {
      const size_t i = begin + survivors[s];
      hits[i] = static_cast<uint8_t>(Find(fps[i] & kFingerprintMask));
    }
  }
}

void ProbeSortedList(const uint8_t* packed, size_t count, const Fingerprint* fps, size_t n,
                     uint8_t* hits, ProbeScratch* scratch) {
  if (n < count / kEntriesPerSearch) {
    for (size_t i = 0; i < n; ++i) {
      hits[i] = static_cast<uint8_t>(ContainsSorted(packed, count, fps[i]));
    }
    return;
  }
  ProbeSet(packed, count, scratch).Probe(fps, n, hits);
}

bool ContainsSorted(const uint8_t* packed, size_t count, Fingerprint fp) noexcept {
  constexpr int kInterpolations = 3;
  size_t low = 0;
  size_t high = count;
  // What entries at and after low, and at and after high, are at least.
  auto low_value = static_cast<double>(0);
  auto high_value = static_cast<double>(kFingerprintMask + 1);
  for (int i = 0; i < kInterpolations && high - low > kScanMax; ++i) {
    const double part = (static_cast<double>(fp) - low_value) / (high_value - low_value);
    const auto offset =
        static_cast<size_t>(std::clamp(part, 0.0, 1.0) * static_cast<double>(high - low - 1));
    const size_t index = low + offset;
    const Fingerprint entry = EntryAt(packed, index);
    if (entry == fp) return true;
    if (entry < fp) {
      low = index + 1;
      low_value = static_cast<double>(entry);
    } else {
      high = index;
      high_value = static_cast<double>(entry);
    }
  }
  return FindBetween(packed, low, high, fp);
}

}  // namespace seendb
