// Markers of what was lost: united so that nobody concerned is left out, and read as they were
// written.

#include <gtest/gtest.h>

#include "tables/data_loss.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

DataLoss Of(std::vector<UserRange> users, int64_t at_ms = 1, std::string reason = "a table") {
  return {at_ms, std::move(reason), std::move(users)};
}

TEST(LossesTest, RangesAreUnited) {
  DataLoss losses;
  losses.Join(Of({{"m", "p"}}));
  losses.Join(Of({{"a", "c"}}));
  EXPECT_EQ(losses.users.size(), 2u);
  losses.Join(Of({{"b", "d"}, {"p", "q"}, {"x", "y"}}, 7, "another"));
  ASSERT_EQ(losses.users.size(), 3u);
  EXPECT_EQ(losses.users[0].from + losses.users[0].to, "ad");
  EXPECT_EQ(losses.users[1].from + losses.users[1].to, "mq");
  EXPECT_EQ(losses.at_ms, 7);
  EXPECT_EQ(losses.reason, "a table; another");
  for (const char* user : {"a", "b", "c", "m", "n", "p", "x"}) {
    EXPECT_TRUE(losses.MayConcern(user)) << user;
  }
  for (const char* user : {"d", "e", "q", "y", ""}) EXPECT_FALSE(losses.MayConcern(user)) << user;
  losses.Join(Of({}));
  EXPECT_TRUE(losses.MayConcern("e")) << "anybody's";
  losses.Join(Of({{"a", "b"}}));
  EXPECT_TRUE(losses.MayConcern("e")) << "still";
}

// Of very many ranges neighbours become one: more users are concerned, none fewer.
TEST(LossesTest, VeryManyRanges) {
  DataLoss losses;
  const auto name = [](int i) { return std::to_string(100'000 + i); };
  for (int i = 0; i < 3000; ++i) losses.Join(Of({{name(2 * i), name(2 * i + 1)}}));
  EXPECT_LE(losses.users.size(), 1000u);
  for (int i = 0; i < 3000; ++i) EXPECT_TRUE(losses.MayConcern(name(2 * i))) << i;
  EXPECT_FALSE(losses.MayConcern("099999"));
  EXPECT_FALSE(losses.MayConcern(name(6000)));
}

TEST(LossesTest, AreReadAsWritten) {
  const DataLoss losses = Of({{std::string("\0\xff", 2), "b"}, {"c", "d"}}, 1'773'144'000'000);
  const auto read = DataLoss::FromJson(losses.ToJson());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at_ms, losses.at_ms);
  EXPECT_EQ(read->reason, losses.reason);
  ASSERT_EQ(read->users.size(), 2u);
  EXPECT_EQ(read->users[0].from, losses.users[0].from);
  EXPECT_EQ(read->users[1].to, "d");
  for (const char* damaged :
       {"", "[]", "{}", R"({"at_ms":1})", R"({"at_ms":1.5,"reason":"r"})",
        R"({"at_ms":1,"reason":2})", R"({"at_ms":1,"reason":"r","users":[["xy","61"]]})",
        R"({"at_ms":1,"reason":"r","users":[["61"]]})",
        R"({"at_ms":1,"reason":"r","users":[1]})"}) {
    EXPECT_FALSE(DataLoss::FromJson(damaged)) << damaged;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
