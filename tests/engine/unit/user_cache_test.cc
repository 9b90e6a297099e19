#include "shard/user_cache.h"

#include <string>

#include <gtest/gtest.h>

#include "filter/keyed_hash.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class UserCacheTest : public testing::Test {
 protected:
  static UserRecordPtr Erased(uint64_t seq) {
    return std::make_shared<const UserRecord>(UserRecord{.erased_seq = seq});
  }
  void Insert(const std::string& user, UserRecordPtr record) {
    const uint64_t hash = KeyedHash(user);
    cache_.Insert(user, hash, std::move(record), cache_.Version(hash));
  }
  UserCache::Found Find(const std::string& user) { return cache_.Find(user, KeyedHash(user)); }
  void Join(const std::string& user, uint64_t seq) {
    cache_.Join(user, KeyedHash(user), UserRecord{.erased_seq = seq});
  }

  UserCache cache_{64 << 10};
};

TEST_F(UserCacheTest, KeepsRecordsAndAbsences) {
  Insert("a", Erased(5));
  Insert("b", nullptr);
  ASSERT_TRUE(Find("a").known);
  EXPECT_EQ(Find("a").record->erased_seq, 5u);
  ASSERT_TRUE(Find("b").known);
  EXPECT_EQ(Find("b").record, nullptr);
  EXPECT_FALSE(Find("c").known);
}

TEST_F(UserCacheTest, AChangeJoinsWhatIsHereAndMakesNothing) {
  Insert("a", Erased(5));
  Insert("b", nullptr);
  for (const char* user : {"a", "b", "c"}) Join(user, 7);
  EXPECT_EQ(Find("a").record->erased_seq, 7u);
  EXPECT_EQ(Find("b").record->erased_seq, 7u);
  EXPECT_FALSE(Find("c").known) << "the rest of it may be on disk";
}

TEST_F(UserCacheTest, WhatWasReadBeforeAChangeIsNotKept) {
  const uint64_t hash = KeyedHash("a");
  const uint64_t version = cache_.Version(hash);
  const uint64_t changes = cache_.changes();
  Join("a", 7);
  EXPECT_NE(cache_.Version(hash), version);
  EXPECT_NE(cache_.changes(), changes);
  cache_.Insert("a", hash, Erased(5), version);
  EXPECT_FALSE(Find("a").known);
}

TEST_F(UserCacheTest, AReplacedRecordIsNotJoined) {
  Insert("a", Erased(5));
  cache_.Replace("a", KeyedHash("a"), Erased(3));
  EXPECT_EQ(Find("a").record->erased_seq, 3u);
  cache_.Replace("b", KeyedHash("b"), Erased(3));
  EXPECT_FALSE(Find("b").known);
}

TEST_F(UserCacheTest, StaysWithinItsBudget) {
  for (int i = 0; i < 10'000; ++i) {
    Insert("user" + std::to_string(i), i % 3 == 0 ? nullptr : Erased(1));
    ASSERT_LE(cache_.bytes(), cache_.most_bytes()) << i;
  }
  EXPECT_GT(cache_.bytes(), cache_.most_bytes() / 2);
  cache_.Clear();
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(UserCacheTest, ARecordThatGrowsTakesOthersPlaces) {
  for (int i = 0; i < 100; ++i) Insert("user" + std::to_string(i), Erased(1));
  UserRecord change;
  for (uint64_t item = 0; item < 400; ++item) {
    change.marks["video"].overrides[item] = {1, item + 2, false};
  }
  cache_.Join("user0", KeyedHash("user0"), change);
  EXPECT_LE(cache_.bytes(), cache_.most_bytes());
  for (uint64_t item = 400; item < 4'000; ++item) {
    change.marks["video"].overrides[item] = {1, item + 2, false};
  }
  Insert("large", std::make_shared<const UserRecord>(change));
  EXPECT_FALSE(Find("large").known) << "larger than the whole cache";
  EXPECT_LE(cache_.bytes(), cache_.most_bytes());
}

TEST_F(UserCacheTest, WhatIsAskedForStays) {
  Insert("wanted", Erased(1));
  for (int i = 0; i < 2'000; ++i) {
    EXPECT_TRUE(Find("wanted").known) << i;
    Insert("user" + std::to_string(i), Erased(1));
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
