// A message on which processes died: an object that goes without Leave is a process that died.

#include "ingest/crash_mark.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

class CrashMarkTest : public testing::Test {
 protected:
  CrashMarkTest() { std::filesystem::remove(path_); }
  ~CrashMarkTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<CrashMark> Open() {
    auto opened = CrashMark::Open(path_);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }
  void DieOn(int64_t offset, const std::string& topic = "plays", int32_t partition = 3) {
    EXPECT_TRUE(Open()->Enter(topic, partition, offset));
  }

  // Cases run side by side, each in a process of its own.
  const std::string path_ = testing::TempDir() + "crash_mark_test_" + std::to_string(::getpid());
};

TEST_F(CrashMarkTest, TwoDeathsPassAMessageOver) {
  DieOn(7);
  DieOn(7);
  const auto mark = Open();
  EXPECT_TRUE(mark->Enter("plays", 3, 6));
  mark->Leave();
  EXPECT_FALSE(mark->Enter("plays", 3, 7));
  EXPECT_FALSE(mark->Enter("plays", 3, 7)) << "in this process it stays so";
  EXPECT_TRUE(mark->Enter("plays", 2, 7));
  EXPECT_TRUE(mark->Enter("play", 3, 7));
  EXPECT_TRUE(mark->Enter("plays", 3, 8));
}

TEST_F(CrashMarkTest, ADeathThatCameBetweenMessagesIsNone) {
  DieOn(7);
  { Open(); }  // died before any message
  DieOn(7);
  EXPECT_FALSE(Open()->Enter("plays", 3, 7));
}

TEST_F(CrashMarkTest, MessagesThatWereDecodedAreForgotten) {
  for (int i = 0; i < 5; ++i) {
    const auto mark = Open();
    for (int64_t offset = 0; offset < 10; ++offset) {
      EXPECT_TRUE(mark->Enter("plays", 3, offset));
      mark->Leave();
    }
  }
  DieOn(7);
  DieOn(8);
  DieOn(7);
  EXPECT_TRUE(Open()->Enter("plays", 3, 7)) << "not twice, one after the other";
}

TEST_F(CrashMarkTest, AFileOfSomethingElseIsBegunAnew) {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(5'000, 'x')}) {
    std::ofstream(path_, std::ios::binary) << bytes;
    DieOn(7);
    DieOn(7);
    EXPECT_FALSE(Open()->Enter("plays", 3, 7));
  }
}

TEST_F(CrashMarkTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink("/nowhere/to/be/found", path_);
  EXPECT_EQ(CrashMark::Open(path_).status().code(), StatusCode::kIOError);
}

TEST_F(CrashMarkTest, WithoutAFileNothingIsKnown) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(CrashMark().Enter("plays", 0, 7));
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
