// Nothing in a shard depends on another: what fails in one keeps no other from its work.

#include "support/engine_fixture.h"
#include "support/fault_env.h"

namespace seendb {
namespace {

TEST_F(EngineTest, AShardThatFailsKeepsNoOtherFromSync) {
  FaultEnv faults;
  env_ = faults.env();
  Open();
  for (const std::string& user : Numbered("u", 16)) Play(user, {"v"});
  const std::string second = Path() + "/shard-0001/SYNCED";
  std::filesystem::remove(second);
  faults.Fail(FaultEnv::kWriting, "shard-0000", rocksdb::IOStatus::IOError("gone"));
  EXPECT_FALSE(engine_->Sync().ok());
  EXPECT_TRUE(std::filesystem::exists(second));
  faults.Clear();
  engine_.reset();
}

}  // namespace
}  // namespace seendb
