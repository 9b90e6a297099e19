// An erasure of a user who is not known looks into tables. While it waits for the disk there,
// nobody waits for it.

#include <chrono>
#include <future>
#include <thread>

#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

class EraseColdTest : public EngineTest {
 protected:
  EraseColdTest() {
    env_ = disk_.env();
    options_.shards = 1;
    options_.block_cache_bytes = 4 << 10;  // less than a block
  }
  ~EraseColdTest() override { engine_.reset(); }

  // Plays in tables, none of whose blocks stays in memory. Tables of history have no Bloom filter
  // that answers for a user who is not known.
  void OpenCold() {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    Put("default", patch);
    for (int user = 0; user < 50; ++user) Play("u" + std::to_string(user), {"v1", "v2"});
    Drain();
    ASSERT_TRUE(engine_->Compact().ok());
    Reopen();
  }
  std::future<Erasure> EraseApart(const std::string& user) {
    return std::async(std::launch::async, [this, user] {
      Erasure erasure;
      EXPECT_TRUE(engine_->EraseUser(IdRef(user), {}, &erasure).ok());
      return erasure;
    });
  }

  MemDisk disk_;
};

TEST_F(EraseColdTest, WritersDoNotWaitForItsReads) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenCold();
  Hold looked("erase: looked");
  std::future<Erasure> erased = EraseApart("u2z");
  ASSERT_TRUE(looked.WaitReached());
  disk_.Hold(MemDisk::kRead, ".sst");
  looked.Release();
  for (int waited = 0; waited < 10'000 && disk_.held() == 0; ++waited) {
    std::this_thread::sleep_for(1ms);  // until it looks once more
  }
  EXPECT_GT(disk_.held(), 0);
  const auto played = std::async(std::launch::async, [this] { Play("other", {"v1"}); });
  EXPECT_EQ(played.wait_for(10s), std::future_status::ready);
  disk_.Clear();
  disk_.Release();
  EXPECT_FALSE(erased.get().written);
}

TEST_F(EraseColdTest, WhatComesAfterItsLookIsErased) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenCold();
  Hold looked("erase: looked");
  std::future<Erasure> erased = EraseApart("u3z");
  ASSERT_TRUE(looked.WaitReached());
  Play("u3z", {"v1"});
  Drain();
  looked.Release();
  EXPECT_TRUE(erased.get().known);
  EXPECT_EQ(Unseen("u3z", {"v1"}), Items{"v1"});
}

TEST_F(EraseColdTest, WhatIsOnDiskAloneIsErased) {
  OpenCold();
  EXPECT_TRUE(EraseApart("u7").get().written);
  EXPECT_EQ(Unseen("u7", {"v1", "v2"}), (Items{"v1", "v2"}));
  EXPECT_EQ(Unseen("u8", {"v1", "v2"}), Items{});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
