#include "api/milvus_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/little_endian.h"

namespace seendb::api {
namespace {

constexpr size_t kFilterHeadBytes = 32, kFilterBlockBytes = 32, kWordBytes = 4;
constexpr uint64_t kMaxFilterBytes = 128u << 20;
constexpr uint16_t kVersion = 1, kSplitBlock = 1;
constexpr uint8_t kNumbers = 1, kTexts = 2;
// One factor a word of a block; of Parquet's specification.
constexpr uint32_t kSalts[] = {0x47B6'137B, 0x4497'4D91, 0x8824'AD5B, 0xA2B7'289D,
                               0x7054'95C7, 0x2DF1'424B, 0x9EFC'4947, 0x5C6B'FB31};

// A power of two, as whoever reads the filter expects.
uint64_t BlocksBytes(size_t ids, double rate) {
  const double bits = -8.0 * static_cast<double>(ids) / std::log(1.0 - std::pow(rate, 1.0 / 8.0));
  if (bits >= static_cast<double>(kMaxFilterBytes * 8)) return kMaxFilterBytes;
  return std::max<uint64_t>(std::bit_ceil(static_cast<uint64_t>(bits)) / 8, kFilterBlockBytes);
}

uint64_t HashOf(uint64_t number) {
  std::string bytes;
  PutLow(number, sizeof(number), &bytes);
  return XXH64(bytes.data(), bytes.size(), 0);
}

uint64_t HashOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

void SetBits(uint64_t hash, uint64_t blocks, std::string* filter) {
  const uint64_t block = ((hash >> 32) * blocks) >> 32;
  char* const at = filter->data() + kFilterHeadBytes + block * kFilterBlockBytes;
  for (size_t word = 0; word < std::size(kSalts); ++word) {
    const uint32_t bit = (static_cast<uint32_t>(hash) * kSalts[word]) >> 27;
    char& byte = at[word * kWordBytes + bit / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 1U << bit % 8);
  }
}

template <typename Id>
std::string ToFilter(std::span<const Id> ids, uint8_t kind, double rate) {
  const uint64_t bytes = BlocksBytes(ids.size(), rate);
  std::string filter = "MBF1";
  PutLow(kVersion, 2, &filter);
  PutLow(kSplitBlock, 2, &filter);
  PutLow(ids.size(), 8, &filter);
  PutLow(std::bit_cast<uint64_t>(rate), 8, &filter);
  PutLow(bytes / kFilterBlockBytes, 4, &filter);
  PutLow(ids.empty() ? 0 : kind, 4, &filter);
  filter.resize(kFilterHeadBytes + bytes, '\0');
  for (const Id& id : ids) SetBits(HashOf(id), bytes / kFilterBlockBytes, &filter);
  return filter;
}

}  // namespace

std::string ToMilvusFilter(std::span<const uint64_t> numbers, double rate) {
  return ToFilter(numbers, kNumbers, rate);
}

std::string ToMilvusFilter(std::span<const std::string_view> texts, double rate) {
  return ToFilter(texts, kTexts, rate);
}

}  // namespace seendb::api
