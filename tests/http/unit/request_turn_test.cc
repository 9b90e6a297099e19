// The turns of requests by themselves: in the lane of a thread, and at workers.

#include "http/request_turn.h"

#include <stdexcept>
#include <string>
#include <thread>

#include "http/unit/parts_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

struct Step {
  void Run() {
    ++ran;
    by = std::this_thread::get_id();
  }
  void Throw() { throw std::runtime_error("thrown"); }
  int ran = 0;
  std::thread::id by;
};

class RequestTurnTest : public PartsTest {
 protected:
  void SetUp() override {
    turn_.emplace(loop_.get(), nullptr, &thread_, thread_.io.get_executor());
    plan_.body = BodyMode::kWhole;
  }
  admission::Lane& lane() { return *thread_.lane; }
  bool Admit() {
    const auto now = Clock::now();
    return turn_->Admit(&plan_, head_, 10, now, now).admitted();
  }
  bool RunsNow() { return turn_->RunsNow(plan_, 10, 10); }
  bool Enter(RequestTurn::Job job) {
    const auto entered = turn_->Enter(Clock::now(), job);
    return entered && entered->admitted();
  }
  /// The thread comes to what waits in its lane.
  void Take() {
    const auto now = Clock::now();
    const admission::Lane::Turn taken = lane().Take(now);
    ASSERT_NE(taken.entry, nullptr);
    EXPECT_EQ(turn_->Came(taken.verdict, now), loop_);
  }

  RequestTurn::Job job() { return JobOf<&Step::Run>(&step_); }

  Step step_;
  std::optional<RequestTurn> turn_;
  RequestHead head_;
  Plan plan_;
};

TEST_F(RequestTurnTest, WaitsInTheLaneOfItsThread) {
  ASSERT_TRUE(Admit());
  ASSERT_FALSE(RunsNow());
  ASSERT_TRUE(Enter({}));
  EXPECT_EQ(lane().size(), 1u);
  Take();
  EXPECT_TRUE(turn_->verdict().admitted());
  EXPECT_FALSE(turn_->at_workers());
  turn_->Run(job());
  EXPECT_EQ(step_.ran, 1);
  EXPECT_FALSE(turn_->failed());
  turn_->End();
  EXPECT_EQ(lane().size(), 0u);
  EXPECT_GE(turn_->worked().count(), 0);
  turn_->EndTimes();
  EXPECT_EQ(turn_->worked().count() + turn_->waited().count(), 0);
}

TEST_F(RequestTurnTest, APipelineRunsWithinATurn) {
  constexpr milliseconds kAhead{50};
  ASSERT_TRUE(Admit());
  ASSERT_FALSE(RunsNow());
  ASSERT_TRUE(Enter({}));
  const admission::Lane::Turn taken = lane().Take(Clock::now());
  ASSERT_NE(taken.entry, nullptr);
  // A turn that begins a little later than now, so that it is not over yet on a busy machine.
  const std::shared_ptr<Loop> kept = turn_->Came(taken.verdict, Clock::now() + kAhead);
  EXPECT_TRUE(RunsNow());
  turn_->EndPipeline();
  EXPECT_FALSE(RunsNow());
  std::this_thread::sleep_for(2 * kAhead);
  turn_->End();
}

TEST_F(RequestTurnTest, AProbeRunsAtOnce) {
  plan_.probe = true;
  ASSERT_TRUE(Admit());
  EXPECT_TRUE(RunsNow());
  EXPECT_EQ(lane().size(), 0u);
}

TEST_F(RequestTurnTest, AWorkerRunsTheJobAndTheLoopGoesOn) {
  plan_.executor = Executor::kEngine;
  ASSERT_TRUE(Admit());
  ASSERT_FALSE(RunsNow());
  ASSERT_TRUE(Enter(job()));
  ASSERT_TRUE(TurnUntil([this] { return loop_->told > 0; }));
  EXPECT_EQ(step_.ran, 1);
  EXPECT_NE(step_.by, std::this_thread::get_id());
  EXPECT_TRUE(turn_->verdict().admitted());
  EXPECT_TRUE(turn_->at_workers());
  EXPECT_FALSE(turn_->away());
}

TEST_F(RequestTurnTest, AJobThatThrowsHasFailed) {
  ASSERT_TRUE(turn_->Post(Executor::kSlow, JobOf<&Step::Throw>(&step_)));
  EXPECT_TRUE(turn_->away());
  ASSERT_TRUE(TurnUntil([this] { return loop_->told > 0; }));
  EXPECT_TRUE(turn_->failed());
  turn_->Run(job());
  EXPECT_FALSE(turn_->failed());
}

TEST_F(RequestTurnTest, WorkersThatHaveStoppedTakeNothing) {
  ASSERT_TRUE(shared_.engine.Stop(10'000));
  EXPECT_FALSE(turn_->Post(Executor::kEngine, job()));
  EXPECT_FALSE(turn_->away());
  plan_.executor = Executor::kEngine;
  ASSERT_TRUE(Admit());
  ASSERT_FALSE(RunsNow());
  EXPECT_FALSE(Enter(job()));
  EXPECT_FALSE(turn_->away());
}

TEST_F(RequestTurnTest, ALargeBodyLeavesTheLaneOfTheThread) {
  plan_.large_bytes = 5;
  plan_.large_executor = Executor::kEngine;
  plan_.ticket.bytes = 1;
  const auto now = Clock::now();
  ASSERT_TRUE(turn_->Admit(&plan_, head_, 1, now, now).admitted());
  ASSERT_FALSE(RunsNow());
  EXPECT_TRUE(turn_->at_workers());
  ASSERT_TRUE(Enter(job()));
  ASSERT_TRUE(TurnUntil([this] { return loop_->told > 0; }));
  EXPECT_EQ(lane().size(), 0u);
}

TEST_F(RequestTurnTest, WhatClosesIsInNoLane) {
  const std::weak_ptr<NotingLoop> weak = loop_;
  ASSERT_TRUE(Admit());
  EXPECT_EQ(turn_->Close(), nullptr);  // admitted
  ASSERT_TRUE(Admit());
  ASSERT_FALSE(RunsNow());
  ASSERT_TRUE(Enter({}));
  EXPECT_EQ(weak.use_count(), 2);
  EXPECT_NE(turn_->Close(), nullptr);  // waits
  EXPECT_EQ(weak.use_count(), 1);
  EXPECT_EQ(lane().size(), 0u);
  ASSERT_TRUE(Admit());
  ASSERT_FALSE(RunsNow());
  ASSERT_TRUE(Enter({}));
  Take();
  EXPECT_EQ(turn_->Close(), nullptr);  // runs
  EXPECT_TRUE(lane().empty());
}

TEST_F(RequestTurnTest, PiecesOfAStreamWaitEachByItself) {
  plan_.body = BodyMode::kStream;
  ASSERT_TRUE(Admit());
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(RunsNow());
    ASSERT_TRUE(Enter({}));
    EXPECT_EQ(lane().size(), 1u);
    Take();
    turn_->Run(job());
    turn_->End();
    turn_->EndPipeline();
  }
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
