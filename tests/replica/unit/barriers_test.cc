// Ticks that requests share.

#include "replica/barriers.h"

#include <gtest/gtest.h>

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

class BarriersTest : public ::testing::Test {
 protected:
  using Ended = std::function<void(Result<Appended>)>;
  void Await(uint32_t partition, Time deadline = Time::max()) {
    barriers_.Await(partition, deadline,
                    [this](const Status& status) { status.ok() ? ++passed_ : ++failed_; });
  }
  /// The oldest tick under way ends.
  void End(Result<Appended> result) {
    const Ended ended = std::move(ticks_.front().second);
    ticks_.erase(ticks_.begin());
    ended(std::move(result));
  }
  static Appended Tick(bool applied) { return {.offset = 1, .applied = applied}; }

  std::vector<std::pair<uint32_t, Ended>> ticks_;
  Barriers barriers_{[this](uint32_t partition, Ended ended) {
    ticks_.emplace_back(partition, std::move(ended));
  }};
  int passed_ = 0, failed_ = 0;
};

// One that comes while a tick is under way can't rely on it: it was appended before.
TEST_F(BarriersTest, WhoComesLaterWaitsForTheNextTick) {
  Await(2);
  Await(2);
  Await(2);
  ASSERT_EQ(ticks_.size(), 1U);
  End(Tick(true));
  EXPECT_EQ(passed_, 1);
  ASSERT_EQ(ticks_.size(), 1U);
  End(Tick(true));
  EXPECT_EQ(passed_, 3);
  EXPECT_TRUE(ticks_.empty());
  Await(2);
  EXPECT_EQ(ticks_.size(), 1U);
}

TEST_F(BarriersTest, PartitionsDoNotWaitForEachOther) {
  Await(1);
  Await(2);
  ASSERT_EQ(ticks_.size(), 2U);
  EXPECT_EQ(ticks_[1].first, 2U);
}

TEST_F(BarriersTest, ATickThatIsNotAppliedIsNoBarrier) {
  Await(1);
  End(Tick(false));
  Await(1);
  End(Status::Unavailable("away"));
  EXPECT_EQ(failed_, 2);
  EXPECT_EQ(passed_, 0);
}

TEST_F(BarriersTest, ADeadlineEndsTheWaiting) {
  const Time now = std::chrono::steady_clock::now();
  Await(1, now);
  barriers_.Expire(now);
  EXPECT_EQ(failed_, 1);
  End(Tick(true));
  EXPECT_EQ(passed_, 0);
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
