// A log is ingested while the process dies, the power is cut, or the disk fails, anywhere: no shard
// ever knows an offset beyond its plays, and at the end each play of the log counts exactly once.
//
// SEENDB_SEED=N starts at that seed, SEENDB_ROUNDS=N does so many times as much. A failure names
// its seed.

#include "seendb/ingest.h"

#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/options.h"
#include "support/sample.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr uint64_t kSeeds = 9;
constexpr uint32_t kShards = 3;
constexpr int64_t kMessages = 600;
constexpr int kCrashes = 6;
constexpr int kTries = 2'000;  // calls a life; more than any needs

// The log: offsets 0 .. kMessages-1; every tenth message holds no play.
bool Dead(int64_t offset) { return offset % 10 == 9; }
std::string UserOf(int64_t offset) { return "u" + std::to_string(offset * 7 % 40); }
std::string ItemOf(int64_t offset) { return "i" + std::to_string(offset); }

class Ingestion {
 public:
  explicit Ingestion(uint64_t seed) : random_(seed), clock_(kStartMs) {
    options_.background = false;
    options_.shards = kShards;
    options_.ring_slots = 3;
    options_.list_limit = 16;
    options_.block_cache_bytes = 1 << 20;
    options_.write_buffer_bytes = 1 << 18;
    policy_.durability = static_cast<Durability>(seed % 3);
    policy_.representation = Representation::kExact;
  }

  void Crashes(bool power_cuts) {
    for (int crash = 0; crash < kCrashes; ++crash) {
      const uint32_t kinds[] = {MemDisk::kWriting, MemDisk::kSync, MemDisk::kAppend};
      disk_.CrashAt(kinds[Below(3)], "", static_cast<int>(Below(uint64_t{4} << Below(7))));
      if (Open()) Read();
      disk_.Crash();
      engine_.reset();
      if (power_cuts) disk_.PowerCut(random_());
      disk_.Revive();
      disk_.Clear();
      ASSERT_TRUE(Open());
      CheckNotAhead();
      engine_.reset();
      if (::testing::Test::HasFailure()) return;
    }
    ASSERT_TRUE(Open());
    Finish();
  }

  // The log has a batch whose sync failed; the shard comes back without it, and dies.
  void FailedSync() {
    policy_.durability = Durability::kSync;
    ASSERT_TRUE(Open());
    ASSERT_TRUE(Ingest(0, 100).ok());
    disk_.Fail(MemDisk::kSync, ".log", rocksdb::IOStatus::IOError("broken"), 0, 1);
    ASSERT_FALSE(Ingest(100, 200).ok());
    const Status due = engine_->RunDue();
    ASSERT_TRUE(due.ok()) << due.ToString();
    disk_.Crash();
    engine_.reset();
    disk_.Revive();
    ASSERT_TRUE(Open());
    CheckNotAhead();
    Finish();
  }

  // Then works again.
  void FailingDisk() {
    ASSERT_TRUE(Open());
    for (int failure = 0; failure < kCrashes; ++failure) {
      const rocksdb::IOStatus error = rocksdb::IOStatus::IOError("broken");
      const int skip = static_cast<int>(Below(uint64_t{2} << Below(7)));
      const int times = Below(2) == 0 ? 1 : -1;
      if (Below(2) == 0) {
        disk_.FailShort(MemDisk::kAppend, "", error, skip, times);
      } else {
        disk_.Fail(MemDisk::kAppend | MemDisk::kSync, "", error, skip, times);
      }
      Read(40);
      disk_.Clear();
      if (Below(3) != 0) continue;
      // Dies before it has come back; what a failed sync may have taken, is taken.
      disk_.Crash();
      engine_.reset();
      disk_.Revive();
      ASSERT_TRUE(Open());
      CheckNotAhead();
      if (::testing::Test::HasFailure()) return;
    }
    ASSERT_NO_FATAL_FAILURE(ReadToTheEnd());
    // What failed behind the last message nobody asked to come back: the closing may say it.
    static_cast<void>(engine_->Close());
    engine_.reset();
    ASSERT_TRUE(Open());
    Finish();
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  bool Open() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk_.env();
    auto opened = Engine::Open("/data/db", options_, seams);
    if (opened.ok()) {
      PolicyPatch patch;
      patch.durability = policy_.durability;
      patch.representation = policy_.representation;
      const Status put = (*opened)->PutCollection("c", patch);
      if (put.ok()) {
        engine_ = std::move(opened).value();
        return true;
      }
      EXPECT_TRUE(disk_.crashed()) << put.ToString();
      return false;
    }
    EXPECT_TRUE(disk_.crashed()) << opened.status().ToString();
    return false;
  }

  int64_t Next() {
    const std::vector<SourceInfo> sources = engine_->Sources();
    return sources.empty() ? 0 : sources[0].next_offset.value_or(0);
  }

  Status Ingest(int64_t from, int64_t to) {
    std::vector<std::string> texts;
    texts.reserve(static_cast<size_t>(to - from) * 2);
    std::vector<Play> plays;
    std::vector<Origin> origins;
    std::vector<int64_t> dead;
    for (int64_t offset = from; offset < to; ++offset) {
      if (Dead(offset)) {
        dead.push_back(offset);
        continue;
      }
      const std::string& user = texts.emplace_back(UserOf(offset));
      const std::string& item = texts.emplace_back(ItemOf(offset));
      plays.push_back({IdRef(user), IdRef(item), kStartMs});
      origins.push_back({0, offset});
    }
    const SourceStep step{"plays", 0, to, dead};
    return engine_
        ->Ingest({.collection = "c", .sources = {&step, 1}, .plays = plays, .origins = origins})
        .status();
  }

  // As a consumer: a batch after the other, each until it is taken.
  void Read(int calls = kTries) {
    int64_t next = Next();
    for (int i = 0; i < calls && next < kMessages && !disk_.crashed(); ++i) {
      const int64_t to = std::min<int64_t>(kMessages, next + 1 + static_cast<int64_t>(Below(30)));
      if (Ingest(next, to).ok()) next = to;
      Upkeep();
    }
  }

  // What else goes on; where the disk fails it may fail.
  void Upkeep() {
    const uint64_t dice = Below(12);
    Status status;
    if (dice == 0) status = engine_->Drain();
    if (dice == 1) status = engine_->Sync();
    if (dice == 2) status = engine_->RunDue();
    static_cast<void>(status);
  }

  // Where each shard stands, by its own record.
  std::map<uint32_t, int64_t> ByShard() {
    std::map<uint32_t, int64_t> next;
    const Status scanned = engine_->Scan("default", [&](const ScanRow& row) {
      if (row.key == "source/plays/0") {
        next[row.shard] = nlohmann::json::parse(row.value).at("next_offset").get<int64_t>();
      }
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return next;
  }

  bool Seen(int64_t offset) {
    const std::string user = UserOf(offset), item = ItemOf(offset);
    const IdRef items[] = {IdRef(item)};
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef(user);
    request.items = items;
    FilterResponse answer;
    const Status status = engine_->Filter(request, &answer);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(answer.degraded);
    return answer.unseen.empty();
  }

  void CheckNotAhead() {
    const std::map<uint32_t, int64_t> next = ByShard();
    for (int64_t offset = 0; offset < kMessages; ++offset) {
      const uint32_t shard = engine_->ShardOf(IdRef(UserOf(offset)));
      const auto at = next.find(shard);
      if (Dead(offset) || at == next.end() || offset >= at->second) continue;
      EXPECT_TRUE(Seen(offset)) << "shard " << shard << " is at " << at->second << " without "
                                << offset;
    }
  }

  void ReadToTheEnd() {
    for (int tries = 0; tries < 20 && Next() < kMessages; ++tries) {
      const Status due = engine_->RunDue();
      static_cast<void>(due);  // of a disk that failed a moment ago
      Read();
    }
    ASSERT_EQ(Next(), kMessages);
  }

  void Finish() {
    ASSERT_NO_FATAL_FAILURE(ReadToTheEnd());
    const Status closed = engine_->Close();
    ASSERT_TRUE(closed.ok()) << closed.ToString();
    ASSERT_TRUE(Open());
    EXPECT_EQ(Next(), kMessages);
    for (int64_t offset = 0; offset < kMessages; ++offset) {
      EXPECT_TRUE(Dead(offset) || Seen(offset)) << offset;
    }
    const SourceCounts counts = engine_->Stats().ingested;
    EXPECT_EQ(counts.plays_accepted, static_cast<uint64_t>(kMessages - kMessages / 10));
    EXPECT_EQ(counts.dead_letters, static_cast<uint64_t>(kMessages / 10));
    EXPECT_EQ(counts.plays_refused, 0u);
    engine_.reset();
  }

  std::mt19937_64 random_;
  ManualClock clock_;
  MemDisk disk_;
  Options options_ = test::FixedOptions();
  Policy policy_;
  std::unique_ptr<Engine> engine_;
};

void ForEachSeed(const std::function<void(uint64_t)>& run) {
  uint64_t rounds = 1;
  if (const char* text = std::getenv("SEENDB_ROUNDS")) rounds = std::strtoull(text, nullptr, 0);
  const uint64_t first = test::Seed();
  for (uint64_t seed = first; seed != first + test::SampledOf(kSeeds) * rounds; ++seed) {
    SCOPED_TRACE("SEENDB_SEED=" + std::to_string(seed));
    run(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(IngestFaults, KilledProcesses) {
  ForEachSeed([](uint64_t seed) { Ingestion(seed).Crashes(false); });
}

TEST(IngestFaults, PowerCuts) {
  ForEachSeed([](uint64_t seed) { Ingestion(seed).Crashes(true); });
}

TEST(IngestFaults, FailingDisks) {
  ForEachSeed([](uint64_t seed) { Ingestion(seed).FailingDisk(); });
}

TEST(IngestFaults, AFailedSync) { Ingestion(1).FailedSync(); }

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
