// The folder of checkpoints: made, and kept out of the database.

#include "ops/checkpoints.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace seendb::ops {
namespace {

namespace fs = std::filesystem;

class CheckpointsTest : public testing::Test {
 protected:
  CheckpointsTest() : root_(testing::TempDir() + "checkpoints_test." + std::to_string(getpid())) {
    fs::create_directories(root_);
  }
  ~CheckpointsTest() override { fs::remove_all(root_); }

  const std::string root_;
  std::atomic<int64_t> last_ms_{-1};
};

TEST_F(CheckpointsTest, MadeWithItsParentsOrTakenAsItIs) {
  const std::string folder = root_ + "/far/away/";
  EXPECT_TRUE(PrepareCheckpoints(folder, root_ + "/db", &last_ms_).ok());
  EXPECT_TRUE(fs::is_directory(folder));
  EXPECT_TRUE(PrepareCheckpoints(folder, root_ + "/db", &last_ms_).ok());
  EXPECT_TRUE(PrepareCheckpoints(root_ + "/db2", root_ + "/db", &last_ms_).ok());
  EXPECT_TRUE(PrepareCheckpoints(root_, root_ + "/db", &last_ms_).ok());
}

TEST_F(CheckpointsTest, RefusedInsideTheDatabase) {
  const std::string db = root_ + "/db";
  fs::create_directories(db);
  fs::create_directory_symlink(db, root_ + "/link");
  for (const std::string& folder :
       {db, db + "/", db + "/copies", root_ + "/x/../db/copies", root_ + "/link/copies"}) {
    const Status status = PrepareCheckpoints(folder, db + "/", &last_ms_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << folder;
    EXPECT_EQ(status.field(), "/checkpoints") << folder;
  }
  EXPECT_TRUE(fs::is_empty(db));
}

TEST_F(CheckpointsTest, AFileInTheWayIsTold) {
  std::ofstream(root_ + "/file") << "x";
  for (const char* name : {"/file", "/file/copies"}) {
    const Status status = PrepareCheckpoints(root_ + name, root_ + "/db", &last_ms_);
    EXPECT_EQ(status.code(), StatusCode::kIOError) << name;
    EXPECT_NE(status.message().find(root_ + name), std::string::npos) << status.ToString();
  }
}

TEST_F(CheckpointsTest, TheLastIsKnownAfterARestart) {
  const std::string folder = root_ + "/copies";
  ASSERT_TRUE(PrepareCheckpoints(folder, root_ + "/db", &last_ms_).ok());
  EXPECT_EQ(last_ms_, 0) << "there was none";
  ASSERT_TRUE(NoteCheckpoint(folder, 1'700'000'000'123).ok());
  ASSERT_TRUE(NoteCheckpoint(folder, 1'700'000'000'456).ok());
  ASSERT_TRUE(PrepareCheckpoints(folder, root_ + "/db", &last_ms_).ok());
  EXPECT_EQ(last_ms_, 1'700'000'000'456);
  std::ofstream(folder + "/.last") << "-5x";
  ASSERT_TRUE(PrepareCheckpoints(folder, root_ + "/db", &last_ms_).ok());
  EXPECT_EQ(last_ms_, 0);
  EXPECT_EQ(NoteCheckpoint(root_ + "/nowhere", 1).code(), StatusCode::kIOError);
  last_ms_ = 7;
  ASSERT_TRUE(PrepareCheckpoints("", root_ + "/db", &last_ms_).ok());
  EXPECT_EQ(last_ms_, 7) << "none is wanted";
}

}  // namespace
}  // namespace seendb::ops
