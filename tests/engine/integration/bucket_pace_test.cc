// Families come and go one at a time, so that a write waits for one of them, not for all.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class BucketPaceTest : public EngineTest {
 protected:
  BucketPaceTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  ~BucketPaceTest() override { engine_.reset(); }

  MemDisk disk_;
};

// Each change of the families ends with a new file OPTIONS.
TEST_F(BucketPaceTest, ExpiredBucketsAreDroppedOneByOne) {
  constexpr int kBuckets = 8;
  Open();
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 1};
  patch.window = 2;
  patch.retention = kBuckets + 2;
  Put("daily", patch);
  for (int day = 0; day < kBuckets + 2; ++day) {
    ASSERT_EQ(Play("u", {"v" + std::to_string(day)}, kStartMs - day * kDayMs, "daily"), 1u);
  }
  Drain();
  patch.retention = 2;
  Put("daily", patch);
  const uint64_t before = disk_.operations(MemDisk::kRename);
  ASSERT_TRUE(engine_->DropExpired().ok());
  EXPECT_EQ(engine_->Stats().buckets_dropped, static_cast<uint64_t>(kBuckets));
  EXPECT_GE(disk_.operations(MemDisk::kRename) - before, static_cast<uint64_t>(kBuckets));
  EXPECT_EQ(Unseen("u", {"v0", "v1"}, "daily"), Items{});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
