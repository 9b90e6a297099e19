#include "migration/write_queue.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace seendb::migration {
namespace {

class WriteQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/write-queue-XXXXXX";
    db_ = mkdtemp(path.data());
    std::filesystem::create_directory(db_ + "/MIGRATION");
  }
  void TearDown() override { std::filesystem::remove_all(db_); }

  std::unique_ptr<WriteQueue> Open(uint64_t most = 1 << 30) {
    auto opened = WriteQueue::Open(db_, "video", most);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }
  /// All that is in the queue, in its order.
  static std::vector<std::string> Drain(WriteQueue& queue) {
    std::vector<std::string> all;
    while (queue.bytes() > 0) {
      std::string bytes;
      std::vector<OldWrite> writes;
      EXPECT_TRUE(queue.Peek(&bytes, &writes).ok());
      for (const OldWrite& one : writes) {
        all.push_back(std::to_string(static_cast<int>(one.kind)) + " " + std::string(one.user) +
                      " " + std::string(one.item) + " " + std::to_string(one.at_ms));
      }
      queue.Done();
    }
    return all;
  }
  static bool AppendOne(WriteQueue& queue, int64_t at_ms, std::string_view item = "v") {
    const OldWrite write{.at_ms = at_ms, .user = "u", .item = item};
    return queue.Append({&write, 1});
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
    file << std::string("\x30\0\0\0half", 8);
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

}  // namespace
}  // namespace seendb::migration
