#include "filter/hash.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// The canonical bytes as the header describes them.
std::string CanonicalBytes(const IdRef& id) {
  if (!id.is_number()) return std::string(id.text());
  std::string bytes(1, '\xFF');
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(id.number() >> (8 * i)));
  return bytes;
}

Fingerprint Reference(const IdRef& id) {
  const std::string bytes = CanonicalBytes(id);
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), kHashSeed) >> 16;
}

TEST(Fingerprint, IsTheTopOfXxh3OfTheCanonicalBytes) {
  for (size_t size = 1; size <= kMaxIdBytes; ++size) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    EXPECT_EQ(FingerprintOf(IdRef(text)), Reference(IdRef(text))) << size;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const IdRef id(random() >> (random() % 64));
    ASSERT_EQ(FingerprintOf(id), Reference(id)) << id.number();
  }
  EXPECT_EQ(FingerprintOf(IdRef(uint64_t{0})), Reference(IdRef(uint64_t{0})));
  EXPECT_EQ(FingerprintOf(IdRef(~uint64_t{0})), Reference(IdRef(~uint64_t{0})));
}

TEST(Fingerprint, IsPinned) {
  EXPECT_EQ(kOldestHashVersion, 1U);
  EXPECT_EQ(FingerprintOf(IdRef("v1")), 0x8951'386E'4660U);
  EXPECT_EQ(FingerprintOf(IdRef("video-1000000000000000000")), 0x8C6E'3EFD'C8A4U);
  EXPECT_EQ(FingerprintOf(IdRef(uint64_t{42})), 0xDDBF'9838'FDB8U);
}

TEST(Fingerprint, TextAndIntegerOfOneIdAreOne) {
  EXPECT_EQ(FingerprintOf(IdRef("42")), FingerprintOf(IdRef(uint64_t{42})));
  EXPECT_NE(FingerprintOf(IdRef("042")), FingerprintOf(IdRef(uint64_t{42})));
}

TEST(Fingerprint, HasFortyEightBits) {
  Fingerprint any = 0;
  Fingerprint all = kFingerprintMask;
  for (uint64_t i = 0; i < 200; ++i) {
    const Fingerprint fp = FingerprintOf(IdRef(i));
    any |= fp;
    all &= fp;
  }
  EXPECT_EQ(any, kFingerprintMask);
  EXPECT_EQ(all, 0U);
}

TEST(Fingerprint, ManyIsOneByOne) {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) {
    texts.push_back(i % 3 == 0 ? std::to_string(i)
                               : "item-" + std::string(static_cast<size_t>(i) % 90, 'x') +
                                     std::to_string(i));
  }
  std::vector<IdRef> ids;
  for (const std::string& text : texts) ids.emplace_back(text);
  std::vector<Fingerprint> many(ids.size());
  FingerprintsOf(ids, many.data());
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(many[i], FingerprintOf(ids[i])) << texts[i];
  FingerprintsOf({}, nullptr);
}

TEST(Fingerprint, PacksIntoSixBytesLittleEndian) {
  uint8_t bytes[8] = {0xEE, 0, 0, 0, 0, 0, 0, 0xEE};
  StoreFingerprint(0x0605'0403'0201, bytes + 1);
  const uint8_t expected[8] = {0xEE, 1, 2, 3, 4, 5, 6, 0xEE};
  EXPECT_TRUE(std::equal(bytes, bytes + 8, expected));
  EXPECT_EQ(LoadFingerprint(bytes + 1), 0x0605'0403'0201U);
  StoreFingerprint(kFingerprintMask, bytes + 1);
  EXPECT_EQ(LoadFingerprint(bytes + 1), kFingerprintMask);
}

TEST(KafkaMurmur2, GivesTheNumbersOfTheJavaClient) {
  EXPECT_EQ(KafkaMurmur2("21"), -973932308);
  EXPECT_EQ(KafkaMurmur2("foobar"), -790332482);
  EXPECT_EQ(KafkaMurmur2("a-little-bit-long-string"), -985981536);
  EXPECT_EQ(KafkaMurmur2("a-little-bit-longer-string"), -1486304829);
  EXPECT_EQ(KafkaMurmur2("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"), -58897971);
  EXPECT_EQ(KafkaMurmur2("abc"), 479470107);
}

TEST(ShardOf, IsThePartitionOfKafkasDefaultPartitioner) {
  // (-973932308 & 0x7fffffff) % 7 and so on, worked out by hand.
  EXPECT_EQ(ShardOf("21", 7), 1173551340U % 7);
  EXPECT_EQ(ShardOf("abc", 4), 479470107U % 4);
  EXPECT_EQ(ShardOf("foobar", 1), 0U);
}

TEST(ShardOf, AnIntegerIsShardedByItsText) {
  for (const uint64_t number : {uint64_t{0}, uint64_t{21}, uint64_t{1'234'567'890}, ~uint64_t{0}}) {
    const std::string text = std::to_string(number);
    for (const uint32_t shards : {1U, 4U, 1024U}) {
      EXPECT_EQ(ShardOf(IdRef(number), shards), ShardOf(std::string_view(text), shards));
      EXPECT_EQ(ShardOf(IdRef(text), shards), ShardOf(std::string_view(text), shards));
    }
  }
  EXPECT_EQ(ShardOf(IdRef("user-1"), 16), ShardOf(std::string_view("user-1"), 16));
}

TEST(ShardOf, SpreadsUsersEvenly) {
  constexpr uint32_t kShards = 4;
  int users[kShards] = {};
  for (int i = 0; i < 40'000; ++i) ++users[ShardOf(IdRef(static_cast<uint64_t>(i)), kShards)];
  for (const int count : users) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
