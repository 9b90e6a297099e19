// Tasks: coroutines that are run from outside.

#include "http/task.h"

#include <coroutine>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http/wait.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

/// Keeps what it made, to be called by the test.
class KeptWaiting final : public Waiting {
 public:
  std::function<void(std::shared_ptr<void>)> Resume() override {
    return [this](std::shared_ptr<void> value) {
      given = std::move(value);
      ++calls;
    };
  }
  Came Take() override { return {}; }

  std::shared_ptr<void> given;
  int calls = 0;
};

class TaskTest : public testing::Test {
 protected:
  void Run(Task<> task) {
    run_.Begin(std::move(task));
    run_.GoOn();
  }
  // Ends the wait of the task.
  void GoOn() {
    run_.wait()->came.given = std::exchange(waiting_.given, nullptr);
    run_.GoOn();
  }
  void ExpectEnded() {
    EXPECT_FALSE(run_);
    EXPECT_EQ(run_.wait(), nullptr);
  }

  KeptWaiting waiting_;
  TaskRun run_{&waiting_};
};

Task<int> Seven() { co_return 7; }

Task<int> Sum(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await Seven();
  co_return sum;
}

Task<int> Deep(int depth) {
  if (depth == 0) {
    co_await OnWorker(Executor::kEngine);
    co_return 0;
  }
  co_return 1 + co_await Deep(depth - 1);
}

Task<> Put(Task<int> task, int* to) { *to = co_await std::move(task); }

/// Counts what is alive.
class Counted {
 public:
  explicit Counted(int* count) : count_(*count) { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  int& count_;
};

Task<> WaitWith(int* alive) {
  const Counted here(alive);
  co_await OnWorker(Executor::kEngine);
}

Task<> WaitWithin(int* alive) {
  const Counted here(alive);
  co_await WaitWith(alive);
}

Task<int> Throw(bool waits) {
  if (waits) co_await OnWorker(Executor::kSlow);
  throw std::runtime_error("thrown");
}

TEST_F(TaskTest, OneWithoutAnythingToDoHasEnded) {
  Run(Task<>());
  ExpectEnded();
}

TEST_F(TaskTest, OneThatWaitsForNothingEndsAtOnce) {
  int sum = 0;
  Run(Put(Sum(3), &sum));
  EXPECT_EQ(sum, 21);
  ExpectEnded();
}

TEST_F(TaskTest, ATaskThatHasEndedMayBeAwaited) {
  bool ended = false;
  const auto wait = [](bool* to) -> Task<> {
    co_await Task<>();
    *to = true;
  };
  Run(wait(&ended));
  EXPECT_TRUE(ended);
}

TEST_F(TaskTest, NothingBeginsBeforeItIsRun) {
  int alive = 0;
  {
    const Task<> task = WaitWith(&alive);
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(TaskTest, ALongLoopDoesNotGrowTheStack) {
  int sum = 0;
  Run(Put(Sum(1'000'000), &sum));
  EXPECT_EQ(sum, 7'000'000);
}

TEST_F(TaskTest, ADeepChainDoesNotGrowTheStack) {
  constexpr int kDepth = 200'000;
  int depth = 0;
  Run(Put(Deep(kDepth), &depth));
  ASSERT_NE(run_.wait(), nullptr);
  run_.GoOn();
  EXPECT_EQ(depth, kDepth);
  ExpectEnded();
}

TEST_F(TaskTest, ItGoesOnOnAnotherThread) {
  std::vector<std::thread::id> threads;
  const auto hop = [](std::vector<std::thread::id>* to) -> Task<> {
    to->push_back(std::this_thread::get_id());
    if (co_await OnWorker(Executor::kEngine)) to->push_back(std::this_thread::get_id());
    co_await Turn(Executor::kSlow);
    to->push_back(std::this_thread::get_id());
  };
  Run(hop(&threads));
  ASSERT_NE(run_.wait(), nullptr);
  EXPECT_EQ(run_.wait()->what, Wait::For::kWorker);
  EXPECT_EQ(run_.wait()->executor, Executor::kEngine);
  std::thread([this] { run_.GoOn(); }).join();
  ASSERT_NE(run_.wait(), nullptr);
  EXPECT_EQ(run_.wait()->what, Wait::For::kTurn);
  run_.GoOn();
  ExpectEnded();
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_NE(threads[0], threads[1]);
  EXPECT_EQ(threads[0], threads[2]);
}

TEST_F(TaskTest, AWorkerThatIsRefusedIsSaid) {
  bool got = true;
  const auto ask = [](bool* to) -> Task<> { *to = co_await OnWorker(Executor::kEngine); };
  Run(ask(&got));
  run_.wait()->refused = true;
  run_.GoOn();
  EXPECT_FALSE(got);
}

TEST_F(TaskTest, ACancelledOneDestroysAllThatItMade) {
  int alive = 0;
  Run(WaitWithin(&alive));
  EXPECT_EQ(alive, 2);
  run_.Cancel();
  EXPECT_EQ(alive, 0);
  ExpectEnded();
  run_.Cancel();  // again: nothing
  {
    TaskRun other(&waiting_);
    other.Begin(WaitWithin(&alive));
    other.GoOn();
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(TaskTest, WhatItThrowsComesOut) {
  int value = 0;
  EXPECT_THROW(Run(Put(Throw(false), &value)), std::runtime_error);
  ExpectEnded();
  Run(Put(Throw(true), &value));
  EXPECT_THROW(run_.GoOn(), std::runtime_error);
  ExpectEnded();
}

TEST_F(TaskTest, WhatATaskThrowsCanBeCaughtWhereItIsAwaited) {
  std::string caught;
  const auto guard = [](std::string* to) -> Task<> {
    try {
      co_await Throw(true);
    } catch (const std::runtime_error& error) {
      *to = error.what();
    }
    co_await OnWorker(Executor::kEngine);
    *to += " and on";
  };
  Run(guard(&caught));
  run_.GoOn();
  EXPECT_EQ(caught, "thrown");
  run_.GoOn();
  EXPECT_EQ(caught, "thrown and on");
}

Task<> Await(std::function<void(Give<std::string>)> start, std::string* to) {
  *to = co_await Given<std::string>([&start](const Give<std::string>& give) { start(give); });
}

TEST_F(TaskTest, AValueIsGivenOnce) {
  std::string value;
  std::function<void(std::string)> give;
  Run(Await([&give](Give<std::string> by) { give = std::move(by); }, &value));
  ASSERT_NE(run_.wait(), nullptr);
  EXPECT_EQ(run_.wait()->what, Wait::For::kGiven);
  give("told");
  give("again");
  give = nullptr;
  EXPECT_EQ(waiting_.calls, 1);
  GoOn();
  EXPECT_EQ(value, "told");
  ExpectEnded();
}

TEST_F(TaskTest, AValueMayComeBeforeTheTaskWaits) {
  std::string value;
  Run(Await([](const Give<std::string>& give) { give("at once"); }, &value));
  EXPECT_EQ(waiting_.calls, 1);
  GoOn();
  EXPECT_EQ(value, "at once");
}

TEST_F(TaskTest, AValueThatNobodyGivesIsAFailure) {
  std::string value;
  Run(Await([](const Give<std::string>&) {}, &value));
  EXPECT_EQ(waiting_.calls, 1);  // all copies are gone
  EXPECT_THROW(GoOn(), std::runtime_error);
}

TEST_F(TaskTest, WhatThrowsBeforeItWaitsIsCaughtThere) {
  std::string value;
  EXPECT_THROW(
      Run(Await([](const Give<std::string>&) { throw std::runtime_error("not asked"); }, &value)),
      std::runtime_error);
  ExpectEnded();
}

TEST_F(TaskTest, AValueMayOutliveTheTask) {
  std::string value;
  std::function<void(std::string)> give;
  Run(Await([&give](Give<std::string> by) { give = std::move(by); }, &value));
  run_.Cancel();
  give("too late");
  EXPECT_EQ(value, "");
}

TEST_F(TaskTest, ResumedSaysWhatCame) {
  int64_t waited_us = 0;
  const auto wait = [](int64_t* to) -> Task<> { *to = (co_await Resumed(5)).waited_us; };
  Run(wait(&waited_us));
  EXPECT_EQ(run_.wait()->limit_us, 5);
  run_.wait()->came.waited_us = 9;
  run_.GoOn();
  EXPECT_EQ(waited_us, 9);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
