// A bucket that is wanted again while it is being dropped: between the two steps of a drop.

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/shard_store.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

constexpr char kCollection[] = "c";
constexpr int64_t kIndex = 20'000;  // of a bucket of a day
constexpr int64_t kOldestKept = kIndex + 1;

class BucketDropTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.env()->CreateDir("/db").ok());
    shared_->env = env_.get();
    shared_->logs = logs_;
    shared_->block_cache = rocksdb::NewLRUCache(1 << 20);
    shared_->write_buffer_bytes = 16 << 20;
    shared_->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(16 << 20);
    shared_->statistics = rocksdb::CreateDBStatistics();
    shared_->counters = std::make_shared<Counters>();
    ShardStoreOptions options;
    options.path = "/db/shard-0000";
    options.database_id = "id";
    options.create = true;
    Result<std::unique_ptr<ShardStore>> opened = ShardStore::Open(options, shared_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(opened).value();
    Policy policy;
    policy.bucket = {BucketKind::kDays, 1};
    policy.history.enabled = true;
    const Status put = store_->PutCollection({kCollection, policy}, 0);
    ASSERT_TRUE(put.ok()) << put.ToString();
  }

  // Makes the bucket, takes it out of the set, wants it again meanwhile, and drops it.
  template <typename OneBucket, typename Ensure>
  void WantWhileItIsDropped(BucketsOf<OneBucket> CollectionFamilies::*buckets,
                            const Ensure& ensure) {
    const Result<std::shared_ptr<OneBucket>> before = ensure();
    ASSERT_TRUE(before.ok()) << before.status().ToString();
    const std::vector<std::shared_ptr<OneBucket>> taken =
        store_->tables().Unpublish(buckets, kCollection, kOldestKept);
    ASSERT_EQ(taken.size(), 1U);
    auto again = std::async(std::launch::async, ensure);
    const bool waited = again.wait_for(100ms) == std::future_status::timeout;
    const Status dropped = store_->tables().Drop(kCollection, taken);
    EXPECT_TRUE(dropped.ok()) << dropped.ToString();
    const Result<std::shared_ptr<OneBucket>> after = again.get();
    EXPECT_TRUE(waited) << "nothing is written into a bucket that is being dropped";
    ASSERT_TRUE(after.ok()) << after.status().ToString();
    EXPECT_NE(before->get(), after->get());
    EXPECT_EQ(store_->families()->FindBucket(buckets, kCollection, kIndex), *after);
    EXPECT_TRUE(store_->CheckWritable().ok()) << store_->CheckWritable().ToString();
    EXPECT_TRUE(store_->problems().problems().empty()) << store_->problems().problems().front();
  }

  MemDisk disk_;
  const std::shared_ptr<OpenLogs> logs_ = std::make_shared<OpenLogs>();
  const std::unique_ptr<rocksdb::Env> env_ = NewOrderedEnv(disk_.env(), logs_);
  std::shared_ptr<SharedResources> shared_ = std::make_shared<SharedResources>();
  std::unique_ptr<ShardStore> store_;
};

TEST_F(BucketDropTest, ABucketOfFiltersIsMadeAnewAfterTheDrop) {
  WantWhileItIsDropped(&CollectionFamilies::buckets,
                       [this] { return store_->tables().EnsureBucket(kCollection, kIndex); });
}

TEST_F(BucketDropTest, ABucketOfHistoryIsMadeAnewAfterTheDrop) {
  WantWhileItIsDropped(&CollectionFamilies::history, [this] {
    return store_->tables().EnsureHistoryBucket(kCollection, kIndex);
  });
}

TEST_F(BucketDropTest, AnotherBucketIsMadeMeanwhile) {
  ASSERT_TRUE(store_->tables().EnsureBucket(kCollection, kIndex).ok());
  ASSERT_TRUE(store_->tables().EnsureHistoryBucket(kCollection, kIndex).ok());
  const auto taken =
      store_->tables().Unpublish(&CollectionFamilies::buckets, kCollection, kOldestKept);
  EXPECT_TRUE(store_->tables().EnsureBucket(kCollection, kIndex + 1).ok());
  EXPECT_TRUE(store_->tables().EnsureHistoryBucket(kCollection, kIndex).ok());
  EXPECT_TRUE(store_->tables().Drop(kCollection, taken).ok());
}

TEST_F(BucketDropTest, AFailedDropLetsNobodyWait) {
  ASSERT_TRUE(store_->tables().EnsureBucket(kCollection, kIndex).ok());
  const auto taken =
      store_->tables().Unpublish(&CollectionFamilies::buckets, kCollection, kOldestKept);
  auto again = std::async(std::launch::async, [this] {
    return store_->tables().EnsureBucket(kCollection, kIndex).status();
  });
  EXPECT_EQ(again.wait_for(100ms), std::future_status::timeout);
  disk_.Fail(MemDisk::kAppend | MemDisk::kSync, "/MANIFEST", rocksdb::IOStatus::IOError("broken"));
  EXPECT_EQ(store_->tables().Drop(kCollection, taken).code(), StatusCode::kIOError);
  EXPECT_EQ(again.get().code(), StatusCode::kIOError);
  disk_.Clear();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
