// A worker rests until it is woken, and ends in the middle of any rest.

#include "threads/worker.h"

#include <atomic>
#include <chrono>
#include <future>
#include <string>

#include <gtest/gtest.h>
#include <pthread.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(WorkerTest, AWakeThatComesWhileItWorksEndsTheNextWait) {
  Worker worker;
  std::promise<void> works, woken, waited;
  worker.Start("test", [&] {
    works.set_value();
    woken.get_future().wait();
    if (worker.Wait()) waited.set_value();
  });
  works.get_future().wait();
  worker.Wake();
  woken.set_value();
  waited.get_future().wait();
}

TEST(WorkerTest, AWakeEndsOneWaitAlone) {
  Worker worker;
  worker.Wake();
  EXPECT_TRUE(worker.Wait());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(worker.WaitFor(milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(20));
}

TEST(WorkerTest, AWakeDoesNotEndAPause) {
  Worker worker;
  worker.Wake();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(worker.Pause(milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(20));
  EXPECT_TRUE(worker.Wait());  // it ends the wait after it
}

TEST(WorkerTest, ARestOfNoTimeTellsWhetherItIsToEnd) {
  Worker worker;
  EXPECT_TRUE(worker.Pause(milliseconds(0)));
  EXPECT_TRUE(worker.Pause(milliseconds(-1)));
  worker.AskToStop();
  EXPECT_FALSE(worker.Pause(milliseconds(0)));
}

TEST(WorkerTest, EveryRestEndsWhenItIsStopped) {
  for (const int rest : {0, 1, 2}) {
    Worker worker;
    std::atomic<bool> goes_on{true};
    worker.Start("test", [&] {
      goes_on = rest == 0   ? worker.Wait()
                : rest == 1 ? worker.WaitFor(hours(1))
                            : worker.Pause(hours(1));
    });
    worker.Stop();
    EXPECT_FALSE(goes_on);
    EXPECT_TRUE(worker.stopping());
  }
}

TEST(WorkerTest, AWakeDoesNotHideThatItIsToEnd) {
  Worker worker;
  worker.AskToStop();
  worker.Wake();
  EXPECT_FALSE(worker.Wait());
  EXPECT_FALSE(worker.WaitFor(hours(1)));
}

TEST(WorkerTest, StopWaitsForTheWorkAndMayComeAgain) {
  Worker worker, never_started;
  std::atomic<bool> ended{false};
  worker.Start("test", [&] {
    worker.Wait();
    ended = true;
  });
  worker.Stop();
  EXPECT_TRUE(ended);
  worker.Stop();
  never_started.Stop();
}

TEST(WorkerTest, ItsThreadHasItsName) {
  Worker worker;
  std::promise<std::string> name;
  worker.Start("fifteen-letters", [&] {
    worker.Wait();
    char text[16] = "";
    pthread_getname_np(pthread_self(), text, sizeof(text));
    name.set_value(text);
  });
  worker.Wake();
  EXPECT_EQ(name.get_future().get(), "fifteen-letters");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
