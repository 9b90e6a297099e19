// A bucket that can't be read: the answer comes from what can, and says what it lacks.

#include <chrono>
#include <future>
#include <thread>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kFebruary = kStartMs - 30 * kDayMs;

class DegradedTest : public EngineTest {
 protected:
  DegradedTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  ~DegradedTest() override { engine_.reset(); }

  // "u1" has plays in files of February and March, in the ring, and impressions.
  void MakeBuckets() {
    Open();
    Play("u1", Numbered("f", 50), kFebruary);
    Play("u1", Numbered("m", 50));
    for (int i = 0; i < 200; ++i) Play("n" + std::to_string(i), {"x"}, kFebruary);
    Drain();
    ASSERT_TRUE(engine_->Seal("default", "2026-02").ok());
    ASSERT_TRUE(engine_->Seal("default", "2026-03").ok());
    Play("u1", {"r"});
    Serve("u1", {"i"});
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
  std::string FileOf(const std::string& family) {
    const std::vector<std::string> files = RawShard(Path(), 0, env_).Files(family);
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : files[0];
  }
  // Overwrites bytes with their complement.
  void Flip(const std::string& path, size_t offset, size_t count) {
    std::string bytes;
    ASSERT_TRUE(disk_.Read(path, &bytes)) << path;
    ASSERT_LT(offset, bytes.size());
    const size_t end = std::min(bytes.size(), offset + count);
    for (size_t at = offset; at < end; ++at) bytes[at] = static_cast<char>(~bytes[at]);
    ASSERT_TRUE(disk_.Write(path, bytes));
  }
  Status FilterFailing(const std::string& user, const std::string& item) {
    const IdRef id(item);
    FilterRequest request;
    request.user = IdRef(user);
    request.items = {&id, 1};
    request.on_error = OnError::kFail;
    return engine_->Filter(request, &answer_);
  }
  void ExpectFebruaryMissing() {
    EXPECT_EQ(Unseen("u1", {"f1", "m1", "r", "i", "new"}), (Items{"f1", "new"}));
    EXPECT_TRUE(answer_.degraded);
    EXPECT_EQ(answer_.missing, Items{"2026-02"});
    const Status failed = FilterFailing("u1", "f1");
    EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
    EXPECT_NE(failed.message().find("2026-02"), std::string_view::npos) << failed.ToString();
    const auto report = engine_->Inspect(IdRef("u1"));
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->buckets.size(), 2u);
    EXPECT_TRUE(report->buckets[0].readable);
    EXPECT_FALSE(report->buckets[1].readable);
    EXPECT_FALSE(report->buckets[1].error.empty());
  }

  MemDisk disk_;
};

TEST_F(DegradedTest, ACorruptedFileIsMissedAndNothingElse) {
  MakeBuckets();
  Flip(FileOf("seen/default/2026-02"), 100, 64);
  Open();
  ExpectFebruaryMissing();
  EXPECT_EQ(Unseen("stranger", {"m1"}), Items{"m1"});
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok()) << verified.status().ToString();
  EXPECT_GE(verified->damaged, 1u);
  EXPECT_GE(engine_->Stats().filters_degraded, 2u);
  // The rest goes on: plays, drains, other buckets; late plays of February as well.
  EXPECT_EQ(Play("u1", {"late"}, kFebruary), 1u);
  EXPECT_EQ(Unseen("u1", {"late", "new"}), Items{"new"}) << "from the ring";
  Drain();
  EXPECT_EQ(Unseen("u1", {"late", "new"}), Items{"new"}) << "from the short-term store";
  EXPECT_TRUE(answer_.degraded);
}

// A damaged file met by a seal or a compaction stops neither: RocksDB left alone would refuse every
// further write of the shard.
TEST_F(DegradedTest, ADamagedFileStopsNoWriting) {
  MakeBuckets();
  Flip(FileOf("seen/default/2026-02"), 100, 64);
  Open();
  Play("n7", {"late"}, kFebruary);
  const Status sealed = engine_->Seal("default", "2026-02");
  EXPECT_EQ(sealed.code(), StatusCode::kCorruption) << sealed.ToString();
  EXPECT_FALSE(engine_->Compact().ok());
  EXPECT_TRUE(engine_->Stats().degraded);
  EXPECT_EQ(Play("u1", {"on"}), 1u);
  Drain();
  ASSERT_TRUE(engine_->Seal("default", "2026-03").ok());
  EXPECT_EQ(Unseen("u1", {"on", "m1", "new"}), Items{"new"});
  EXPECT_EQ(answer_.missing, Items{"2026-02"});
  clock_.Set(kStartMs + 12 * kHourMs);  // the maintenance window
  RunDue();
  ASSERT_TRUE(engine_->EraseUser(IdRef("n3")).ok());
  Reopen();
  EXPECT_EQ(Unseen("u1", {"on", "m1", "new"}), Items{"new"});
  // The bucket goes like any other.
  clock_.Set(kStartMs + 200 * kDayMs);
  RunDue();
  for (const BucketInfo& bucket : engine_->Buckets()) EXPECT_NE(bucket.bucket, "2026-02");
}

TEST_F(DegradedTest, AReadErrorPassesWhenItIsOver) {
  MakeBuckets();
  const std::string file = FileOf("seen/default/2026-02");
  Open();
  disk_.Fail(MemDisk::kRead, file.substr(file.rfind('/')), rocksdb::IOStatus::IOError("injected"));
  ExpectFebruaryMissing();
  EXPECT_GT(disk_.failures(), 0u);
  disk_.Clear();
  EXPECT_EQ(Unseen("u1", {"f1", "m1", "r", "i", "new"}), Items{"new"});
  EXPECT_FALSE(answer_.degraded);
  EXPECT_TRUE(FilterFailing("u1", "f1").ok());
}

TEST_F(DegradedTest, TheShortTermStoreAnswersForAnUnreadableBucket) {
  MakeBuckets();
  const std::string file = FileOf("seen/default/2026-03");
  Open();
  Play("u1", {"just now"});
  Drain();
  disk_.Fail(MemDisk::kRead, file.substr(file.rfind('/')), rocksdb::IOStatus::IOError("injected"));
  EXPECT_EQ(Unseen("u1", {"just now", "m1", "f1"}), Items{"m1"});
  EXPECT_EQ(answer_.missing, Items{"2026-03"});
}

TEST_F(DegradedTest, ImpressionsThatCantBeReadAreNamed) {
  MakeBuckets();
  Open();
  ASSERT_TRUE(engine_->Compact().ok());
  engine_.reset();
  Flip(FileOf("impressions/default"), 10, 64);
  Open();
  EXPECT_EQ(Unseen("u1", {"i", "m1", "f1"}), Items{"i"});
  EXPECT_EQ(answer_.missing, Items{"impressions"});
  EXPECT_EQ(Unseen("u1", {"i", "m1"}, "default", kFactPlays), Items{"i"});
  EXPECT_FALSE(answer_.degraded) << "impressions were not asked for";
}

TEST_F(DegradedTest, ADeadlineThatPassedIsSaid) {
  MakeBuckets();
  Open();
  const IdRef ids[] = {IdRef("m1"), IdRef("r")};
  FilterRequest request;
  request.user = IdRef("u1");
  request.items = ids;
  request.deadline_us = 1;
  // One microsecond is over before the first read; the ring needs none.
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_TRUE(answer_.degraded);
  EXPECT_EQ(answer_.missing, Items{"deadline"});
  EXPECT_EQ(answer_.unseen, std::vector<uint32_t>{0});
  request.on_error = OnError::kFail;
  EXPECT_EQ(engine_->Filter(request, &answer_).code(), StatusCode::kUnavailable);
  request.deadline_us = 60'000'000;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_FALSE(answer_.degraded);
  EXPECT_TRUE(answer_.unseen.empty());
}

// A deadline that passes while buckets are read: those that are left are not read, and what was
// drained from the ring lately answers for them. The disk holds the first read until it has passed.
TEST_F(DegradedTest, AfterTheDeadlineTheShortTermStoreIsStillAsked) {
  Open();
  Play("u1", {"f1"}, kFebruary);
  Play("u1", {"m1"});
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  const Items items{"f1", "m1", "new"};
  const std::vector<IdRef> ids(items.begin(), items.end());
  FilterRequest request;
  request.user = IdRef("u1");
  request.items = ids;
  request.facts = kFactPlays;
  request.deadline_us = 500'000;
  disk_.Hold(MemDisk::kRead, ".sst");
  std::future<Status> answered =
      std::async(std::launch::async, [&] { return engine_->Filter(request, &answer_); });
  // Where the deadline passes before the first read, no read is held.
  while (disk_.held() == 0 &&
         answered.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
  }
  std::this_thread::sleep_for(std::chrono::microseconds(request.deadline_us));
  disk_.Release();
  ASSERT_TRUE(answered.get().ok());
  EXPECT_EQ(answer_.unseen, std::vector<uint32_t>{2});
  EXPECT_TRUE(answer_.degraded);
  EXPECT_EQ(answer_.missing, Items{"deadline"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
