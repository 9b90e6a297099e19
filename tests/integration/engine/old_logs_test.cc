// What a killed process left in its log is synced before anything is built on it.

#include "support/engine_fixture.h"
#include "support/fault_env.h"

namespace seendb {
namespace {

TEST_F(EngineTest, OldLogsAreSyncedWhenOpened) {
  FaultEnv faults;
  env_ = faults.env();
  Open();
  Play("u1", {"v1"});
  engine_.reset();
  // Every log of the last opening, and nothing else yet.
  faults.Fail(FaultEnv::kSync, ".log", rocksdb::IOStatus::IOError("no sync"), 0, 1);
  Seams seams;
  seams.clock = &clock_;
  seams.env = env_;
  const auto refused = Engine::Open(Path(), options_, seams);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().ToString().find("sync 0000"), std::string::npos)
      << refused.status().ToString();
  faults.Clear();
  Open();
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}), Items{"v2"});
  engine_.reset();
}

}  // namespace
}  // namespace seendb
