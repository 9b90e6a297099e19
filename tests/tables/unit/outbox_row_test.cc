// Keys and values of the outbox.

#include "tables/outbox_row.h"

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(OutboxRowTest, KeysAreOrderedByOffset) {
  EXPECT_EQ(OutboxKey("plays", 3, 7), "outbox/plays/3/00000000000000000007");
  EXPECT_EQ(OutboxKey("plays", 3, INT64_MAX), "outbox/plays/3/09223372036854775807");
  EXPECT_LT(OutboxKey("plays", 3, 99), OutboxKey("plays", 3, 100));
  const auto place = ParseOutboxKey(OutboxKey("plays.v1", 12, 7));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->topic, "plays.v1");
  EXPECT_EQ(place->partition, 12u);
  EXPECT_EQ(place->offset, 7);
  for (const char* key : {"", "outbox/", "outbox/plays", "outbox/plays/3", "outbox//3/7",
                          "outbox/plays/x/7", "outbox/plays/3/7x", "source/plays/3"}) {
    EXPECT_FALSE(ParseOutboxKey(key)) << key;
  }
}

TEST(OutboxRowTest, ValuesSurviveTheirText) {
  OutboxValue value{5, -6, {{"u1", "video", "2026-11-20"}, {"u\"2", "audio", "2026-11-21"}}};
  const auto parsed = OutboxValue::FromJson(value.ToJson());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->seq, 5u);
  EXPECT_EQ(parsed->at_ms, -6);
  EXPECT_EQ(parsed->first_plays, value.first_plays);
  EXPECT_TRUE(value.Remove("u1"));
  EXPECT_FALSE(value.Remove("u1"));
  EXPECT_EQ(value.first_plays.size(), 1u);
  for (const char* text :
       {"", "{", "[]", R"({"seq":1,"at_ms":2})", R"({"seq":-1,"at_ms":2,"first_plays":[]})",
        R"({"seq":1,"at_ms":2,"first_plays":[{"user":"u1","collection":"video"}]})"}) {
    EXPECT_FALSE(OutboxValue::FromJson(text)) << text;
  }
}

// Each first play once, and the age of the older one.
TEST(OutboxRowTest, AnEarlierValueIsKept) {
  OutboxValue value{9, 20, {{"u1", "video", "2026-11-20"}}};
  value.Join({5, 10, {{"u1", "video", "2026-11-20"}, {"u2", "video", "2026-11-20"}}});
  EXPECT_EQ(value.seq, 5u);
  EXPECT_EQ(value.at_ms, 10);
  EXPECT_EQ(value.first_plays.size(), 2u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
