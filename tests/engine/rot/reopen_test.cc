// An undamaged database is never taken for a damaged one: opened again and again, closed or as a
// killed process leaves it, with rotations, drains, seals, drops and compactions in between.

#include <filesystem>
#include <random>

#include "support/engine_fixture.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

class ReopenTest : public EngineTest {
 protected:
  void Step() {
    switch (random_() % 7) {
      case 0:
        Drain();
        break;
      case 1:
        ASSERT_TRUE(engine_->SealClosed().ok());
        break;
      case 2:
        ASSERT_TRUE(engine_->Compact().ok());
        break;
      case 3:
        RunDue();
        break;
      case 4:
        ASSERT_TRUE(engine_->Sync().ok());
        break;
      case 5:
        ASSERT_TRUE(engine_->EraseUser(IdRef("u3")).ok());
        break;
      default:
        clock_.Advance(static_cast<int64_t>(random_() % 20) * kDayMs);
        RunDue();
    }
  }
  // The folder as a process killed now would leave it.
  void LeaveAsKilled() {
    const std::string copy = dir_ + "/copy";
    fs::copy(Path(), copy, fs::copy_options::recursive);
    engine_.reset();
    fs::remove_all(Path());
    fs::rename(copy, Path());
  }

  std::mt19937_64 random_{test::Seed(7)};
};

TEST_F(ReopenTest, NothingUndamagedIsRefused) {
  options_.ring_slots = 4;
  options_.write_buffer_bytes = 1 << 20;
  Open();
  for (int opening = 0; opening < 20; ++opening) {
    SCOPED_TRACE(opening);
    for (int step = 0; step < 8; ++step) {
      const std::string item = std::to_string(opening) + "-" + std::to_string(step);
      for (int user = 0; user < 6; ++user) Play("u" + std::to_string(user), {item}, clock_.NowMs());
      ASSERT_NO_FATAL_FAILURE(Step());
    }
    Play("u1", {"last"}, clock_.NowMs());
    if (random_() % 2 == 0) {
      ASSERT_TRUE(engine_->Sync().ok());
    }
    if (random_() % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(LeaveAsKilled());
    } else if (random_() % 2 == 0) {
      ASSERT_TRUE(engine_->Close().ok());
    }
    ASSERT_NO_FATAL_FAILURE(Reopen());
    EXPECT_EQ(Unseen("u1", {"last", "never"}), Items{"never"});
    EXPECT_FALSE(answer_.degraded);
    EXPECT_EQ(engine_->Stats().problems, Items{});
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
