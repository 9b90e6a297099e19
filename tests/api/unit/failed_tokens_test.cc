#include "api/failed_tokens.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const FailedTokens::Time kStart{std::chrono::hours(1)};

TEST(FailedTokens, BeyondTheLimitAnAddressWaitsForItsMinute) {
  FailedTokens failed(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(failed.Note("10.0.0.1", kStart + seconds(i)), 0);
  EXPECT_EQ(failed.Note("10.0.0.1", kStart + seconds(3)), 57);
  EXPECT_EQ(failed.Note("10.0.0.1", kStart + milliseconds(59'999)), 1);
  EXPECT_EQ(failed.Note("10.0.0.2", kStart + seconds(59)), 0);
  EXPECT_EQ(failed.Note("10.0.0.1", kStart + seconds(60)), 0);
  EXPECT_EQ(failed.refused(), 5u);
  EXPECT_EQ(failed.limited(), 2u);
}

TEST(FailedTokens, WhoHasNoAddressHasNoLimit) {
  FailedTokens failed(1), off(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(failed.Note("", kStart), 0);
    EXPECT_EQ(failed.Note("unix", kStart), 0);
    EXPECT_EQ(off.Note("10.0.0.1", kStart), 0);
  }
  EXPECT_EQ(failed.refused(), 20u);
}

TEST(FailedTokens, AClientMayHaveANetworkForItself) {
  EXPECT_EQ(NetworkOf("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(NetworkOf("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(NetworkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("::1"), "::/64");
  EXPECT_EQ(NetworkOf("x"), "x");
  FailedTokens failed(1);
  EXPECT_EQ(failed.Note("2001:db8:1:2::1", kStart), 0);
  EXPECT_EQ(failed.Note("2001:db8:1:2:ffff::1", kStart), 60);
  EXPECT_EQ(failed.Note("2001:db8:1:3::1", kStart), 0);
}

TEST(FailedTokens, ItHoldsSoManyAddresses) {
  FailedTokens failed(1);
  for (size_t i = 0; i < FailedTokens::kMostAddresses; ++i) {
    EXPECT_EQ(failed.Note("a" + std::to_string(i), kStart), 0);
  }
  EXPECT_NE(failed.Note("a0", kStart), 0);
  EXPECT_EQ(failed.Note("one more", kStart), 0);
  EXPECT_NE(failed.Note("a1", kStart), 0);
  EXPECT_EQ(failed.Note("a0", kStart), 0) << "it was forgotten for the one more";
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
