// Nothing in a shard depends on another: what fails in one keeps no other from its work.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST_F(EngineTest, AShardThatFailsKeepsNoOtherFromSync) {
  MemDisk disk;
  env_ = disk.env();
  Open();
  for (const std::string& user : Numbered("u", 16)) Play(user, {"v"});
  const std::string second = Path() + "/shard-0001/SYNCED";
  disk.Remove(second);
  disk.Fail(MemDisk::kWriting, "shard-0000", rocksdb::IOStatus::IOError("gone"));
  EXPECT_FALSE(engine_->Sync().ok());
  EXPECT_TRUE(env_->FileExists(second).ok());
  disk.Clear();
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
