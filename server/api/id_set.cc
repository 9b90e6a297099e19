#include "api/id_set.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "api/little_endian.h"

namespace seendb::api {
namespace {

constexpr uint32_t kCookieWithoutRuns = 12'346;
constexpr size_t kMostInArray = 4'096;
constexpr size_t kBitsOfContainer = 65'536;

/// The part of `numbers` at its front whose upper bits, from `shift` on, are those of the first.
std::span<const uint64_t> FrontOf(std::span<const uint64_t> numbers, unsigned shift) {
  const auto end = std::find_if(numbers.begin(), numbers.end(), [&](uint64_t number) {
    return number >> shift != numbers.front() >> shift;
  });
  return numbers.first(static_cast<size_t>(end - numbers.begin()));
}

void PutContainer(std::span<const uint64_t> numbers, std::string* out) {
  if (numbers.size() <= kMostInArray) {
    for (const uint64_t number : numbers) PutLow(number, 2, out);
    return;
  }
  std::string bits(kBitsOfContainer / 8, '\0');
  for (const uint64_t number : numbers) {
    const size_t bit = number % kBitsOfContainer;
    bits[bit / 8] = static_cast<char>(static_cast<unsigned char>(bits[bit / 8]) | 1U << bit % 8);
  }
  out->append(bits);
}

/// The bitmap of the lower 32 bits.
void PutBitmap(std::span<const uint64_t> numbers, std::string* out) {
  std::vector<std::span<const uint64_t>> containers;
  while (!numbers.empty()) {
    containers.push_back(FrontOf(numbers, 16));
    numbers = numbers.subspan(containers.back().size());
  }
  PutLow(kCookieWithoutRuns, 4, out);
  PutLow(containers.size(), 4, out);
  for (const auto& one : containers) {
    PutLow(one.front() >> 16, 2, out);
    PutLow(one.size() - 1, 2, out);
  }
  size_t offset = 8 + containers.size() * 8;  // of the first container, from the cookie on
  for (const auto& one : containers) {
    PutLow(offset, 4, out);
    offset += one.size() <= kMostInArray ? one.size() * 2 : kBitsOfContainer / 8;
  }
  for (const auto& one : containers) PutContainer(one, out);
}

void PutBigEndian(uint64_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

/// The bitmaps of all upper 32 bits, each behind what `put` makes of these; how many they are.
template <typename Put>
uint64_t PutBitmaps(std::span<const uint64_t> numbers, const Put& put, std::string* out) {
  uint64_t count = 0;
  for (; !numbers.empty(); ++count) {
    const std::span<const uint64_t> front = FrontOf(numbers, 32);
    put(front.front() >> 32, out);
    PutBitmap(front, out);
    numbers = numbers.subspan(front.size());
  }
  return count;
}

}  // namespace

std::string ToRoaring(std::span<const uint64_t> numbers) {
  std::string out, bitmaps;
  const auto put = [](uint64_t high, std::string* to) { PutLow(high, 4, to); };
  PutLow(PutBitmaps(numbers, put, &bitmaps), 8, &out);
  return out + bitmaps;
}

std::string ToPinotIdSet(std::span<const uint64_t> numbers) {
  constexpr char kRoaring64NavigableMap = 2, kUnsigned = 0;
  std::string out = {kRoaring64NavigableMap, kUnsigned}, bitmaps;
  PutBigEndian(PutBitmaps(numbers, PutBigEndian, &bitmaps), &out);
  return out + bitmaps;
}

}  // namespace seendb::api
