// Presence under many threads.

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/presence.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

// What the slots of the ring rely on: once it is closed and empty, nobody writes any more.
TEST(PresenceConcurrencyTest, NothingIsWrittenBehindTheEnd) {
  for (int round = 0; round < 200; ++round) {
    auto presence = std::make_unique<Presence>();
    uint64_t written[4] = {};  // each by one thread, read once nobody is inside
    std::vector<std::thread> threads;
    for (uint64_t& mine : written) {
      threads.emplace_back([&presence, &mine] {
        while (const Presence::Inside inside = presence->TryEnter()) ++mine;
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(round));
    presence->Close();
    EXPECT_TRUE(presence->WaitUntilEmpty(Steady::now() + 60s));
    uint64_t seen = 0, at_last = 0;
    for (const uint64_t one : written) seen += one;
    for (std::thread& thread : threads) thread.join();
    for (const uint64_t one : written) at_last += one;
    EXPECT_EQ(seen, at_last);
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
