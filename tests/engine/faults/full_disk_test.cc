// A disk that is full, or fails, ends no process.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/options.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

class FullDiskTest : public EngineTest {
 protected:
  FullDiskTest() {
    env_ = disk_.env();
    options_.shards = 1;
  }
  void TearDown() override { engine_.reset(); }

  MemDisk disk_;
};

// A new database says what it needs, and leaves nothing behind.
TEST_F(FullDiskTest, ANewDatabaseIsRefusedBeforeItIsMade) {
  options_.shards = 4;
  disk_.SetCapacity(20 << 20);
  const Status refused = TryOpen();
  EXPECT_EQ(refused.code(), StatusCode::kIOError);
  EXPECT_NE(refused.message().find("needs 36 MB, 20 MB are free"), std::string::npos)
      << refused.ToString();
  EXPECT_EQ(disk_.Files("SEENDB"), Items());
  EXPECT_EQ(disk_.Files("shard-"), Items());
  disk_.SetCapacity(MemDisk::kUnlimited);
  Open();
  engine_.reset();
  disk_.SetCapacity(disk_.used() + (1 << 20));  // one that is there needs no such room
  Open();
}

// Threads that play and sync while the log's disk fails. Ends the process.
void PlayAndSyncOnAFailingDisk(int round) {
  MemDisk disk;
  Options options = test::FixedOptions();
  options.background = false;
  options.shards = 1;
  Seams seams;
  seams.env = disk.env();
  auto engine = Engine::Open("/data/db", options, seams);
  if (!engine.ok()) _exit(1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const std::string user = "u" + std::to_string(t);
      for (int n = 0; !stop; ++n) {
        if (t % 2 == 0) {
          static_cast<void>((*engine)->Sync().ok());
          continue;
        }
        const std::string item = std::to_string(n);
        const Play play{IdRef(user), IdRef(item)};
        static_cast<void>((*engine)->RecordPlays({&play, 1}).ok());
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(10 + round % 7));
  disk.Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::NoSpace("full"));
  std::this_thread::sleep_for(5ms);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  _exit(0);
}

TEST_F(FullDiskTest, ASyncBesideAFailingAppendEndsNoProcess) {
  for (int round = 0; round < 60; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) PlayAndSyncOnAFailingDisk(round);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
  }
}

// A sync that failed is never followed by one that pretends to have worked: the shard takes no
// writes until it was opened anew.
TEST_F(FullDiskTest, AFailedSyncStopsTheShard) {
  Open();
  Play("u", {"before"});
  disk_.Fail(MemDisk::kSync, ".log", rocksdb::IOStatus::IOError("EIO"), 0, 1);
  EXPECT_EQ(engine_->Sync().code(), StatusCode::kIOError);
  EXPECT_EQ(engine_->Sync().code(), StatusCode::kIOError);
  const seendb::Play play{IdRef("u"), IdRef("refused")};
  EXPECT_EQ(engine_->RecordPlays({&play, 1}).status().code(), StatusCode::kIOError);
  RunDue();
  Play("u", {"after"});
  EXPECT_TRUE(engine_->Sync().ok());
  disk_.Crash();
  engine_.reset();
  disk_.PowerCut(1);
  disk_.Revive();
  Open();
  EXPECT_EQ(Unseen("u", {"before", "after", "never"}), Items{"never"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
