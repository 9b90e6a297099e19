#include "filter/item_hash.h"

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <gtest/gtest.h>
#include <xxhash.h>

#include "seendb/facts.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

ItemHashId Keyed(uint64_t low, uint64_t high = 0) {
  return {.version = 2, .key = {.low = low, .high = high}};
}

// As the specification has it, the canonical bytes made in memory.
Fingerprint Reference(const HashKey& key, const IdRef& id) {
  std::array<uint64_t, 24> secret{};
  for (uint64_t i = 0; i < secret.size(); ++i) {
    secret[i] = SipHash(key, {reinterpret_cast<const char*>(&i), sizeof(i)});
  }
  std::string bytes = id.is_number() ? std::string(1, '\xFF') : std::string(id.text());
  if (id.is_number()) {
    const uint64_t number = id.number();
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret.data(), sizeof(secret)) >> 16;
}

TEST(ItemHash, VersionOneIsTheSameEverywhere) {
  const ItemHash hash(ItemHashId{.version = 1, .key = {}});
  for (const IdRef id : {IdRef("v1"), IdRef(uint64_t{42}), IdRef("video-1000000000000000000")}) {
    EXPECT_EQ(hash.Of(id), FingerprintOf(id));
  }
}

TEST(ItemHash, VersionTwoIsXxh3WithASecretOfTheKey) {
  const ItemHashId id = Keyed(7, 9);
  const ItemHash hash(id);
  for (size_t size = 1; size <= kMaxIdBytes; ++size) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    ASSERT_EQ(hash.Of(IdRef(text)), Reference(id.key, IdRef(text))) << size;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const IdRef number(random() >> (random() % 64));
    ASSERT_EQ(hash.Of(number), Reference(id.key, number)) << number.number();
  }
}

TEST(ItemHash, AGroupIsHashedBehindAByteThatNoUtf8Has) {
  const ItemHash first(ItemHashId{.version = 1, .key = {}});
  EXPECT_EQ(first.OfGroup("src:9"), 0x7712'bfa2'a4fbU);  // the example of facts.md
  const ItemHashId id = Keyed(7, 9);
  const ItemHash keyed(id);
  for (size_t size = 1; size <= kMaxGroupBytes; ++size) {
    const std::string group(size, static_cast<char>('0' + size % 10)), bytes = '\xFE' + group;
    ASSERT_EQ(first.OfGroup(group), FingerprintOf(IdRef(bytes))) << size;
    ASSERT_EQ(keyed.OfGroup(group), Reference(id.key, IdRef(bytes))) << size;
    ASSERT_NE(keyed.OfGroup(group), keyed.Of(IdRef(group))) << size;
  }
}

TEST(ItemHash, AnotherKeyIsAnotherHash) {
  const ItemHash one(Keyed(1)), other(Keyed(2));
  int same = 0;
  for (uint64_t i = 0; i < 1'000; ++i) {
    same += one.Of(IdRef(i)) == other.Of(IdRef(i)) ? 1 : 0;
    same += one.Of(IdRef(i)) == FingerprintOf(IdRef(i)) ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(ItemHash, ManyIsOneByOne) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i)
    texts.push_back(i % 3 == 0 ? std::to_string(i) : "i" + std::to_string(i));
  const std::vector<IdRef> ids(texts.begin(), texts.end());
  for (const ItemHashId& id : {ItemHashId{.version = 1, .key = {}}, Keyed(3)}) {
    const ItemHash hash(id);
    std::vector<Fingerprint> many(ids.size());
    hash.OfMany(ids, many.data());
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(many[i], hash.Of(ids[i])) << texts[i];
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
