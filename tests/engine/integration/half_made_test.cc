// A collection whose making failed half way: what the first shard stored is its policy.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

PolicyPatch DaysOf(uint16_t days) {
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, days};
  return patch;
}

TEST_F(EngineTest, ACollectionThatFailedHalfWayKeepsItsFixedFields) {
  MemDisk disk;
  env_ = disk.env();
  Open();
  disk.Fail(MemDisk::kWriting, "shard-0001", rocksdb::IOStatus::IOError("gone"));
  EXPECT_FALSE(engine_->PutCollection("article", DaysOf(10)).ok());
  disk.Clear();
  EXPECT_EQ(engine_->PutCollection("article", DaysOf(7)).code(), StatusCode::kIncompatible);
  Reopen();
  EXPECT_EQ(Play("u1", {"v1"}, std::nullopt, "article"), 1u);
  EXPECT_EQ(engine_->PutCollection("article", DaysOf(7)).code(), StatusCode::kIncompatible);
  Put("article", DaysOf(10));
  EXPECT_EQ(Unseen("u1", {"v1", "v2"}, "article"), Items{"v2"});
  engine_.reset();
}

TEST_F(EngineTest, FamiliesThatFuturePlaysReachCount) {
  options_.max_column_families = 100;
  Open();
  PolicyPatch patch = DaysOf(1);
  Put("article", patch);
  patch.max_future_ms = 366 * kDayMs;
  EXPECT_EQ(engine_->PutCollection("article", patch).code(), StatusCode::kIncompatible);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
