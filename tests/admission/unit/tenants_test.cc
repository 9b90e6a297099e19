// Rates of tenants, and which part of a lane belongs to whom.

#include "admission/tenants.h"

#include <gtest/gtest.h>

#include "admission/shares.h"

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time At(int64_t ms) { return Time(seconds(1'000) + milliseconds(ms)); }

int Taken(Tenant* tenant, int asked, Time now) {
  int taken = 0;
  for (Duration wait{0}; asked > 0; --asked)
    taken += tenant->Admit(now, &wait) == Reason::kNone ? 1 : 0;
  return taken;
}

TEST(TenantTest, MayAskForASecondsWorthAtOnceThenAtItsRate) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = 50}, 1);
  EXPECT_EQ(Taken(&tenant, 200, At(0)), 50);
  EXPECT_EQ(Taken(&tenant, 200, At(100)), 5);
  EXPECT_EQ(Taken(&tenant, 200, At(10'000)), 50);
}

TEST(TenantTest, SaysWhenItMayAskAgain) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = 10}, 1);
  ASSERT_EQ(Taken(&tenant, 11, At(0)), 10);
  Duration wait{0};
  ASSERT_EQ(tenant.Admit(At(30), &wait), Reason::kRate);
  EXPECT_EQ(wait, milliseconds(70));
  EXPECT_EQ(tenant.Admit(At(100), &wait), Reason::kNone);
}

TEST(TenantTest, LessThanOneASecondIsARateToo) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = .1}, 1);
  EXPECT_EQ(Taken(&tenant, 5, At(0)), 1);
  EXPECT_EQ(Taken(&tenant, 5, At(9'000)), 0);
  EXPECT_EQ(Taken(&tenant, 5, At(10'000)), 1);
}

TEST(TenantTest, WhatItHadWithoutAskingItWaitsFor) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = 2}, 1);
  tenant.Charge(20, At(0));
  EXPECT_EQ(Taken(&tenant, 5, At(0)), 0);
  Duration wait{0};
  ASSERT_EQ(tenant.Admit(At(1'000), &wait), Reason::kRate);
  EXPECT_EQ(wait, milliseconds(8'500));
  EXPECT_EQ(Taken(&tenant, 5, At(10'000)), 2);
}

TEST(TenantTest, PartsOfTurnsCountTogether) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = 10}, 1);
  for (int i = 0; i < 50; ++i) tenant.Charge(0.1, At(0));
  EXPECT_EQ(Taken(&tenant, 20, At(0)), 5);
}

TEST(TenantTest, OwesAQuarterOfAnHourAtTheMost) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = 0.001}, 1);
  for (int i = 0; i < 3; ++i) tenant.Charge(1e300, At(0));
  Duration wait{0};
  EXPECT_EQ(tenant.Admit(At(900'000), &wait), Reason::kNone);
  tenant.Set({.requests_per_s = 0}, 1);
  tenant.Charge(1e300, At(2'000'000));
  EXPECT_EQ(tenant.Admit(At(2'000'000), &wait), Reason::kNone) << "without a rate nothing is owed";
}

TEST(TenantTest, BytesAreKnownAfterwardsAndWaitedForThen) {
  Tenant tenant("a", 1);
  tenant.Set({.decoded_bytes_per_s = 1'000}, 1);
  EXPECT_EQ(Taken(&tenant, 100, At(0)), 100) << "of requests there is no limit";
  tenant.AddBytes(1'000, At(0));
  Duration wait{0};
  EXPECT_EQ(tenant.Admit(At(0), &wait), Reason::kNone) << "a second's worth at once";
  tenant.AddBytes(4'000, At(0));
  ASSERT_EQ(tenant.Admit(At(0), &wait), Reason::kRateOfBytes);
  EXPECT_EQ(wait, seconds(4));
  EXPECT_EQ(tenant.Admit(At(4'000), &wait), Reason::kNone);
  tenant.AddBytes(size_t{1} << 60, At(4'000));
  ASSERT_EQ(tenant.Admit(At(4'000), &wait), Reason::kRateOfBytes);
  EXPECT_EQ(wait, seconds(899));
}

TEST(TenantTest, WorkIsLimitedByItself) {
  Tenant tenant("a", 1);
  tenant.Set({.requests_per_s = 5, .work_ms_per_s = 100}, 1);
  tenant.AddWork(milliseconds(300), At(0));
  Duration wait{0};
  ASSERT_EQ(tenant.Admit(At(0), &wait), Reason::kRateOfWork);
  EXPECT_EQ(wait, seconds(2));
  EXPECT_EQ(Taken(&tenant, 10, At(2'000)), 5) << "what was refused took no turn";
  tenant.Set({}, 1);
  EXPECT_EQ(Taken(&tenant, 10, At(0)), 10);
}

TEST(TenantTest, WithoutARateItMayAlways) {
  Tenant tenant("a", 1);
  EXPECT_EQ(Taken(&tenant, 1'000, At(0)), 1'000);
}

TEST(TenantsTest, AReloadKeepsTheAccountAndWhatWasUsed) {
  Tenants tenants;
  Tenant* const first = tenants.Named("a", {.requests_per_s = 5}, 1);
  EXPECT_EQ(Taken(first, 10, At(0)), 5);
  first->AddWork(seconds(2), At(0));
  Tenant* const again = tenants.Named("a", {.requests_per_s = 5}, 3);
  EXPECT_EQ(again, first);
  EXPECT_EQ(again->weight(), 3);
  EXPECT_EQ(Taken(again, 10, At(0)), 0);
  ASSERT_EQ(tenants.Work().size(), 1u);
  EXPECT_EQ(tenants.Work()[0], (std::pair<std::string, Duration>("a", seconds(2))));
  EXPECT_NE(tenants.Named("b", {.requests_per_s = 0}, 1)->key(), first->key());
}

TEST(TenantSharesTest, ASharesGoesByTheWeightsOfThoseWhoAsk) {
  TenantShares shares;
  shares.Asked(1, 1, {}, 1, At(0));
  EXPECT_EQ(shares.ShareOf(1), 1);
  EXPECT_FALSE(shares.HasOthers(1));
  shares.Asked(2, 3, {}, 1, At(500));
  EXPECT_EQ(shares.ShareOf(1), .25);
  EXPECT_EQ(shares.ShareOf(2), .75);
  EXPECT_TRUE(shares.HasOthers(1));
  shares.Asked(2, 3, {}, 1, At(1'200));  // the first has asked for nothing for more than a second
  EXPECT_EQ(shares.ShareOf(2), 1);
  EXPECT_FALSE(shares.HasOthers(2));
}

TEST(TenantSharesTest, WhatIsHeldIsKnownUntilItIsGivenBack) {
  TenantShares shares;
  shares.Asked(1, 1, milliseconds(30), 1, At(0));
  EXPECT_NEAR(shares.LoadOf(1, At(0)), .3, 1e-9);
  EXPECT_TRUE(shares.Add(1, milliseconds(5), 100));
  shares.Asked(2, 1, {}, 1, At(5'000));
  EXPECT_EQ(shares.WorkOf(1), milliseconds(5));
  EXPECT_EQ(shares.BytesOf(1), 100u);
  EXPECT_TRUE(shares.Add(1, -milliseconds(5), -100));
  EXPECT_FALSE(shares.Add(1, milliseconds(5), 100)) << "it is forgotten";
  EXPECT_FALSE(shares.Add(0, milliseconds(5), 100)) << "nobody's";
}

TEST(TenantSharesTest, MoreThanTheMostAreNotKeptApart) {
  TenantShares shares;
  for (uint64_t key = 1; key <= TenantShares::kMaxTenants + 10; ++key) {
    shares.Asked(key, 1, {}, 1, At(0));
  }
  EXPECT_FALSE(shares.Add(TenantShares::kMaxTenants + 1, milliseconds(1), 0));
  EXPECT_EQ(shares.ShareOf(TenantShares::kMaxTenants + 1), 1);
  shares.Asked(1'000'000, 1, {}, 1, At(2'000));
  EXPECT_TRUE(shares.Add(1'000'000, milliseconds(1), 0));
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
