// Waits for a call from any thread.

#include "http/call_wait.h"

#include <memory>
#include <thread>

#include "http/unit/parts_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class CallWaitTest : public PartsTest {
 protected:
  void SetUp() override { wait_.emplace(loop_.get(), thread_.io.get_executor()); }

  std::optional<CallWait> wait_;
};

TEST_F(CallWaitTest, ACallFromAnotherThreadEndsIt) {
  const auto resume = wait_->Resume();
  ASSERT_TRUE(wait_->Begin(0));
  std::thread([&resume] { resume(std::make_shared<int>(7)); }).join();
  EXPECT_EQ(loop_->told, 0);  // until the connection's thread comes to it
  Turn();
  EXPECT_EQ(loop_->told, 1);
  EXPECT_EQ(loop_->last, Loop::Event::kWork);
  const Waiting::Came came = wait_->Take();
  ASSERT_NE(came.given, nullptr);
  EXPECT_EQ(*std::static_pointer_cast<int>(came.given), 7);
  EXPECT_GT(came.waited_us, 0);
  EXPECT_EQ(wait_->Take().given, nullptr);
}

TEST_F(CallWaitTest, ACallMayComeBeforeTheWait) {
  wait_->Resume()(std::make_shared<int>(7));
  Turn();
  EXPECT_EQ(loop_->told, 0);
  EXPECT_FALSE(wait_->Begin(0));
  EXPECT_NE(wait_->Take().given, nullptr);
}

TEST_F(CallWaitTest, OnlyTheNewestCallCounts) {
  const auto old = wait_->Resume(), resume = wait_->Resume();
  ASSERT_TRUE(wait_->Begin(0));
  old(nullptr);
  Turn();
  EXPECT_EQ(loop_->told, 0);
  resume(nullptr);
  resume(nullptr);
  Turn();
  EXPECT_EQ(loop_->told, 1);
}

TEST_F(CallWaitTest, EndsAtItsLimit) {
  const auto resume = wait_->Resume();
  ASSERT_TRUE(wait_->Begin(1'000));
  EXPECT_TRUE(TurnUntil([this] { return loop_->told > 0; }));
  EXPECT_EQ(wait_->Take().given, nullptr);
  EXPECT_GE(wait_->waited(), std::chrono::microseconds(1'000));
  resume(std::make_shared<int>(7));  // too late
  Turn();
  EXPECT_EQ(loop_->told, 1);
  EXPECT_EQ(wait_->Take().given, nullptr);
}

TEST_F(CallWaitTest, WhatIsForgottenIsDropped) {
  const auto resume = wait_->Resume();
  wait_->Forget();
  resume(std::make_shared<int>(7));
  Turn();
  ASSERT_TRUE(wait_->Begin(0));
  Turn();
  EXPECT_EQ(loop_->told, 0);
  EXPECT_EQ(wait_->Take().given, nullptr);
}

TEST_F(CallWaitTest, KeepsTheLoopUntilItIsClosed) {
  const std::weak_ptr<NotingLoop> weak = loop_;
  const auto resume = wait_->Resume();
  ASSERT_TRUE(wait_->Begin(0));
  EXPECT_EQ(weak.use_count(), 2);
  EXPECT_NE(wait_->Close(), nullptr);
  EXPECT_EQ(weak.use_count(), 1);
  resume(nullptr);
  Turn();
  EXPECT_EQ(loop_->told, 0);
}

TEST_F(CallWaitTest, ACallMayOutliveTheLoop) {
  auto resume = wait_->Resume();
  wait_.reset();
  loop_.reset();
  const auto given = std::make_shared<int>(7);
  resume(given);
  Turn();
  EXPECT_EQ(given.use_count(), 1);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
