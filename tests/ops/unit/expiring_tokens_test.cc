#include "ops/expiring_tokens.h"

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using Names = std::vector<std::string>;

constexpr int64_t kDay = ExpiringTokens::kDayMs;

files::TokenSet Set(std::vector<std::pair<std::string, int64_t>> tokens) {
  files::TokenSet set;
  for (auto& [name, expires_ms] : tokens) {
    set.tokens.emplace_back();
    set.tokens.back().name = name;
    set.tokens.back().expires_ms = expires_ms;
  }
  return set;
}

TEST(ExpiringTokens, AreNamedOnceADayWithinAWeek) {
  const int64_t now = 100 * kDay;
  const files::TokenSet set =
      Set({{"never", 0}, {"later", now + 8 * kDay}, {"soon", now + 3 * kDay}, {"gone", now}});
  ExpiringTokens expiring;
  EXPECT_EQ(expiring.Look(set, now), Names({"soon"}));
  EXPECT_EQ(expiring.Look(set, now + kDay - 1), Names());
  EXPECT_EQ(expiring.Look(set, now + kDay), Names({"later", "soon"}));
  EXPECT_EQ(expiring.Look(set, now + 3 * kDay), Names({"later"}));
  EXPECT_EQ(expiring.Look(set, now + 8 * kDay), Names());
}

TEST(ExpiringTokens, ATokenThatWasProlongedIsNamedAnew) {
  const int64_t now = 100 * kDay;
  ExpiringTokens expiring;
  EXPECT_EQ(expiring.Look(Set({{"a", now + kDay}}), now), Names({"a"}));
  EXPECT_EQ(expiring.Look(Set({{"a", now + 30 * kDay}}), now + 1), Names());
  EXPECT_EQ(expiring.Look(Set({{"a", now + kDay}}), now + 2), Names({"a"}));
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
