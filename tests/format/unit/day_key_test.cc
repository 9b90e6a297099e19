#include "format/day_key.h"

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(DayKey, SaysWhoseItIsAndOfWhat) {
  const std::string longest(255, 'u');
  for (const std::string& user : {std::string("u1"), std::string("1"), longest}) {
    const std::string key = DayKey(user, "video");
    std::string_view of, collection;
    ASSERT_TRUE(ParseDayKey(key, &of, &collection));
    EXPECT_EQ(of, user);
    EXPECT_EQ(collection, "video");
    EXPECT_TRUE(IsDayKey(key));
    EXPECT_LT(DayKeyPrefix(user), key);
    EXPECT_LT(key, DayKeyEnd(user));
  }
}

TEST(DayKey, LiesBehindEveryUserRecordAndApartFromOtherUsers) {
  EXPECT_LT(std::string("\xf4\x8f\xbf\xbf"), DayKey("a", "default")) << "the last of UTF-8";
  EXPECT_FALSE(IsDayKey("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(IsDayKey(""));
  for (const char* other : {"u", "u12", "v1"}) {
    const std::string key = DayKey(other, "default");
    EXPECT_FALSE(DayKeyPrefix("u1") <= key && key < DayKeyEnd("u1")) << other;
  }
}

TEST(DayKey, WhatIsNoneIsRefused) {
  std::string_view user, collection;
  for (const std::string& key :
       {std::string(), std::string("u1"), std::string("\xff"), std::string("\xff\0v", 3),
        std::string("\xff\x02u"), std::string("\xff\x02u1")}) {
    EXPECT_FALSE(ParseDayKey(key, &user, &collection)) << key.size();
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
