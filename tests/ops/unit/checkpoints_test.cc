// The folder of checkpoints: made, and kept out of the database.

#include "ops/checkpoints.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ops/last_checkpoint.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

class CheckpointsTest : public testing::Test {
 protected:
  CheckpointsTest() : root_(testing::TempDir() + "checkpoints_test." + std::to_string(getpid())) {
    fs::create_directories(root_);
  }
  ~CheckpointsTest() override { fs::remove_all(root_); }

  const std::string root_;
};

TEST_F(CheckpointsTest, MadeWithItsParentsOrTakenAsItIs) {
  const std::string folder = root_ + "/far/away/";
  EXPECT_TRUE(PrepareCheckpoints(folder, root_ + "/db").ok());
  EXPECT_TRUE(fs::is_directory(folder));
  EXPECT_TRUE(PrepareCheckpoints(folder, root_ + "/db").ok());
  EXPECT_TRUE(PrepareCheckpoints(root_ + "/db2", root_ + "/db").ok());
  EXPECT_TRUE(PrepareCheckpoints(root_, root_ + "/db").ok());
}

TEST_F(CheckpointsTest, RefusedInsideTheDatabase) {
  const std::string db = root_ + "/db";
  fs::create_directories(db);
  fs::create_directory_symlink(db, root_ + "/link");
  for (const std::string& folder :
       {db, db + "/", db + "/copies", root_ + "/x/../db/copies", root_ + "/link/copies"}) {
    const Status status = PrepareCheckpoints(folder, db + "/");
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << folder;
    EXPECT_EQ(status.field(), "/checkpoints") << folder;
  }
  EXPECT_TRUE(fs::is_empty(db));
}

TEST_F(CheckpointsTest, AFileInTheWayIsTold) {
  std::ofstream(root_ + "/file") << "x";
  for (const char* name : {"/file", "/file/copies"}) {
    const Status status = PrepareCheckpoints(root_ + name, root_ + "/db");
    EXPECT_EQ(status.code(), StatusCode::kIOError) << name;
    EXPECT_NE(status.message().find(root_ + name), std::string::npos) << status.ToString();
  }
}

TEST_F(CheckpointsTest, TheLastIsKnownAfterARestart) {
  LastCheckpoint before, after, unreadable, nowhere;
  before.Load(root_);
  EXPECT_EQ(before.at_ms(), 0) << "there was none";
  ASSERT_TRUE(before.Note(1'700'000'000'123).ok());
  ASSERT_TRUE(before.Note(1'700'000'000'456).ok());
  after.Load(root_);
  EXPECT_EQ(after.at_ms(), 1'700'000'000'456);
  std::ofstream(root_ + "/CHECKPOINTED") << "-5x";
  unreadable.Load(root_);
  EXPECT_EQ(unreadable.at_ms(), 0);
  nowhere.Load(root_ + "/nowhere");
  EXPECT_EQ(nowhere.Note(1).code(), StatusCode::kIOError);
  EXPECT_EQ(nowhere.at_ms(), 1);
  LastCheckpoint without_a_folder;
  ASSERT_TRUE(without_a_folder.Note(1).ok());
  EXPECT_EQ(without_a_folder.at_ms(), 1);
  EXPECT_FALSE(std::filesystem::exists(".tmp")) << "nothing is written where nobody said where";
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
