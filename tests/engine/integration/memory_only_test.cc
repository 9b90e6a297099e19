// Filter requests that ask memory alone: they are answered as ever where all blocks are cached, and
// never wrongly where some are not.

#include <chrono>
#include <thread>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class MemoryOnlyTest : public EngineTest {
 protected:
  MemoryOnlyTest() { options_.shards = 1; }

  // Plays and served items in tables, none of whose blocks is cached.
  void OpenCold() {
    Open();
    for (int user = 0; user < 50; ++user) {
      Play("u" + std::to_string(user), {"v1", "v2"});
      Serve("u" + std::to_string(user), {"s1"});
    }
    Drain();
    ASSERT_TRUE(engine_->Compact().ok());
    Reopen();
  }
  Status Ask(bool memory_only, bool verify = false) {
    static const IdRef kItems[] = {IdRef("v1"), IdRef("new"), IdRef("s1")};
    FilterRequest request;
    request.user = IdRef("u7");
    request.items = kItems;
    request.memory_only = memory_only;
    request.verify = verify;
    return engine_->Filter(request, &response_);
  }
  void Serve(const std::string& user, const Items& items) {
    std::vector<Impression> served;
    for (const std::string& item : items) served.push_back({IdRef(user), IdRef(item)});
    ASSERT_TRUE(engine_->RecordImpressions(served).ok());
  }

  FilterResponse response_;
};

TEST_F(MemoryOnlyTest, WhatIsNotCachedIsLeftToAThreadThatMayWait) {
  OpenCold();
  EXPECT_EQ(Ask(true).code(), StatusCode::kIncomplete);
  EXPECT_TRUE(response_.needs_disk);
  EXPECT_TRUE(response_.unseen.empty());
  EXPECT_FALSE(response_.degraded);
  EXPECT_EQ(engine_->Stats().filters, 0u);
  EXPECT_EQ(engine_->Stats().filters_deferred, 1u);
  EXPECT_TRUE(Ask(false).ok());
  EXPECT_EQ(response_.unseen, std::vector<uint32_t>{1});
  // Now the blocks are cached.
  EXPECT_TRUE(Ask(true).ok());
  EXPECT_FALSE(response_.needs_disk);
  EXPECT_EQ(response_.unseen, std::vector<uint32_t>{1});
  EXPECT_FALSE(response_.degraded);
  EXPECT_EQ(engine_->Stats().filters, 2u);
}

TEST_F(MemoryOnlyTest, WhatIsInMemoryIsAnsweredAtOnce) {
  Open();
  Play("u7", {"v1"});
  Serve("u7", {"s1"});
  EXPECT_TRUE(Ask(true).ok()) << "staged, and in a memtable";
  EXPECT_EQ(response_.unseen, std::vector<uint32_t>{1});
  Drain();
  EXPECT_TRUE(Ask(true).ok()) << "merged in a memtable";
  EXPECT_EQ(response_.unseen, std::vector<uint32_t>{1});
}

// A loaded server asks the short-term memory alone: it says so, and what was played lately stays
// seen.
TEST_F(MemoryOnlyTest, TheShortTermMemoryAloneAnswersWithoutADisk) {
  OpenCold();
  Play("u7", {"new"});
  static const IdRef kItems[] = {IdRef("v1"), IdRef("new"), IdRef("s1")};
  for (const bool drained : {false, true}) {
    for (const bool memory_only : {true, false}) {
      FilterRequest request;
      request.user = IdRef("u7");
      request.items = kItems;
      request.memory_only = memory_only;
      request.short_term_alone = true;
      ASSERT_TRUE(engine_->Filter(request, &response_).ok()) << drained << memory_only;
      EXPECT_EQ(response_.unseen, (std::vector<uint32_t>{0, 2}));
      EXPECT_TRUE(response_.degraded);
      EXPECT_EQ(response_.missing, std::vector<std::string>{"load"});
    }
    Drain();
  }
  EXPECT_EQ(engine_->Stats().reads, 0u);
}

// A part in memory is not taken for the whole: the operands of a memtable lie over a value on disk.
TEST_F(MemoryOnlyTest, APartInMemoryIsNotTheWhole) {
  OpenCold();
  Play("u7", {"v9"});
  Drain();
  EXPECT_EQ(Ask(true).code(), StatusCode::kIncomplete);
  EXPECT_TRUE(Ask(false).ok());
  EXPECT_EQ(response_.unseen, std::vector<uint32_t>{1});
}

TEST_F(MemoryOnlyTest, VerifiedAnswersReadHistory) {
  Open();
  EXPECT_EQ(Ask(true, true).code(), StatusCode::kIncomplete);
  EXPECT_TRUE(response_.needs_disk);
  EXPECT_TRUE(Ask(false, true).ok());
}

// However few bytes the cache has, no answer calls a seen item unseen.
TEST_F(MemoryOnlyTest, ASmallCacheMakesNothingUnseen) {
  options_.block_cache_bytes = 4 << 10;  // less than a block
  OpenCold();
  int incomplete = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string user = "u" + std::to_string(i % 50);
    const IdRef items[] = {IdRef("v1"), IdRef("v2"), IdRef("s1"), IdRef("new")};
    FilterRequest request;
    request.user = IdRef(user);
    request.items = items;
    request.memory_only = i % 3 != 0;
    const Status asked = engine_->Filter(request, &response_);
    incomplete += asked.code() == StatusCode::kIncomplete ? 1 : 0;
    if (!asked.ok()) continue;
    EXPECT_EQ(response_.unseen, std::vector<uint32_t>{3}) << i;
    EXPECT_FALSE(response_.degraded);
  }
  EXPECT_GT(incomplete, 0);
}

TEST_F(MemoryOnlyTest, ADiskThatAnswersNoReadIsNotWaitedFor) {
  MemDisk disk;
  env_ = disk.env();
  OpenCold();
  disk.Hold(MemDisk::kRead, ".sst");
  std::thread waiting([this] {
    FilterResponse response;
    const IdRef items[] = {IdRef("v1")};
    FilterRequest request;
    request.user = IdRef("u8");
    request.items = items;
    EXPECT_TRUE(engine_->Filter(request, &response).ok());
    EXPECT_TRUE(response.unseen.empty());
  });
  while (disk.held() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(Ask(true).code(), StatusCode::kIncomplete);
  EXPECT_GT(disk.held(), 0);
  disk.Clear();
  disk.Release();
  waiting.join();
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
