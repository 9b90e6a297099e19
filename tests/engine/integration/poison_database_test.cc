// Poison inside a database: in filters, impressions, user records and the journal. Opening,
// flushing, compacting, sealing and every neighbour go on; the poison is counted, shown, and an
// answer that met it says so.

#include <algorithm>
#include <map>

#include "format/filter_codec.h"
#include "format/journal_codec.h"
#include "support/engine_fixture.h"
#include "support/poison.h"
#include "support/raw_shard.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr char kSeen[] = "seen/default/2026-03";
constexpr char kImpressions[] = "impressions/default";

class PoisonTest : public EngineTest {
 protected:
  PoisonTest() { options_.shards = 1; }

  // Neighbours with plays in the filters and impressions.
  void MakeNeighbours() {
    Open();
    for (const std::string user : {"a", "m", "z", "sick"}) {
      Play(user, Numbered("v", 40));
      Serve(user, {"served"});
    }
    Drain();
    engine_.reset();
  }
  void ExpectNeighboursWell() {
    for (const std::string user : {"a", "m", "z"}) {
      EXPECT_EQ(Unseen(user, Numbered("v", 42)), (Items{"v40", "v41"})) << user;
      EXPECT_EQ(Unseen(user, {"served", "other"}), Items{"other"}) << user;
      EXPECT_EQ(answer_.missing, lacking_) << user;
    }
  }
  // Nothing but reads, flushes, compactions and seals of what there is.
  void ExpectTheDatabaseWorks() {
    ExpectNeighboursWell();
    Play("m", {"new"});
    Drain();
    ASSERT_TRUE(engine_->Compact().ok());
    ExpectNeighboursWell();
    const Status sealed = engine_->Seal("default", "2026-03");
    ASSERT_TRUE(sealed.ok()) << sealed.ToString();
    ExpectNeighboursWell();
    EXPECT_EQ(Unseen("m", {"new"}), Items{});
    for (const std::string& problem : engine_->Stats().problems) {
      EXPECT_EQ(problem.find("RocksDB"), std::string::npos) << problem;
    }
  }
  // The labels an answer for "sick" says it lacks.
  std::vector<std::string> MissingOf(const std::string& user) {
    Unseen(user, {"v0"});
    EXPECT_EQ(answer_.degraded, !answer_.missing.empty());
    return answer_.missing;
  }
  uint64_t DamagedKeys() {
    const auto verified = engine_->Verify();
    EXPECT_TRUE(verified.ok()) << verified.status().ToString();
    return verified.ok() ? verified->damaged : 0;
  }

  Items lacking_;  // what the neighbours' answers say they may lack
  std::mt19937_64 random_{test::Seed()};
};

TEST_F(PoisonTest, AnOperandIsSetAside) {
  MakeNeighbours();
  {
    RawShard shard(Path());
    shard.Merge(kSeen, "sick", Noise(random_, 50));
    shard.Flush(kSeen);
    shard.Merge(kSeen, "sick", std::string("\x11") + Noise(random_, 20));
    shard.Merge(kSeen, "new", "not a filter");
  }
  Open();
  EXPECT_EQ(MissingOf("sick"), Items{"2026-03"});
  EXPECT_EQ(Unseen("sick", Numbered("v", 42)), (Items{"v40", "v41"})) << "the sound operands count";
  EXPECT_TRUE(answer_.degraded);
  EXPECT_EQ(MissingOf("new"), Items{"2026-03"});
  const auto report = engine_->Inspect(IdRef("sick"));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->buckets.size(), 1u);
  EXPECT_EQ(report->buckets[0].damaged, 2u);
  EXPECT_EQ(report->buckets[0].items, 40u);
  EXPECT_EQ(DamagedKeys(), 2u);
  EXPECT_GT(engine_->Stats().damaged, 0u);
  EXPECT_GT(engine_->Stats().filters_degraded, 0u);
  ExpectTheDatabaseWorks();
  EXPECT_EQ(DamagedKeys(), 2u) << "still shown when compacted and sealed";
  Play("new", {"v1"});
  Drain();
  EXPECT_EQ(Unseen("new", {"v1", "v2"}), Items{"v2"});
  EXPECT_TRUE(answer_.degraded);
}

TEST_F(PoisonTest, AWholeValueIsUnreadableUntilSomethingIsMergedOntoIt) {
  MakeNeighbours();
  {
    RawShard shard(Path());
    shard.Put(kSeen, "sick", Noise(random_, 600));
  }
  Open();
  EXPECT_EQ(MissingOf("sick"), Items{"2026-03"});
  EXPECT_EQ(Unseen("sick", {"v1"}), Items{"v1"}) << "lost, and said to be";
  auto report = engine_->Inspect(IdRef("sick"));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->buckets.size(), 1u);
  EXPECT_FALSE(report->buckets[0].readable);
  EXPECT_EQ(report->buckets[0].damaged, 1u);
  FilterRequest request;
  const IdRef item("v1");
  request.user = IdRef("sick");
  request.items = {&item, 1};
  request.on_error = OnError::kFail;
  EXPECT_EQ(engine_->Filter(request, &answer_).code(), StatusCode::kUnavailable);
  EXPECT_EQ(DamagedKeys(), 1u);
  ExpectTheDatabaseWorks();
  Play("sick", {"v1"});
  Drain();
  EXPECT_EQ(Unseen("sick", {"v1", "v2"}), Items{"v2"});
  EXPECT_TRUE(answer_.degraded) << "what was there is still gone";
  report = engine_->Inspect(IdRef("sick"));
  EXPECT_TRUE(report->buckets[0].readable);
  EXPECT_EQ(report->buckets[0].damaged, 1u);
}

// Poison put, merged onto and flushed out of one memtable: the case in which a failing operator
// would keep the database from ever opening again.
TEST_F(PoisonTest, ABaseInTheMemtableDoesNotFailTheFlush) {
  MakeNeighbours();
  {
    RawShard shard(Path());
    for (const char* user : {"sick", "sicker"}) {
      shard.Put(kSeen, user, Noise(random_, 100));
      shard.Merge(kSeen, user, Noise(random_, 100));
      shard.Put(kImpressions, user, Noise(random_, 100));
      shard.Merge(kImpressions, user, Noise(random_, 100));
      shard.Put("users", user, Noise(random_, 100));
      shard.Merge("users", user, Noise(random_, 100));
    }
    shard.Flush(kSeen);
    shard.Flush(kImpressions);
    shard.Flush("users");
  }
  for (int opening = 0; opening < 2; ++opening) {
    Open();
    EXPECT_EQ(MissingOf("sick"), (Items{"impressions", "2026-03"}));
    EXPECT_EQ(DamagedKeys(), 6u);
    ExpectTheDatabaseWorks();
    engine_.reset();
  }
}

TEST_F(PoisonTest, Impressions) {
  MakeNeighbours();
  {
    RawShard shard(Path());
    shard.Merge(kImpressions, "sick", Noise(random_, 30));
    shard.Put(kImpressions, "sicker", Noise(random_, 30));
  }
  Open();
  EXPECT_EQ(MissingOf("sick"), Items{"impressions"});
  EXPECT_EQ(Unseen("sick", {"served"}), Items{});
  EXPECT_EQ(MissingOf("sicker"), Items{"impressions"});
  auto report = engine_->Inspect(IdRef("sick"));
  ASSERT_EQ(report->impressions.size(), 1u);
  EXPECT_EQ(report->impressions[0].damaged, 1u);
  EXPECT_EQ(report->impressions[0].entries.size(), 1u);
  report = engine_->Inspect(IdRef("sicker"));
  ASSERT_EQ(report->impressions.size(), 1u);
  EXPECT_FALSE(report->impressions[0].readable);
  EXPECT_EQ(DamagedKeys(), 2u);
  Serve("sicker", {"then"});
  EXPECT_EQ(Unseen("sicker", {"then", "v0"}), Items{"v0"});
  EXPECT_TRUE(answer_.degraded);
  ExpectTheDatabaseWorks();
}

// A poisoned user record forgets no erasure.
TEST_F(PoisonTest, UserRecords) {
  MakeNeighbours();
  Open();
  Play("sick", {"staged"});
  engine_.reset();
  std::map<std::string, std::map<std::string, std::string>> journal;
  {
    RawShard shard(Path());
    for (const std::string& name : shard.families()) {
      if (name.starts_with("ring/")) journal[name] = shard.All(name);
    }
  }
  Open();
  ASSERT_TRUE(engine_->EraseUser(IdRef("sick")).ok());
  Drain();
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Merge("users", "sick", Noise(random_, 30));
    shard.Put("users", "noise", Noise(random_, 30));
    shard.Put("users", "", "");
    for (const auto& [name, records] : journal) {
      for (const auto& [key, value] : records) shard.Put(name, key, value);
    }
  }
  Open();
  EXPECT_EQ(Unseen("sick", {"v0", "staged"}), (Items{"v0", "staged"})) << "stays erased";
  EXPECT_EQ(Play("sick", {"again"}, kStartMs - 10), 0u) << "not after the erasure";
  EXPECT_EQ(DamagedKeys(), 3u);
  const EngineStats stats = engine_->Stats();
  EXPECT_TRUE(stats.degraded);
  EXPECT_GE(stats.damaged, 1u);
  ExpectTheDatabaseWorks();
}

// Nobody can tell whose plays a damaged record held: until no bucket of its time is read, every
// answer says that it may lack some.
TEST_F(PoisonTest, JournalRecordsAreSetAsideAndTheOthersReplayed) {
  MakeNeighbours();
  lacking_ = {"log"};
  Open();
  Play("m", {"staged"});
  engine_.reset();
  JournalEncoder encoder;
  const auto record = [&](std::string_view collection, int64_t bucket) {
    encoder.Begin(collection, bucket);
    encoder.Add("m", bucket, 12345);
    return std::string(encoder.Finish());
  };
  const std::string good = record("default", BucketIndexOf({}, kStartMs));
  size_t put = 0;
  {
    RawShard shard(Path());
    const auto add = [&](const std::string& key, const std::string& value) {
      shard.Put("ring/0", key, value);
      ++put;
    };
    add("not a sequence", good);
    add(SequenceKey(1), Noise(random_, 100));
    add(SequenceKey(2), "");
    add(SequenceKey(3), Damaged(random_, good));
    add(SequenceKey(4), record("unknown", 10));
    add(SequenceKey(5), record("default", INT64_MAX));
    add(SequenceKey(6), record("default", INT64_MIN));
    add(SequenceKey(7), record("default", int64_t{1} << 40));
  }
  Open();
  EXPECT_EQ(Unseen("m", {"staged", "other"}), Items{"other"});
  EngineStats stats = engine_->Stats();
  EXPECT_EQ(stats.replayed_records, put + 1);
  EXPECT_EQ(stats.damaged, put);
  EXPECT_TRUE(stats.degraded);
  EXPECT_GE(DamagedKeys(), put) << "set aside under damaged/";
  ExpectTheDatabaseWorks();
  Reopen();
  EXPECT_EQ(engine_->Stats().replayed_records, 0u);
  EXPECT_EQ(Unseen("m", {"staged", "other"}), Items{"other"});
  EXPECT_EQ(answer_.missing, lacking_);
  for (const BucketInfo& bucket : engine_->Buckets()) {
    EXPECT_EQ(bucket.bucket.size(), 7u) << "a bucket of no calendar: " << bucket.bucket;
  }
  clock_.Advance(100 * kDayMs);
  Unseen("m", {"other"});
  EXPECT_EQ(answer_.missing, lacking_) << "March is still read";
  clock_.Advance(30 * kDayMs);
  Unseen("m", {"other"});
  EXPECT_FALSE(answer_.degraded);
}

// Whatever lies in a family of journal records with a checksum that fits.
TEST_F(PoisonTest, ForgedJournalsOpenDrainAndOpenAgain) {
  MakeNeighbours();
  JournalEncoder encoder;
  for (int round = 0; round < 6; ++round) {
    {
      RawShard shard(Path());
      for (uint64_t i = 0; i < 60; ++i) {
        const int64_t now = BucketIndexOf({}, kStartMs);
        encoder.Begin("default", now);
        for (int p = 0; p < 5; ++p) encoder.Add("sick", now - p, random_() & kFingerprintMask);
        const std::string sound(encoder.Finish());
        shard.Put("ring/" + std::to_string(round % 6), SequenceKey(1000 + i),
                  Forged(random_, sound));
      }
    }
    Open();
    lacking_ = {"log"};  // of sixty, not all are sound
    ExpectNeighboursWell();
    Drain();
    ExpectNeighboursWell();
    engine_.reset();
  }
  Open();
  ExpectTheDatabaseWorks();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
