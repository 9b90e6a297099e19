#include "filter/sort.h"

#include <algorithm>
#include <bit>

namespace seendb {
namespace {

constexpr size_t kSmall = 64;
constexpr unsigned kPlaceBitsMax = 14;
constexpr uint32_t kCrowd = 32;

// False, with `items` unchanged, where one place holds a crowd.
bool ScatterByTopBits(std::vector<Fingerprint>* items) {
  const auto wanted = static_cast<unsigned>(std::bit_width(items->size())) - 1;
  const unsigned shift = 48 - std::min(wanted, kPlaceBitsMax);
  const size_t places = size_t{1} << (48 - shift);
  thread_local std::vector<uint32_t> begins;
  thread_local std::vector<Fingerprint> scattered;
  begins.assign(places + 1, 0);
  for (const Fingerprint fp : *items) ++begins[((fp & kFingerprintMask) >> shift) + 1];
  const uint32_t crowd = kCrowd + 4 * static_cast<uint32_t>(items->size() / places);
  for (size_t i = 1; i <= places; ++i) {
    if (begins[i] > crowd) return false;
    begins[i] += begins[i - 1];
  }
  scattered.resize(items->size());
  for (const Fingerprint fp : *items) {
    scattered[begins[(fp & kFingerprintMask) >> shift]++] = fp;
  }
  items->swap(scattered);
  return true;
}

void InsertionSort(std::vector<Fingerprint>* items) {
  Fingerprint* const data = items->data();
  for (size_t i = 1; i < items->size(); ++i) {
    const Fingerprint moving = data[i];
    size_t at = i;
    for (; at > 0 && data[at - 1] > moving; --at) data[at] = data[at - 1];
    data[at] = moving;
  }
}

}  // namespace

void SortUnique(std::vector<Fingerprint>* items) {
  if (items->size() >= kSmall && ScatterByTopBits(items)) {
    InsertionSort(items);
  } else {
    std::sort(items->begin(), items->end());
  }
  items->erase(std::unique(items->begin(), items->end()), items->end());
}

}  // namespace seendb
