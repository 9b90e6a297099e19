// Shards sync, drain and heal independently: one that is being opened anew, on a disk that answers
// no read, keeps no other waiting.

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "seendb/ingest.h"
#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

class ApartHealingTest : public EngineTest {
 protected:
  void SetUp() override {
    env_ = disk_.env();
    options_.shards = 3;
    options_.background = true;
    options_.sync_interval_ms = 50;
    Open();
    for (int i = 0; stuck_.empty() || other_.empty() || third_.empty(); ++i) {
      const std::string user = "u" + std::to_string(i);
      const uint32_t shard = engine_->ShardOf(IdRef(user));
      (shard == 0 ? stuck_ : shard == 1 ? other_ : third_) = user;
    }
    Play(other_, {"before"});
  }
  void TearDown() override {
    disk_.Clear();
    disk_.Release();
    engine_.reset();
  }

  static bool Eventually(const std::function<bool()>& holds) {
    for (int waited = 0; waited < 1'200; ++waited) {
      if (holds()) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }
  Status TryPlay(const std::string& user, const std::string& item) {
    const seendb::Play play{IdRef(user), IdRef(item)};
    return engine_->RecordPlays({&play, 1}).status();
  }
  // Lets a log append of the shard of `user` fail, and its next opening wait for the disk.
  void Stick(const std::string& user) {
    const std::string folder = "shard-000" + std::to_string(engine_->ShardOf(IdRef(user)));
    disk_.Hold(MemDisk::kRead, folder);
    disk_.Fail(MemDisk::kAppend, folder + "*.log", rocksdb::IOStatus::IOError("EIO"), 0, 1);
    ASSERT_FALSE(TryPlay(user, "x").ok());
    ASSERT_TRUE(Eventually([this] { return disk_.held() > 0; })) << folder << " is not opened anew";
  }
  void StickShard0() { Stick(stuck_); }

  size_t ManifestBytes() const {
    size_t all = 0;
    for (const std::string& file : disk_.Files("shard-0001/MANIFEST")) {
      std::string bytes;
      disk_.Read(file, &bytes);
      all += bytes.size();
    }
    return all;
  }

  MemDisk disk_;
  std::string stuck_, other_, third_;  // users of the shards 0, 1, 2
};

TEST_F(ApartHealingTest, AHealthyShardIsSynced) {
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  Play(other_, {"during"});
  std::this_thread::sleep_for(2s);  // forty intervals
  disk_.Crash();
  disk_.Release();
  engine_.reset();
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const std::unique_ptr<MemDisk> cut = disk_.Clone();
    cut->PowerCut(seed);
    cut->Revive();
    env_ = cut->env();
    options_.background = false;
    Open();
    EXPECT_EQ(Unseen(other_, {"before", "during", "never"}), Items{"never"}) << "seed " << seed;
    engine_.reset();
  }
}

TEST_F(ApartHealingTest, AHealthyShardIsDrained) {
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  Play(other_, {"during"});
  const size_t before = ManifestBytes();
  clock_.Advance(2 * options_.slot_ms);
  EXPECT_TRUE(Eventually([&] { return ManifestBytes() > before; }))
      << "no journal family was dropped and made anew";
}

TEST_F(ApartHealingTest, AnotherShardHeals) {
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  disk_.Fail(MemDisk::kAppend, "shard-0001*.log", rocksdb::IOStatus::IOError("EIO"), 0, 1);
  ASSERT_FALSE(TryPlay(other_, "x").ok());
  EXPECT_TRUE(Eventually([this] { return TryPlay(other_, "after").ok(); }));
  EXPECT_TRUE(TryPlay(third_, "all along").ok());
  EXPECT_GT(disk_.held(), 0);
  disk_.Clear();
  disk_.Release();
  EXPECT_TRUE(Eventually([this] { return TryPlay(stuck_, "after").ok(); }));
  EXPECT_EQ(Unseen(other_, {"before", "after", "never"}), Items{"never"});
}

// More at once than the healing lane has threads: whoever has healed does not wait for the one that
// can't be read, and leaves its thread to the next.
TEST_F(ApartHealingTest, ManyShardsHealBesideOneThatIsStuck) {
  constexpr uint32_t kMany = 24;
  engine_.reset();
  MemDisk disk;
  env_ = disk.env();
  options_.shards = kMany;
  Open();
  std::vector<std::string> users(kMany);
  for (int i = 0, found = 0; found < static_cast<int>(kMany); ++i) {
    const std::string user = "u" + std::to_string(i);
    std::string& of = users[engine_->ShardOf(IdRef(user))];
    if (of.empty()) ++found;
    of = user;
  }
  disk.Hold(MemDisk::kRead, "shard-0000");
  disk.Fail(MemDisk::kAppend, "*.log", rocksdb::IOStatus::NoSpace("full"));
  for (const std::string& user : users) EXPECT_FALSE(TryPlay(user, "x").ok());
  ASSERT_TRUE(Eventually([&] { return disk.held() > 0; }));
  disk.Clear();
  disk.Hold(MemDisk::kRead, "shard-0000");
  EXPECT_TRUE(Eventually([&] {
    for (uint32_t shard = 1; shard < kMany; ++shard) {
      if (!TryPlay(users[shard], "after").ok()) return false;
    }
    return true;
  }));
  EXPECT_GT(disk.held(), 0) << "it is being opened all the time";
  disk.Clear();
  disk.Release();
  EXPECT_TRUE(Eventually([&] { return TryPlay(users[0], "after").ok(); }));
  engine_.reset();
}

TEST_F(ApartHealingTest, ReportsDoNotWait) {
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  // A background sync that failed before is over with the next one.
  EXPECT_TRUE(Eventually(
      [this] { return engine_->Stats().problems == Items{"shard 0: is being opened anew"}; }));
  const EngineStats stats = engine_->Stats();
  EXPECT_EQ(stats.shards, 3u);
  EXPECT_TRUE(stats.degraded);
  EXPECT_GT(stats.column_families, 0u) << "of the other shards";
  for (const SlotInfo& slot : engine_->Ring()) EXPECT_NE(slot.shard, 0u);
  EXPECT_FALSE(engine_->Ring().empty());
  EXPECT_FALSE(engine_->Buckets().empty());
  EXPECT_TRUE(engine_->Sources().empty());
  EXPECT_TRUE(engine_->OutboxSources().empty());
  EXPECT_GT(disk_.held(), 0);
}

// A topic is forgotten in all shards, or in none.
TEST_F(ApartHealingTest, ATopicIsNotForgottenInPart) {
  const SourceStep step{.topic = "plays", .next_offset = 10};
  ASSERT_TRUE(engine_->Ingest({.sources = {&step, 1}}).ok());
  ASSERT_NO_FATAL_FAILURE(Stick(other_));
  EXPECT_EQ(engine_->ForgetTopic("plays").code(), StatusCode::kUnavailable);
  ASSERT_EQ(engine_->Sources().size(), 1u);
  EXPECT_EQ(engine_->Sources()[0].next_offset, 10) << "a shard has forgotten";
  disk_.Clear();
  disk_.Release();
  EXPECT_TRUE(Eventually([this] { return engine_->ForgetTopic("plays").ok(); }));
  EXPECT_TRUE(engine_->Sources().empty());
}

// Requests wait for a moment, not as long as the opening takes.
TEST_F(ApartHealingTest, RequestsAreToldSoon) {
  Play(stuck_, {"staged"});
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(TryPlay(stuck_, "x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->EraseUser(IdRef(stuck_)).code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->SetRecording(IdRef(stuck_), true).code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->Inspect(IdRef(stuck_), "").status().code(), StatusCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
  EXPECT_GT(disk_.held(), 0) << "it is being opened all the time";

  const IdRef items[] = {IdRef("staged"), IdRef("x"), IdRef("y")};
  FilterRequest request;
  request.user = IdRef(stuck_);
  request.items = items;
  const IdRef excluded[] = {IdRef("y")};
  request.exclude = excluded;
  FilterResponse response;
  EXPECT_TRUE(engine_->Filter(request, &response).ok());
  EXPECT_TRUE(response.degraded);
  EXPECT_EQ(response.missing, Items{"shard"});
  EXPECT_EQ(response.unseen, std::vector<uint32_t>{1}) << "what is staged is known";
  EXPECT_EQ(response.excluded, 1u);
  request.on_error = OnError::kFail;
  EXPECT_EQ(engine_->Filter(request, &response).code(), StatusCode::kUnavailable);

  disk_.Clear();
  disk_.Release();
  EXPECT_TRUE(Eventually([this] { return TryPlay(stuck_, "after").ok(); }));
  EXPECT_EQ(Unseen(stuck_, {"staged", "after", "never"}), Items{"never"});
}

// A shard that fails once others have been written leaves the outcome open, and is told so: any
// other failure would say that nothing changed.
TEST_F(ApartHealingTest, ACallThatIsHalfWrittenSaysSo) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Hold hold("record: pinned");
  Status told;
  std::thread call([&] {
    const seendb::Play plays[] = {{IdRef(other_), IdRef("half")}, {IdRef(third_), IdRef("half")}};
    told = engine_->RecordPlays(plays).status();
  });
  ASSERT_TRUE(hold.WaitReached());
  ASSERT_NO_FATAL_FAILURE(Stick(third_));
  hold.Release();
  call.join();
  EXPECT_EQ(told.code(), StatusCode::kIOError) << told.ToString();
  EXPECT_EQ(Unseen(other_, {"half"}), Items{});
}

// Nothing of a batch that one shard does not take is written to the others, where that can be told.
TEST_F(ApartHealingTest, ABatchOfALogIsRefusedWhole) {
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  const seendb::Play plays[] = {{IdRef(other_), IdRef("logged")}, {IdRef(stuck_), IdRef("logged")}};
  const SourceStep step{.topic = "t", .partition = 0, .next_offset = 2};
  const Origin origins[] = {{0, 0}, {0, 1}};
  IngestBatch batch;
  batch.sources = {&step, 1};
  batch.plays = plays;
  batch.origins = origins;
  EXPECT_EQ(engine_->Ingest(batch).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Unseen(other_, {"logged"}), Items{"logged"});
  disk_.Clear();
  disk_.Release();
  EXPECT_TRUE(Eventually([&] { return engine_->Ingest(batch).ok(); }));
  EXPECT_EQ(Unseen(other_, {"logged"}), Items{});
  EXPECT_EQ(Unseen(stuck_, {"logged"}), Items{});
}

TEST_F(ApartHealingTest, ASyncByHandWaitsForAllShards) {
  ASSERT_NO_FATAL_FAILURE(StickShard0());
  Status synced;
  std::atomic<bool> done{false};
  std::thread sync([&] {
    synced = engine_->Sync();
    done = true;
  });
  std::this_thread::sleep_for(200ms);
  EXPECT_FALSE(done);
  disk_.Clear();
  disk_.Release();
  sync.join();
  EXPECT_TRUE(synced.ok()) << synced.ToString();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
