// What a killed process left in its log is synced before anything is built on it.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST_F(EngineTest, OldLogsAreSyncedWhenOpened) {
  MemDisk disk;
  env_ = disk.env();
  Open();
  Play("u1", {"v1"});
  engine_.reset();
  // Every log of the last opening, and nothing else yet.
  disk.Fail(MemDisk::kSync, ".log", rocksdb::IOStatus::IOError("no sync"), 0, 1);
  const Status refused = TryOpen();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.ToString().find("sync 0000"), std::string::npos) << refused.ToString();
  disk.Clear();
  Open();
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}), Items{"v2"});
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
