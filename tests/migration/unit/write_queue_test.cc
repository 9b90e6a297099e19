#include "migration/write_queue.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace seendb::migration::SEENDB_TEST_FILE {
namespace {

class WriteQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/write-queue-XXXXXX";
    db_ = mkdtemp(path.data());
    std::filesystem::create_directory(db_ + "/MIGRATION");
  }
  void TearDown() override { std::filesystem::remove_all(db_); }

  std::unique_ptr<WriteQueue> Open(uint64_t most = 1 << 30,
                                   WriteQueue::Partition partition = std::nullopt) {
    auto opened =
        WriteQueue::Open(db_, "video", partition, std::make_shared<WriteQueue::Space>(most));
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }
  static std::string Text(const OldWrite& one) {
    return std::to_string(static_cast<int>(one.kind)) + " " + std::string(one.user) + " " +
           std::string(one.item) + " " + std::to_string(one.at_ms);
  }
  /// All that the queue gives, in its order; what is not settled with a question mark.
  static std::vector<std::string> Drain(WriteQueue& queue, int64_t before = 1'000) {
    std::vector<std::string> all;
    for (auto front = queue.front(); front && *front < before; front = queue.front()) {
      WriteQueue::Batch batch;
      EXPECT_TRUE(queue.Peek(before, &batch).ok());
      for (const OldWrite& one : batch.writes) all.push_back(Text(one));
      for (const OldWrite& one : batch.unsettled) all.push_back("?" + Text(one));
      queue.Done();
    }
    return all;
  }
  static bool AppendOne(WriteQueue& queue, int64_t at_ms, int64_t offset = 0) {
    const OldWrite write{.at_ms = at_ms, .user = "u", .item = "v"};
    return queue.Append({&write, 1}, offset);
  }
  static bool StageOne(WriteQueue& queue, int64_t at_ms) {
    const OldWrite write{.at_ms = at_ms, .user = "u", .item = "v"};
    return queue.Stage({&write, 1});
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(db_ + "/MIGRATION")) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  std::string db_;
};

TEST_F(WriteQueueTest, GivesWhatItTookInItsOrder) {
  const auto queue = Open();
  const OldWrite writes[] = {{.at_ms = 1, .user = "a", .item = "x"},
                             {.kind = OldWrite::Kind::kDeleteKey, .user = "a"},
                             {.kind = OldWrite::Kind::kDeleteItem, .user = "a", .item = "x"}};
  EXPECT_TRUE(queue->Append(writes));
  EXPECT_TRUE(AppendOne(*queue, -5));
  EXPECT_EQ(Drain(*queue), (std::vector<std::string>{"1 a x 1", "2 a  0", "3 a x 0", "1 u v -5"}));
  EXPECT_EQ(queue->bytes(), 0u);
}

TEST_F(WriteQueueTest, ANewProcessHasWhatWasNotDone) {
  {
    const auto queue = Open();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(AppendOne(*queue, i));
  }
  {
    // Half a frame at the end: the process died amid it.
    std::ofstream file(Files().at(0), std::ios::app | std::ios::binary);
    file << std::string("\x30\0\0\0\1half", 9);
  }
  const auto queue = Open();
  EXPECT_TRUE(AppendOne(*queue, 100));
  const std::vector<std::string> all = Drain(*queue);
  ASSERT_EQ(all.size(), 101u);
  EXPECT_EQ(all.front(), "1 u v 0");
  EXPECT_EQ(all.back(), "1 u v 100");
}

TEST_F(WriteQueueTest, IsFullAtItsLimitAndNotForEver) {
  const auto queue = Open(10'000);
  int taken = 0;
  while (AppendOne(*queue, taken)) ++taken;
  EXPECT_GT(taken, 200);
  EXPECT_LE(queue->bytes(), 10'000u);
  EXPECT_EQ(Drain(*queue).size(), static_cast<size_t>(taken));
  EXPECT_TRUE(AppendOne(*queue, 0));
}

TEST_F(WriteQueueTest, TakesFurtherFilesAndDropsThem) {
  const std::string item(255, 'x');
  const std::vector<OldWrite> many(50'000, {.at_ms = 7, .user = item, .item = item});
  const auto queue = Open();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue->Append(many));
  EXPECT_GT(Files().size(), 1u);
  EXPECT_EQ(Drain(*queue).size(), 3 * many.size());
  EXPECT_EQ(Files().size(), 1u);
  EXPECT_TRUE(WriteQueue::Remove(db_, "video").ok());
  EXPECT_EQ(Files().size(), 0u);
}

TEST_F(WriteQueueTest, WhatCantBeReadIsLeftOut) {
  {
    const auto queue = Open();
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(AppendOne(*queue, i));
  }
  std::fstream file(Files().at(0), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(200);
  file << "damage";
  file.close();
  const auto queue = Open();
  const size_t left = Drain(*queue).size();
  EXPECT_GT(left, 2u);
  EXPECT_LT(left, 10u);
}

TEST_F(WriteQueueTest, WhatIsStagedIsGivenOnceItIsSettled) {
  const auto queue = Open();
  EXPECT_TRUE(AppendOne(*queue, 1));
  EXPECT_TRUE(StageOne(*queue, 2));
  EXPECT_TRUE(AppendOne(*queue, 3));
  EXPECT_EQ(Drain(*queue), std::vector<std::string>{"1 u v 1"});
  EXPECT_GT(queue->bytes(), 0u);
  queue->Settle(true);
  EXPECT_EQ(Drain(*queue), (std::vector<std::string>{"1 u v 2", "1 u v 3"}));
  EXPECT_TRUE(StageOne(*queue, 4));
  EXPECT_TRUE(AppendOne(*queue, 5));
  queue->Settle(false);
  EXPECT_EQ(Drain(*queue), std::vector<std::string>{"1 u v 5"});
  EXPECT_EQ(queue->bytes(), 0u);
}

TEST_F(WriteQueueTest, WhatIsTriedAgainAndAgainTakesNoRoom) {
  const auto queue = Open();
  EXPECT_TRUE(AppendOne(*queue, 1));
  const uint64_t bytes = queue->bytes();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(StageOne(*queue, 2));
    queue->Settle(false);
    EXPECT_EQ(queue->bytes(), bytes);
  }
  EXPECT_TRUE(AppendOne(*queue, 3));
  EXPECT_EQ(Drain(*queue), (std::vector<std::string>{"1 u v 1", "1 u v 3"}));
  EXPECT_EQ(queue->bytes(), 0u);
}

TEST_F(WriteQueueTest, ANewProcessKnowsWhatBecameOfWhatWasStaged) {
  {
    const auto queue = Open();
    EXPECT_TRUE(StageOne(*queue, 1));
    queue->Settle(true);
    EXPECT_TRUE(StageOne(*queue, 2));
    EXPECT_TRUE(AppendOne(*queue, 3));
    queue->Settle(false);
    EXPECT_TRUE(StageOne(*queue, 9));  // the process died
  }
  EXPECT_EQ(Drain(*Open()), (std::vector<std::string>{"1 u v 1", "1 u v 3", "?1 u v 9"}));
}

TEST_F(WriteQueueTest, GivesWhatIsBeforeAnOffset) {
  const auto queue = Open();
  EXPECT_EQ(queue->front(), std::nullopt);
  for (int64_t offset = 5; offset < 10; ++offset) EXPECT_TRUE(AppendOne(*queue, offset, offset));
  EXPECT_EQ(queue->front(), 5);
  EXPECT_EQ(Drain(*queue, 7), (std::vector<std::string>{"1 u v 5", "1 u v 6"}));
  EXPECT_EQ(queue->front(), 7);
  EXPECT_EQ(Drain(*queue, 7), std::vector<std::string>{});
  EXPECT_EQ(Drain(*queue).size(), 3u);
}

TEST_F(WriteQueueTest, PartitionsHaveQueuesOfTheirOwn) {
  EXPECT_TRUE(AppendOne(*Open(), 1));
  EXPECT_TRUE(AppendOne(*Open(1 << 30, 3), 3));
  EXPECT_TRUE(AppendOne(*Open(1 << 30, 12), 12));
  EXPECT_EQ(WriteQueue::PartitionsOf(db_, "video"), (std::vector<uint32_t>{3, 12}));
  EXPECT_EQ(Drain(*Open()), std::vector<std::string>{"1 u v 1"});
  EXPECT_EQ(Drain(*Open(1 << 30, 12)), std::vector<std::string>{"1 u v 12"});
  EXPECT_TRUE(WriteQueue::Remove(db_, "video").ok());
  EXPECT_EQ(Files().size(), 0u);
}

TEST_F(WriteQueueTest, DeletionsOfKeysAreTakenWhereItIsFull) {
  const auto queue = Open(100);
  while (AppendOne(*queue, 1)) {
  }
  const OldWrite removal{.kind = OldWrite::Kind::kDeleteKey, .user = "u"};
  EXPECT_TRUE(queue->Append({&removal, 1}));
}

}  // namespace
}  // namespace seendb::migration::SEENDB_TEST_FILE
