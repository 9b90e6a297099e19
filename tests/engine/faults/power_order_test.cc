// A power cut at each moment of an opening at which names are made durable, the cut's dice thrown
// several times: the database opens afterwards and has what it had.

#include <string>

#include <gtest/gtest.h>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/options.h"
#include "support/sample.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kMostSyncs = 200;
constexpr uint64_t kCuts = 8;

class PowerOrderTest : public ::testing::Test {
 protected:
  PowerOrderTest() : clock_(kStartMs) {
    options_.background = false;
    options_.shards = 1;
    options_.block_cache_bytes = 1 << 20;
  }

  Status Open(MemDisk* disk) {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk->env();
    auto opened = Engine::Open("/srv/data/db", options_, seams);
    if (opened.ok()) engine_ = std::move(opened).value();
    return opened.status();
  }

  // Opening crashes at its `step`-th sync of a folder; false where it has fewer.
  bool CrashOpening(MemDisk* disk, int step) {
    disk->CrashAt(MemDisk::kSyncFolder, "", step);
    const Status opened = Open(disk);
    const bool crashed = disk->crashed();
    EXPECT_TRUE(opened.ok() || crashed) << opened.ToString();
    if (!crashed) disk->Crash();
    engine_.reset();
    return crashed;
  }

  // `at(step, &crashed)` for each sync of a folder that an opening does, and once beyond the last.
  template <typename At>
  static void AtEachSyncOfAFolder(const At& at) {
    int step = 0;
    bool crashed = true;
    for (; step < kMostSyncs && crashed; ++step) {
      SCOPED_TRACE("sync of a folder " + std::to_string(step));
      ASSERT_NO_FATAL_FAILURE(at(step, &crashed));
    }
    EXPECT_GT(step, 4);
    EXPECT_LT(step, kMostSyncs);
  }
  // Whatever the dice take of what was not synced.
  void ExpectOpensAfterCuts(MemDisk* dead, size_t collections) {
    for (uint64_t seed = 0; seed < test::SampledOf(kCuts); ++seed) {
      const std::unique_ptr<MemDisk> cut = dead->Clone();
      cut->PowerCut(seed);
      const Status opened = Open(cut.get());
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      EXPECT_EQ(engine_->Collections().size(), collections);
      engine_.reset();
    }
  }

  ManualClock clock_;
  Options options_ = test::FixedOptions();
  std::unique_ptr<Engine> engine_;
};

TEST_F(PowerOrderTest, AnOpeningThatIsCutLeavesADatabaseThatOpens) {
  MemDisk base;
  ASSERT_TRUE(Open(&base).ok());
  ASSERT_TRUE(engine_->PutCollection("kept", {}).ok());
  engine_.reset();
  AtEachSyncOfAFolder([&](int step, bool* crashed) {
    const std::unique_ptr<MemDisk> disk = base.Clone();
    *crashed = CrashOpening(disk.get(), step);
    ExpectOpensAfterCuts(disk.get(), 2);
  });
}

TEST_F(PowerOrderTest, AFirstOpeningThatIsCutLeavesNothingThatKeepsTheNextFromOpening) {
  AtEachSyncOfAFolder([&](int step, bool* crashed) {
    MemDisk disk;
    *crashed = CrashOpening(&disk, step);
    ExpectOpensAfterCuts(&disk, 1);
  });
}

// The first opening is killed, not cut: what it had not synced yet, folders above the database
// among it, is the next opening's to sync.
TEST_F(PowerOrderTest, AFirstOpeningThatWasKilledLosesNothingOfTheSecond) {
  AtEachSyncOfAFolder([&](int step, bool* crashed) {
    MemDisk disk;
    *crashed = CrashOpening(&disk, step);
    disk.Revive();
    disk.Clear();
    ASSERT_TRUE(Open(&disk).ok());
    ASSERT_TRUE(engine_->PutCollection("kept", {}).ok());
    disk.Crash();
    engine_.reset();
    ExpectOpensAfterCuts(&disk, 2);
  });
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
