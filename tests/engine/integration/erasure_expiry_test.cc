// Records of erasures go once nothing from before them can come back, and not earlier.

#include <future>

#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ErasureExpiryTest : public EngineTest {
 protected:
  ErasureExpiryTest() {
    options_.shards = 1;
    options_.maintenance_begin_minute = options_.maintenance_end_minute = 0;  // at any time
  }
  void Erase(const std::string& user) {
    const Status erased = engine_->EraseUser(IdRef(user), {.always = true});
    ASSERT_TRUE(erased.ok()) << erased.ToString();
  }
  bool IsKept(const std::string& user) {
    return engine_->Inspect(IdRef(user))->erased_at_ms.has_value();
  }
  void PassDays(int days) {
    for (const int64_t end_ms = clock_.NowMs() + days * kDayMs; clock_.NowMs() < end_ms;) {
      clock_.Advance(5 * kDayMs);
      RunDue();
    }
  }
};

TEST_F(ErasureExpiryTest, TheyGoWithTheLongestRetention) {
  Open();
  PolicyPatch longer;
  longer.retention = 8;
  Put("longer", longer);
  Play("known", {"v"});
  for (const char* user : {"known", "nobody"}) Erase(user);
  for (int i = 0; i < 200; ++i) Erase("nobody" + std::to_string(i));
  PassDays(200);  // longer than `default` keeps anything
  EXPECT_TRUE(IsKept("nobody"));
  EXPECT_TRUE(IsKept("nobody100"));
  EXPECT_EQ(Play("nobody", {"v"}, kStartMs - kDayMs, "longer"), 0u) << "erased";
  PassDays(70);
  for (const char* user : {"known", "nobody", "nobody0", "nobody100", "nobody199"}) {
    EXPECT_FALSE(IsKept(user)) << user;
    EXPECT_EQ(Play(user, {"v"}, kStartMs - kDayMs, "longer"), 0u) << "too old";
    EXPECT_EQ(Play(user, {"v"}), 1u);
  }
  Reopen();
  EXPECT_FALSE(IsKept("nobody"));
  EXPECT_EQ(Unseen("nobody", {"v", "w"}), Items{"w"});
}

TEST_F(ErasureExpiryTest, WhatElseIsKnownOfTheUserStays) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  Put("video", patch);
  for (const char* user : {"paused", "again", "plain"}) Erase(user);
  ASSERT_TRUE(engine_->SetRecording(IdRef("paused"), true).ok());
  PassDays(120);
  Erase("again");
  PassDays(400);
  EXPECT_FALSE(IsKept("plain"));
  EXPECT_TRUE(IsKept("paused"));
  EXPECT_TRUE(engine_->GetRecording(IdRef("paused"))->paused);
}

TEST_F(ErasureExpiryTest, ALaterErasureIsKept) {
  Open();
  Erase("u");
  PassDays(100);
  Erase("u");
  const int64_t again_ms = clock_.NowMs();
  PassDays(30);
  EXPECT_TRUE(IsKept("u"));
  EXPECT_EQ(Play("u", {"v"}, again_ms - kDayMs), 0u);
}

// The clock may be ahead, by no more than plays may be: set right, it reaches buckets back that
// were too old a moment ago.
TEST_F(ErasureExpiryTest, TheyOutliveAClockThatIsSetBack) {
  Open();
  Erase("u");
  const Policy policy;
  const int64_t bucket = BucketIndexOf(policy, kStartMs);
  const int64_t too_old_ms = BucketBeginMs(policy, bucket + policy.retention);
  clock_.Set(too_old_ms + policy.max_future_ms / 2);
  RunDue();
  EXPECT_EQ(Play("u", {"v"}, kStartMs - kDayMs), 0u) << "too old";
  clock_.Set(too_old_ms - policy.max_future_ms / 2 + 1);
  EXPECT_EQ(Play("u", {"v"}, kStartMs - kDayMs), 0u) << "erased";
  EXPECT_EQ(Play("u", {"v"}, kStartMs + 1), 1u);
  clock_.Set(too_old_ms + policy.max_future_ms - 1);
  RunDue();
  EXPECT_TRUE(IsKept("u"));
  clock_.Advance(kDayMs);
  RunDue();
  EXPECT_FALSE(IsKept("u"));
}

// A call that waits keeps its slot, with a play of before the erasure, from being drained for
// longer than all that is kept.
TEST_F(ErasureExpiryTest, TheyOutliveTheJournalsOfBefore) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Open();
  Play("u", {"v"});
  Hold hold("record: pinned");
  std::future<uint64_t> played =
      std::async(std::launch::async, [this] { return Play("other", {"v"}); });
  ASSERT_TRUE(hold.WaitReached());
  Erase("u");
  clock_.Advance(400 * kDayMs);
  RunDue();
  hold.Release();
  EXPECT_EQ(played.get(), 1u);
  EXPECT_TRUE(IsKept("u"));
  Reopen();
  clock_.Set(kStartMs + kHourMs);
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
  EXPECT_EQ(Unseen("other", {"v"}), Items{});
  clock_.Advance(400 * kDayMs);
  RunDue();
  EXPECT_FALSE(IsKept("u"));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
