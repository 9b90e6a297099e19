// An erasure of a user with much history: its record comes first, then the rows go in pieces, none
// of them long; a crash between two pieces shows nothing of the user, and what is left goes later.

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rocksdb/write_batch.h>

#include "store/log_file.h"
#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"
#include "support/options.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kItems = 700;             // of the user: three pieces a table
constexpr uint64_t kMostDeleted = 300;  // rows of a piece, and some more for the erasure itself
const std::string kDatabase = "/data/db";

// How many keys each batch of a log deletes.
class Deletions final : public rocksdb::WriteBatch::Handler {
 public:
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return {};
  }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return {};
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override {
    ++deleted;
    return {};
  }
  uint64_t deleted = 0;
};

class ErasePiecesTest : public ::testing::Test {
 protected:
  ErasePiecesTest() : clock_(kStartMs), disk_(std::make_unique<MemDisk>()) {
    options_.background = false;
    options_.shards = 1;
    options_.ring_slots = 3;
    options_.block_cache_bytes = 1 << 20;
  }

  void Open() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk_->env();
    auto opened = Engine::Open(kDatabase, options_, seams);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    engine_ = std::move(opened).value();
  }
  void Put(const std::string& collection) {
    PolicyPatch patch;
    patch.history.enabled = true;
    ASSERT_TRUE(engine_->PutCollection(collection, patch).ok());
  }
  void Watch(const std::string& user, const Items& items, const std::string& collection,
             std::optional<int64_t> at_ms = {}) {
    std::vector<seendb::Play> plays;
    for (const std::string& item : items) plays.push_back({IdRef(user), IdRef(item), at_ms});
    const auto recorded = engine_->RecordPlays(plays, {.collection = collection});
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    ASSERT_EQ(recorded->accepted, items.size());
  }
  // Two collections and two buckets of history of "big", some of "small", all in tables.
  void Prepare() {
    Open();
    Put("a");
    Put("b");
    Watch("big", Numbered("old", kItems), "a", kStartMs - 30 * kDayMs);
    Watch("big", Numbered("v", kItems), "a");
    Watch("big", Numbered("w", kItems), "b");
    Watch("small", {"v0"}, "a");
    ASSERT_TRUE(engine_->Drain().ok());
  }
  void Kill() {
    disk_->Crash();
    engine_.reset();
    disk_->Revive();
    disk_->Clear();
  }
  Items History(const std::string& user) {
    Items items;
    std::string cursor;
    do {
      HistoryPage page;
      const Status read =
          engine_->ReadHistory({.user = IdRef(user), .limit = 100, .cursor = cursor}, &page);
      EXPECT_TRUE(read.ok()) << read.ToString();
      EXPECT_FALSE(page.degraded);
      for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
      cursor = page.cursor;
    } while (!cursor.empty());
    std::sort(items.begin(), items.end());
    return items;
  }
  // Rows of both kinds that are stored of a user.
  uint64_t Rows(const std::string& user) {
    const auto report = engine_->Inspect(IdRef(user));
    EXPECT_TRUE(report.ok());
    uint64_t rows = 0;
    for (const HistoryReport& one : report->history) rows += one.items + one.rows;
    return rows;
  }
  bool IsSeen(const std::string& user, const std::string& item) {
    const IdRef items[] = {IdRef(item)};
    FilterRequest request;
    request.collection = "a";
    request.user = IdRef(user);
    request.items = items;
    FilterResponse answer;
    EXPECT_TRUE(engine_->Filter(request, &answer).ok());
    return answer.unseen.empty();
  }
  // Unfinished erasures, by the keys that say so. Precondition: closed.
  uint64_t Unfinished() {
    RawShard raw(kDatabase, 0, disk_->env());
    uint64_t keys = 0;
    for (const auto& [key, value] : raw.All("default")) keys += key.starts_with("erasing/") ? 1 : 0;
    return keys;
  }
  // The most keys deleted in one batch of the logs.
  uint64_t MostDeleted() {
    uint64_t most = 0;
    for (const std::string& path : disk_->Files(".log")) {
      LogExtent extent;
      const Status read = ReadLogFile(
          disk_->env(), path,
          [&](std::string_view record) {
            Deletions one;
            const rocksdb::WriteBatch batch{std::string(record)};
            EXPECT_TRUE(batch.Iterate(&one).ok());
            most = std::max(most, one.deleted);
          },
          &extent);
      EXPECT_TRUE(read.ok()) << read.ToString();
    }
    return most;
  }

  ManualClock clock_;
  Options options_ = test::FixedOptions();
  std::unique_ptr<MemDisk> disk_;
  std::unique_ptr<Engine> engine_;
};

// No writer waits for more than one piece: an exclusive section writes one batch.
TEST_F(ErasePiecesTest, RowsGoInSmallBatchesBesideWritersAndDrains) {
  Prepare();
  clock_.Advance(1000);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; !done; ++i) {
      Watch("small", {"x" + std::to_string(i)}, "a");
      if (i % 16 == 0) {
        EXPECT_TRUE(engine_->Drain().ok());
      }
    }
  });
  EXPECT_TRUE(engine_->EraseUser(IdRef("big")).ok());
  EXPECT_EQ(Rows("big"), 0u) << "the call returns when all rows are gone";
  done = true;
  writer.join();
  EXPECT_EQ(History("big"), Items{});
  EXPECT_TRUE(IsSeen("small", "x0"));
  Kill();
  EXPECT_LE(MostDeleted(), kMostDeleted);
  EXPECT_EQ(Unfinished(), 0u);
}

// Plays and deletions that come after it stay, whenever their rows are written.
TEST_F(ErasePiecesTest, WhatComesInTheMiddleStays) {
  Prepare();
  std::atomic<bool> done{false};
  std::atomic<int> played{0};
  std::thread writer([&] {
    for (int i = 0; !done || i < 20; ++i) {
      const std::string item = "v" + std::to_string(i % kItems);  // items of before, played anew
      const seendb::Play play{IdRef("big"), IdRef(item), kStartMs + 2000 + i};
      const auto recorded = engine_->RecordPlays({&play, 1}, {.collection = "a"});
      ASSERT_TRUE(recorded.ok());
      EXPECT_EQ(recorded->accepted, 1u);
      played = i + 1;
      if (i % 8 == 0) {
        EXPECT_TRUE(engine_->Drain().ok());
      }
    }
  });
  while (played < 3) std::this_thread::yield();
  const int before = played;  // at most one more lies before the erasure
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(engine_->EraseUser(IdRef("big")).ok());
  const int after = played;
  while (played < after + 30) std::this_thread::yield();
  done = true;
  writer.join();
  ASSERT_TRUE(engine_->Drain().ok());
  const Items known = History("big");
  EXPECT_LE(before, after);
  for (int i = after + 1; i < played; ++i) {
    const std::string item = "v" + std::to_string(i % kItems);
    EXPECT_TRUE(std::binary_search(known.begin(), known.end(), item)) << item;
    EXPECT_TRUE(IsSeen("big", item)) << item;
  }
  EXPECT_FALSE(std::binary_search(known.begin(), known.end(), "old0"));
}

// The process dies at each write of the erasure: all or nothing of it is visible, and the rows that
// are left go when the database is open again.
TEST_F(ErasePiecesTest, ACrashBetweenPiecesIsGoneOnWith) {
  Prepare();
  const uint64_t rows = Rows("big");
  Kill();
  const std::unique_ptr<MemDisk> base = std::move(disk_);
  int interrupted = 0;
  bool crashed = true;
  for (int step = 0; crashed; ++step) {
    SCOPED_TRACE("write " + std::to_string(step) + " of the log");
    ASSERT_LT(step, 200);
    engine_.reset();
    disk_ = base->Clone();
    clock_.Set(kStartMs + 1000);
    Open();
    disk_->CrashAt(MemDisk::kAppend, ".log", step);
    const Status erased = engine_->EraseUser(IdRef("big"));
    crashed = disk_->crashed();
    EXPECT_EQ(erased.ok(), !crashed) << erased.ToString();
    Kill();
    Open();
    const bool gone = History("big").empty();
    EXPECT_EQ(IsSeen("big", "v0"), !gone);
    EXPECT_TRUE(IsSeen("small", "v0"));
    if (!gone) {
      EXPECT_EQ(Rows("big"), rows);
      continue;
    }
    interrupted += Rows("big") > 0 ? 1 : 0;
    clock_.Advance(1000);
    Watch("big", {"v1", "new"}, "a");
    ASSERT_TRUE(engine_->Drain().ok());
    EXPECT_EQ(History("big"), (Items{"new", "v1"}));
    ASSERT_TRUE(engine_->RunDue().ok());
    EXPECT_EQ(History("big"), (Items{"new", "v1"}));
    EXPECT_EQ(Rows("big"), 4u);
    engine_.reset();
    EXPECT_EQ(Unfinished(), 0u);
  }
  EXPECT_GT(interrupted, 5);
}

// What was acknowledged holds when the power fails just then.
TEST_F(ErasePiecesTest, APowerCutAfterItKeepsIt) {
  Prepare();
  ASSERT_TRUE(engine_->EraseUser(IdRef("big")).ok());
  disk_->Crash();
  engine_.reset();
  disk_->PowerCut(1);
  disk_->Revive();
  Open();
  EXPECT_EQ(History("big"), Items{});
  EXPECT_FALSE(IsSeen("big", "v0"));
  ASSERT_TRUE(engine_->RunDue().ok());
  EXPECT_EQ(Rows("big"), 0u);
}

// A disk that fails between two pieces: the call says so, and the rows go once the disk works.
TEST_F(ErasePiecesTest, AFailureBetweenPiecesIsGoneOnWith) {
  Prepare();
  disk_->Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::IOError("injected"), 3);
  EXPECT_FALSE(engine_->EraseUser(IdRef("big")).ok());
  EXPECT_EQ(History("big"), Items{});
  EXPECT_GT(Rows("big"), 0u);
  disk_->Clear();
  ASSERT_TRUE(engine_->RunDue().ok());
  ASSERT_TRUE(engine_->RunDue().ok());
  EXPECT_EQ(Rows("big"), 0u);
  engine_.reset();
  EXPECT_EQ(Unfinished(), 0u);
}

// Rows dated after the erasure go with it as well.
TEST_F(ErasePiecesTest, LaterRowsGoAtOnce) {
  Prepare();
  Watch("big", Numbered("later", 5), "a", kStartMs + kHourMs);
  ASSERT_TRUE(engine_->Drain().ok());
  Watch("big", {"staged", "v0"}, "a", kStartMs + kHourMs);
  ASSERT_TRUE(engine_->EraseUser(IdRef("big")).ok());
  EXPECT_EQ(Rows("big"), 0u);
  clock_.Advance(2 * kHourMs);
  EXPECT_EQ(History("big"), Items{});
  ASSERT_TRUE(engine_->Drain().ok());
  EXPECT_EQ(History("big"), Items{});
}

// A copy made between two pieces goes on with them too.
TEST_F(ErasePiecesTest, ACheckpointKeepsWhatIsToBeGoneOnWith) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Prepare();
  disk_->Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::IOError("injected"), 3);
  EXPECT_FALSE(engine_->EraseUser(IdRef("big")).ok());
  disk_->Clear();
  Hold hold("heal: opened anew");
  std::future<Status> drained = std::async(std::launch::async, [this] { return engine_->Drain(); });
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_GT(Rows("big"), 0u);
  EXPECT_TRUE(engine_->Checkpoint("/data/copy").ok());
  hold.Release();
  EXPECT_TRUE(drained.get().ok());
  EXPECT_EQ(Rows("big"), 0u) << "a drain by hand goes on with them";
  engine_.reset();
  Seams seams;
  seams.clock = &clock_;
  seams.env = disk_->env();
  auto opened = Engine::Open("/data/copy", options_, seams);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  engine_ = std::move(opened).value();
  EXPECT_EQ(History("big"), Items{});
  ASSERT_TRUE(engine_->RunDue().ok());
  EXPECT_EQ(Rows("big"), 0u);
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
