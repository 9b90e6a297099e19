// Presence: who is inside is counted; nobody enters what was closed.

#include "base/presence.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

TEST(PresenceTest, NobodyEntersOnceItIsClosed) {
  Presence presence;
  EXPECT_TRUE(presence.TryEnter());
  presence.Close();
  EXPECT_FALSE(presence.TryEnter());
  EXPECT_TRUE(presence.WaitUntilEmpty(Steady::now()));
}

TEST(PresenceTest, IsEmptyOnlyWhenTheLastHasLeft) {
  Presence presence;
  std::optional<Presence::Inside> first(presence.TryEnter());
  std::optional<Presence::Inside> second(presence.TryEnter());
  presence.Close();
  EXPECT_FALSE(presence.WaitUntilEmpty(Steady::now() + 1ms));
  first.reset();
  EXPECT_FALSE(presence.WaitUntilEmpty(Steady::now() + 1ms));
  second.reset();
  EXPECT_TRUE(presence.WaitUntilEmpty(Steady::now()));
}

TEST(PresenceTest, AStayThatWasMovedEndsOnce) {
  Presence presence;
  {
    Presence::Inside inside = presence.TryEnter();
    const Presence::Inside moved = std::move(inside);
    presence.Close();
    EXPECT_TRUE(moved);
    EXPECT_FALSE(presence.WaitUntilEmpty(Steady::now() + 1ms));
  }
  EXPECT_TRUE(presence.WaitUntilEmpty(Steady::now()));
}

TEST(PresenceTest, WhoeverWaitsIsWokenByTheLastToLeave) {
  Presence presence;
  std::optional<Presence::Inside> inside(presence.TryEnter());
  presence.Close();
  std::thread leaver([&] {
    std::this_thread::sleep_for(20ms);
    inside.reset();
  });
  const Steady::time_point begin = Steady::now();
  EXPECT_TRUE(presence.WaitUntilEmpty(begin + 60s));
  EXPECT_LT(Steady::now() - begin, 50s);
  leaver.join();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
