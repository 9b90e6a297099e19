// What an erasure left on disk is removed although the disk failed while the user was erased.

#include <string>
#include <vector>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class TracesFaultsTest : public EngineTest {
 protected:
  TracesFaultsTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  void TearDown() override { engine_.reset(); }

  bool IsOnDisk(const std::string& bytes) const {
    for (const char* const kind : {".log", ".sst"}) {
      for (const std::string& file : disk_.Files(kind)) {
        std::string all;
        if (disk_.Read(file, &all) && all.find(bytes) != std::string::npos) return true;
      }
    }
    return false;
  }

  MemDisk disk_;
};

// The call fails, and the erasure stands.
TEST_F(TracesFaultsTest, OfAnErasureWhoseSyncFailed) {
  Open();
  PolicyPatch patch;
  patch.impression_ids = true;
  Put("c", patch);
  Serve("u", {"served-XXXX"}, std::nullopt, "c");
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  ASSERT_TRUE(IsOnDisk("served-XXXX"));
  disk_.Fail(MemDisk::kSync, ".log", rocksdb::IOStatus::IOError("broken"), 0, 1);
  ASSERT_FALSE(engine_->EraseUser(IdRef("u")).ok());
  RunDue();  // opens the shard anew
  ASSERT_TRUE(engine_->Inspect(IdRef("u"))->erased_at_ms.has_value());
  Drain();
  EXPECT_FALSE(IsOnDisk("served-XXXX"));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
