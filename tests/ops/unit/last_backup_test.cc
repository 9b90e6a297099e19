// The last backup is known after a restart; a file that is no such note says nothing.

#include "ops/last_backup.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

class LastBackupTest : public testing::Test {
 protected:
  LastBackupTest() {
    char name[] = "/tmp/seendb-last-backup-XXXXXX";
    db_ = mkdtemp(name);
  }
  ~LastBackupTest() override { std::filesystem::remove_all(db_); }
  std::string db_;
};

TEST_F(LastBackupTest, IsKnownAfterARestart) {
  LastBackup before;
  before.Load(db_);
  EXPECT_FALSE(before.note().has_value());
  ASSERT_TRUE(before.Note({1773144000000, 7, 1048576, 4096, 1200}).ok());
  LastBackup after;
  after.Load(db_);
  ASSERT_TRUE(after.note().has_value());
  EXPECT_EQ(after.note()->at_ms, 1773144000000);
  EXPECT_EQ(after.note()->id, 7u);
  EXPECT_EQ(after.note()->bytes, 1048576u);
  EXPECT_EQ(after.note()->new_bytes, 4096u);
  EXPECT_EQ(after.note()->took_ms, 1200u);
}

TEST_F(LastBackupTest, AnythingElseSaysNothing) {
  for (const char* const text : {"", "x", "0 1 2 3 4", "-5 1 2 3 4", "1773144000000 7 1"}) {
    std::ofstream(db_ + "/BACKED_UP") << text;
    LastBackup last;
    last.Load(db_);
    EXPECT_FALSE(last.note().has_value()) << text;
  }
}

TEST_F(LastBackupTest, AFailedWriteIsTold) {
  LastBackup last;
  last.Load(db_ + "/missing");
  EXPECT_EQ(last.Note({1, 1, 1, 1, 1}).code(), StatusCode::kIOError);
  EXPECT_TRUE(last.note().has_value());
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
