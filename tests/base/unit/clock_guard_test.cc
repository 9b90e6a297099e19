#include "base/clock_guard.h"

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kStartMs = 1'773'144'000'000;

struct Machine final : MachineClock {
  int64_t now_ms = kStartMs, boot_ms = 1'000;
  int64_t NowMs() const override { return now_ms; }
  int64_t BootMs() const override { return boot_ms; }
  void Pass(int64_t ms) {
    now_ms += ms;
    boot_ms += ms;
  }
};

class ClockGuardTest : public ::testing::Test {
 protected:
  void Begin(std::optional<int64_t> noted_ms = {}, bool confirmed = false) {
    guard_.Begin(noted_ms, confirmed);
  }
  bool InDoubt() const { return guard_.Look().in_doubt; }

  Machine machine_;
  ClockGuard guard_{nullptr, &machine_, 3 * kDayMs};
};

TEST_F(ClockGuardTest, AnHourIsBelieved) {
  Begin();
  EXPECT_FALSE(InDoubt());
  machine_.Pass(400 * kDayMs);
  EXPECT_FALSE(InDoubt());
  machine_.now_ms += kHourMs;
  EXPECT_FALSE(InDoubt());
  machine_.now_ms += 1;
  EXPECT_TRUE(InDoubt());
  machine_.Pass(400 * kDayMs);
  EXPECT_TRUE(InDoubt());
  machine_.now_ms -= 1;
  EXPECT_FALSE(InDoubt());
}

TEST_F(ClockGuardTest, SmallStepsAddUp) {
  Begin();
  for (int i = 0; i < 3; ++i) {
    machine_.now_ms += kHourMs / 2;
    EXPECT_EQ(InDoubt(), i == 2);
    static_cast<void>(guard_.TimeToNote(false));
  }
}

TEST_F(ClockGuardTest, SetBackAndRightAgainItIsBelieved) {
  Begin();
  machine_.now_ms -= kDayMs;
  EXPECT_FALSE(InDoubt());
  machine_.now_ms += kDayMs;
  EXPECT_FALSE(InDoubt());
}

TEST_F(ClockGuardTest, AnOpeningFarBehindTheTimeNoted) {
  Begin(kStartMs - 3 * kDayMs);
  EXPECT_FALSE(InDoubt());
  const auto doubted = [this](int64_t noted_ms, bool confirmed = false) {
    ClockGuard guard(nullptr, &machine_, 3 * kDayMs);
    guard.Begin(noted_ms, confirmed);
    return guard.Look().in_doubt;
  };
  EXPECT_TRUE(doubted(kStartMs - 3 * kDayMs - 1));
  EXPECT_FALSE(doubted(kStartMs - 3 * kDayMs - 1, true));
  EXPECT_FALSE(doubted(kStartMs + 400 * kDayMs));
  ClockGuard guard(nullptr, &machine_, 3 * kDayMs);
  guard.Begin(INT64_MIN + 1, false);
  EXPECT_TRUE(guard.Look().in_doubt);
  EXPECT_EQ(guard.Look().ms, kStartMs);
  EXPECT_EQ(ClockGuard::Check(guard.Look()).code(), StatusCode::kUnavailable);
  EXPECT_EQ(guard.Confirm(), kStartMs);
  EXPECT_FALSE(guard.Look().in_doubt);
}

TEST_F(ClockGuardTest, OpenedInPartsItIsBelievedOnceAPartSpeaksForIt) {
  guard_.BeginInParts();
  EXPECT_TRUE(InDoubt());
  EXPECT_FALSE(guard_.TimeToNote(true));
  Begin(kStartMs - 5 * kDayMs);
  EXPECT_TRUE(InDoubt());
  Begin(kStartMs - 1 * kDayMs);
  EXPECT_FALSE(InDoubt());
  Begin(kStartMs - 400 * kDayMs);
  EXPECT_FALSE(InDoubt()) << "the newest counts";
  Begin();
  EXPECT_FALSE(InDoubt());
}

TEST_F(ClockGuardTest, OpenedInPartsNoneOfWhichNotedATimeItIsBelievedAtTheEnd) {
  guard_.BeginInParts();
  EXPECT_TRUE(InDoubt());
  Begin();
  EXPECT_FALSE(InDoubt());
}

TEST_F(ClockGuardTest, OpenedInPartsTheDoubtOfAllStays) {
  guard_.BeginInParts();
  Begin(kStartMs - 5 * kDayMs);
  Begin(kStartMs - 4 * kDayMs);
  Begin();
  EXPECT_TRUE(InDoubt());
  machine_.now_ms -= kDayMs;
  EXPECT_FALSE(InDoubt()) << "three days after the newest time";
}

TEST_F(ClockGuardTest, OpenedInPartsTheNewestTimeCountsInAnyOrder) {
  guard_.BeginInParts();
  Begin(kStartMs - 4 * kDayMs);
  Begin(kStartMs - 50 * kDayMs);
  Begin();
  EXPECT_TRUE(InDoubt());
  machine_.now_ms -= kDayMs;
  EXPECT_FALSE(InDoubt()) << "three days after the newest time";
}

TEST_F(ClockGuardTest, AClockThatComesBackMayNotGoAheadAgain) {
  Begin(kStartMs - 10 * kDayMs);
  EXPECT_TRUE(InDoubt());
  EXPECT_FALSE(guard_.TimeToNote(true));
  machine_.now_ms -= 10 * kDayMs;
  EXPECT_FALSE(InDoubt());
  EXPECT_EQ(guard_.TimeToNote(false), kStartMs - 10 * kDayMs);
  machine_.now_ms += kHourMs;
  EXPECT_FALSE(InDoubt());
  machine_.now_ms += 1;
  EXPECT_TRUE(InDoubt());
}

TEST_F(ClockGuardTest, NotesOnceAMinute) {
  EXPECT_FALSE(guard_.TimeToNote(true)) << "nobody knows yet what was noted";
  Begin();
  EXPECT_EQ(guard_.TimeToNote(false), kStartMs);
  machine_.Pass(59'999);
  EXPECT_FALSE(guard_.TimeToNote(false));
  EXPECT_EQ(guard_.TimeToNote(true), kStartMs + 59'999);
  machine_.Pass(60'000);
  EXPECT_EQ(guard_.TimeToNote(false), kStartMs + 119'999);
}

TEST_F(ClockGuardTest, AnOwnersClockIsNeverInDoubt) {
  Machine mine;
  ClockGuard guard(&mine, &machine_, 3 * kDayMs);
  guard.Begin(0, false);
  EXPECT_FALSE(guard.Look().in_doubt);
  mine.now_ms += 400 * kDayMs;
  EXPECT_FALSE(guard.Look().in_doubt);
  EXPECT_FALSE(guard.TimeToNote(true));
  EXPECT_EQ(guard.Confirm(), mine.now_ms);
}

TEST(RealClock, Goes) {
  const int64_t boot_ms = SystemClock()->BootMs();
  EXPECT_GT(boot_ms, 0);
  EXPECT_LE(boot_ms, SystemClock()->BootMs());
  EXPECT_GT(SystemClock()->NowMs(), kStartMs);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
