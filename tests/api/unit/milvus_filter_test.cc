// A Bloom filter for Milvus: the bytes are those of pymilvus 3.0.2 (build_bloom_filter), worked out
// once with it.

#include "api/milvus_filter.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::api {
namespace {

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) {
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
  }
  return hex;
}

TEST(MilvusFilterTest, NumbersHaveTheBytesOfPymilvus) {
  const std::vector<uint64_t> numbers = {1, 2, 9'007'199'254'740'993};
  EXPECT_EQ(Hex(ToMilvusFilter(numbers, 0.005)),
            "4d4246310100010003000000000000007b14ae47e17a743f0100000001000000"
            "0000500800080402000600020000060010004004002000884400002020210000");
}

TEST(MilvusFilterTest, TextsHaveTheBytesOfPymilvus) {
  const std::vector<std::string_view> texts = {
      "v1", "r\xC3\xA9sum\xC3\xA9", "a text of more than thirty-two bytes, so that all paths run"};
  EXPECT_EQ(Hex(ToMilvusFilter(texts, 0.01)),
            "4d4246310100010003000000000000007b14ae47e17a843f0100000002000000"
            "1400200000011000005010000030002000200014200000224000201004810000");
}

TEST(MilvusFilterTest, NoIdsAreOneEmptyBlock) {
  EXPECT_EQ(
      Hex(ToMilvusFilter(std::vector<uint64_t>(), 0.005)),
      "4d4246310100010000000000000000007b14ae47e17a743f0100000000000000" + std::string(64, '0'));
}

TEST(MilvusFilterTest, BlocksGrowWithTheIdsAndTheRate) {
  // What pymilvus makes of so many.
  const auto bytes = [](size_t ids, double rate) {
    return ToMilvusFilter(std::vector<uint64_t>(ids), rate).size() - 32;
  };
  EXPECT_EQ(bytes(100, 0.005), 256u);
  EXPECT_EQ(bytes(1'000, 0.01), 2'048u);
  EXPECT_EQ(bytes(5'000, 0.0001), 16'384u);
  EXPECT_EQ(bytes(16, 0.05), 32u);
}

}  // namespace
}  // namespace seendb::api
