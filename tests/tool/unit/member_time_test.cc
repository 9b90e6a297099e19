#include "member_time.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(MemberTime, OfAListIsOlderFromItsHeadOn) {
  const TimeOfMembers list{redis::ScoreUnit::kSeconds, 1'000, redis::KeyKind::kList};
  EXPECT_EQ(list.Of({"v", ""}, 0), 1'000);
  EXPECT_EQ(list.Of({"v", ""}, 7), 993);
  const TimeOfMembers set{redis::ScoreUnit::kSeconds, 1'000, redis::KeyKind::kSet};
  EXPECT_EQ(set.Of({"v", ""}, 7), 1'000);
  const TimeOfMembers scored{redis::ScoreUnit::kSeconds, 1'000, redis::KeyKind::kZset};
  EXPECT_EQ(scored.Of({"v", "5"}, 7), 5'000);
  EXPECT_EQ(scored.Of({"v", "x"}, 7), std::nullopt);
  EXPECT_FALSE((TimeOfMembers{redis::ScoreUnit::kSeconds, {}, redis::KeyKind::kList}).known());
  EXPECT_TRUE((TimeOfMembers{redis::ScoreUnit::kNone, 1, redis::KeyKind::kZset}).known());
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
