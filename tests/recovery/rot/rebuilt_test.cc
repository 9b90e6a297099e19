// What a shard that a repair makes anew must not bring back: offsets whose plays are gone, offsets
// and days that were deleted, markers of a state its tables are not in; and of records that tables
// and logs hold in several versions, which one counts.

#include "seendb/repair.h"
#include "support/rot_fixture.h"
#include "tables/data_loss.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class RebuiltTest : public RotFixture {
 protected:
  RebuiltTest() { options_.shards = 1; }

  std::string Shard() const { return ShardPath(Path(), 0); }
  // Closed, with all of it in tables.
  void CloseAndFlush() {
    engine_.reset();
    for (uint32_t shard = 0; shard < options_.shards; ++shard) {
      RawShard raw(Path(), shard);
      for (const std::string& family : raw.families()) raw.Flush(family);
    }
    OpenAndClose();
  }
  // What was done behind the engine's back is noted in FILES: only then the loss of half a MANIFEST
  // can be told.
  void OpenAndClose() {
    Open();
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
  void ReopenFlushed() {
    CloseAndFlush();
    Open();
  }
  std::set<fs::path> FilesOf(const std::string& extension) const {
    std::set<fs::path> files;
    for (const auto& file : fs::directory_iterator(Shard())) {
      if (file.path().extension() == extension) files.insert(file.path());
    }
    return files;
  }
  // Makes shard 0 anew.
  void RepairRebuilt() {
    engine_.reset();
    HalveManifest();
    Seams seams;
    seams.clock = &clock_;
    const Result<RepairReport> repaired = Repair(Path(), {}, seams);
    ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
    report_ = *repaired;
  }
  void RepairAndOpen() {
    ASSERT_NO_FATAL_FAILURE(RepairRebuilt());
    Open();
  }
  std::string TextOfReport() const {
    std::string text;
    for (const auto& lines : {report_.losses, report_.notes}) {
      for (const std::string& line : lines) text += line + "\n";
    }
    return text;
  }
  Policy PolicyOf(const std::string& collection) {
    for (const CollectionInfo& info : engine_->Collections()) {
      if (info.name == collection) return info.policy;
    }
    ADD_FAILURE() << "no collection " << collection;
    return {};
  }
  std::optional<int64_t> NextOf(const std::string& topic) {
    for (const SourceInfo& info : engine_->Sources()) {
      if (info.topic == topic) return info.next_offset;
    }
    return {};
  }
  bool Knows(const std::string& topic) {
    const std::vector<SourceInfo> all = engine_->Sources();
    return std::any_of(all.begin(), all.end(),
                       [&](const SourceInfo& one) { return one.topic == topic; });
  }

  RepairReport report_;
};

// Offsets may be in a table whose plays were in a log.
TEST_F(RebuiltTest, NoOffsetWithoutItsPlays) {
  Open();
  Ingest("plays", 0, Numbered("v", 100), {"u"});
  engine_.reset();
  RawShard(Path()).Flush("default");
  OpenAndClose();
  for (const fs::path& log : FilesOf(".log")) fs::resize_file(log, 0);
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(NextOf("plays"), std::nullopt);
  EXPECT_TRUE(Knows("plays")) << "else it would be taken for new, and be read from its end";
  EXPECT_EQ(Unseen("u", {"v5"}), Items{"v5"});
  EXPECT_NE(TextOfReport().find("plays/0"), std::string::npos) << TextOfReport();
  Ingest("plays", 0, Numbered("v", 100), {"u"});
  EXPECT_EQ(ingested_now_.accepted, 100u) << "read again";
  EXPECT_EQ(Unseen("u", {"v5"}), Items{});
}

TEST_F(RebuiltTest, NoOffsetOfAForgottenTopic) {
  Open();
  Ingest("plays", 0, Numbered("old", 100), {"u"});
  ReopenFlushed();
  ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  Ingest("other", 0, {"x"}, {"u"});
  CloseAndFlush();
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(NextOf("plays"), std::nullopt);
  Ingest("plays", 0, Numbered("new", 200), {"u"});
  EXPECT_EQ(ingested_now_.accepted, 200u);
  EXPECT_EQ(Unseen("u", {"old1", "new5", "new150"}), Items{});
}

// One of two shards is made anew: of the log the lowest offset is unknown, so that it is read from
// its beginning, where the other shard leaves out what it has.
TEST_F(RebuiltTest, OneShardOfTwoIsReadAgain) {
  options_.shards = 2;
  Open();
  const auto user_of = [&](uint32_t shard) {
    for (int i = 0;; ++i) {
      const std::string user = "w" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard) return user;
    }
  };
  const Items users{user_of(0), user_of(1)};
  Ingest("gone", 0, Numbered("old", 100), users);
  ReopenFlushed();
  ASSERT_TRUE(engine_->ForgetTopic("gone").ok());
  Ingest("plays", 0, Numbered("v", 100), users);
  CloseAndFlush();
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_TRUE(Knows("plays")) << "by the other shard";
  EXPECT_EQ(NextOf("plays"), std::nullopt);
  EXPECT_EQ(NextOf("gone"), std::nullopt);
  Ingest("plays", 0, Numbered("v", 100), users);
  EXPECT_EQ(ingested_now_.accepted, 100u) << "of the shard that was made anew";
  EXPECT_EQ(ingested_now_.repeated, 100u);
  EXPECT_EQ(NextOf("plays"), 200);
  Ingest("gone", 0, Numbered("new", 100), users);
  EXPECT_EQ(ingested_now_.accepted, 200u) << "a new topic of that name";
  for (const std::string& user : users) {
    EXPECT_EQ(Unseen(user, {"old1", "v1", "v99", "new1", "new99"}), Items{});
  }
}

// What is written anew is merge operands: no bucket is sealed any more.
TEST_F(RebuiltTest, BucketsAreSealedAgain) {
  Open();
  Play("u", Numbered("v", 300), kStartMs - 31 * kDayMs);
  Drain();
  ASSERT_TRUE(engine_->SealClosed().ok());
  const auto february = [&] {
    for (const BucketInfo& bucket : engine_->Buckets()) {
      if (bucket.bucket == "2026-02") return bucket.state;
    }
    ADD_FAILURE() << "no bucket";
    return BucketState::kOpen;
  };
  EXPECT_EQ(february(), BucketState::kSealed);
  CloseAndFlush();
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(february(), BucketState::kClosed);
  const uint64_t before = engine_->Stats().buckets_sealed;
  ASSERT_TRUE(engine_->SealClosed().ok());
  EXPECT_EQ(engine_->Stats().buckets_sealed, before + 1);
  EXPECT_EQ(february(), BucketState::kSealed);
  EXPECT_EQ(Unseen("u", Numbered("v", 300)), Items{});
}

// Journal records that were set aside: an erasure may have deleted them. Markers of losses are all
// kept, those that a newer version of them lacks too; what is not known is left as it is.
TEST_F(RebuiltTest, MarkersAndCopies) {
  const std::string lost = "lost/default/2026-03";
  Open();
  engine_.reset();
  {
    RawShard raw(Path());
    raw.Put("default", "damaged/ring/0/01", "of an erased user");
    raw.Put("default", lost, R"({"at_ms":2,"reason":"one","users":[["61","62"]]})");
    raw.Put("default", "lost/default/2026-02", R"({"at_ms":2,"reason":"dropped"})");
    raw.Put("default", "newer/software", "its value");
    raw.Flush("default");
    raw.Put("default", lost, R"({"at_ms":1,"reason":"two","users":[["63","64"]]})");
    ASSERT_TRUE(raw.db()->Delete({}, "lost/default/2026-02").ok());
  }
  OpenAndClose();
  ASSERT_NO_FATAL_FAILURE(RepairRebuilt());
  const std::map<std::string, std::string> rows = RawShard(Path()).All("default");
  EXPECT_FALSE(rows.contains("damaged/ring/0/01"));
  EXPECT_FALSE(rows.contains("lost/default/2026-02"));
  EXPECT_EQ(rows.at("newer/software"), "its value");
  const std::optional<DataLoss> joined = DataLoss::FromJson(rows.at(lost));
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->at_ms, 2);
  EXPECT_TRUE(joined->MayConcern("a"));
  EXPECT_TRUE(joined->MayConcern("c"));
  EXPECT_FALSE(joined->MayConcern("b"));
}

// ---- Which version counts ----

class VersionsTest : public RebuiltTest {
 protected:
  void PutRetention(uint32_t retention) {
    PolicyPatch patch;
    patch.retention = retention;
    Put("c", patch);
  }
};

// Files are told by number in names of six digits and more: "1000000.sst" sorts before
// "999999.sst".
TEST_F(VersionsTest, NewerTablesBehindFile999999) {
  Open();
  PutRetention(4);
  CloseAndFlush();
  const std::set<fs::path> older = FilesOf(".sst");
  Open();
  PutRetention(12);
  CloseAndFlush();
  int number = 1'000'000;
  for (const fs::path& table : FilesOf(".sst")) {
    const bool first = table == *older.begin();
    if (older.contains(table) && !first) continue;
    fs::rename(table, Shard() + (first ? "/999999" : "/" + std::to_string(number++)) + ".sst");
  }
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(PolicyOf("c").retention, 12u);
}

// Numbers of files tell nothing either, where a compaction was under way.
TEST_F(VersionsTest, ByTheSequenceNotByTheFile) {
  Open();
  PutRetention(4);
  CloseAndFlush();
  const std::set<fs::path> older = FilesOf(".sst");
  Open();
  PutRetention(12);
  CloseAndFlush();
  int number = 2'000'000;
  for (const fs::path& table : older) {
    fs::rename(table, Shard() + "/" + std::to_string(number++) + ".sst");
  }
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(PolicyOf("c").retention, 12u);
}

// A log stays as long as any family needs it, and may hold what tables have a newer version of.
TEST_F(VersionsTest, ATableThatIsNewerThanALog) {
  Open();
  PutRetention(12);
  Play("u", {"v"});  // its journal needs the logs from here on
  engine_.reset();
  std::set<fs::path> kept;
  {
    RawShard raw(Path());
    const std::string newer = raw.All("default").at("collection/c");
    std::string older = newer;
    older.replace(older.find("\"retention\":12"), 14, "\"retention\":5");
    raw.Put("default", "collection/c", older);
    kept = FilesOf(".log");
    raw.Flush("default");
    raw.Put("default", "collection/c", newer);
    raw.Flush("default");
  }
  OpenAndClose();
  const std::set<fs::path> logs = FilesOf(".log");
  ASSERT_GT(logs.size(), kept.size());
  for (const fs::path& log : logs) {
    if (!kept.contains(log)) fs::resize_file(log, 0);
  }
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(PolicyOf("c").retention, 12u);
}

// ---- Active days ----

class DaysTest : public RebuiltTest {
 protected:
  void MakeAndErase() {
    Open();
    PolicyPatch patch;
    patch.first_of_day = true;
    for (const char* collection : {"c", "d"}) Put(collection, patch);
    for (const char* user : {"alice", "bob"}) {
      for (const char* collection : {"c", "d"}) EXPECT_EQ(FirstsToday(user, collection), 1u);
    }
    ReopenFlushed();
    clock_.Advance(1000);
    ASSERT_TRUE(engine_->EraseUser(IdRef("alice")).ok());
  }
  size_t FirstsToday(const std::string& user, const std::string& collection) {
    const std::string item = "v" + std::to_string(++played_);
    const seendb::Play play{IdRef(user), IdRef(item)};
    const auto done = engine_->RecordPlays({&play, 1}, {.collection = collection});
    EXPECT_TRUE(done.ok()) << done.status().ToString();
    return done.ok() ? done->first_today.size() : 99;
  }
  // Rows of the user's in the family users.
  size_t Rows(const std::string& user) {
    size_t rows = 0;
    const Status scanned = engine_->Scan("users", [&](const ScanRow& row) {
      rows += row.key.find(user) != std::string::npos ? 1 : 0;
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return rows;
  }

  int played_ = 0;
};

TEST_F(DaysTest, AnErasureInATable) {
  MakeAndErase();
  CloseAndFlush();
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(Rows("alice"), 1u) << "the erasure alone";
  EXPECT_EQ(Rows("bob"), 2u);
  clock_.Advance(60'000);
  EXPECT_EQ(FirstsToday("alice", "c"), 1u);
  EXPECT_EQ(FirstsToday("bob", "c"), 0u);
}

TEST_F(DaysTest, AnErasureInTheLog) {
  MakeAndErase();
  clock_.Advance(60'000);
  EXPECT_EQ(FirstsToday("alice", "c"), 1u);
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(FirstsToday("alice", "c"), 0u) << "the log tells the order";
  EXPECT_EQ(FirstsToday("alice", "d"), 1u);
}

TEST_F(DaysTest, ADayAfterTheErasureStays) {
  MakeAndErase();
  clock_.Advance(kDayMs);
  EXPECT_EQ(FirstsToday("alice", "c"), 1u);
  CloseAndFlush();
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(FirstsToday("alice", "c"), 0u);
  EXPECT_EQ(FirstsToday("alice", "d"), 1u);
}

// ---- A lost part of the log ----

class LostLogTest : public RebuiltTest {
 protected:
  // Where the log is damaged, "secret" of the erased user comes back.
  void MakeAndErase() {
    Open();
    Play(kErased, {"secret"});
    Drain();
    ReopenFlushed();
    Play("bob", Numbered("before", 50));
    clock_.Advance(1000);
    ASSERT_TRUE(engine_->EraseUser(IdRef(kErased)).ok());
    for (int i = 0; i < 1000; ++i) Play("bob", {"after" + std::to_string(i)});
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    int damaged = 0;
    for (const fs::path& log : FilesOf(".log")) {
      std::ifstream in(log, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(in), {});
      const size_t at = bytes.find(kErased);
      if (at == std::string::npos) continue;
      FlipBits(log, at, 1);
      ++damaged;
    }
    ASSERT_GT(damaged, 0);
  }
  Result<RepairReport> Run(bool dry_run) {
    Seams seams;
    seams.clock = &clock_;
    return Repair(Path(), {.dry_run = dry_run}, seams);
  }
  static bool NamesErasures(const std::vector<std::string>& lines) {
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("erasures, deletions, clears") != std::string::npos;
    });
  }
  void ExpectProblemNamesErasures() {
    EXPECT_TRUE(NamesErasures(engine_->Stats().problems));
    EXPECT_EQ(Unseen(kErased, {"secret"}), Items{}) << "the erasure is in the log's other part";
    EXPECT_TRUE(answer_.degraded);
  }
};

TEST_F(LostLogTest, IsRepaired) {
  MakeAndErase();
  for (const bool dry_run : {true, false}) {
    const Result<RepairReport> report = Run(dry_run);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    ASSERT_EQ(report->losses.size(), 1u);
    EXPECT_TRUE(NamesErasures(report->losses)) << report->losses[0];
  }
  Open();
  ExpectProblemNamesErasures();
  Reopen();
  ExpectProblemNamesErasures();
}

TEST_F(LostLogTest, IsMadeAnewWithItsShard) {
  MakeAndErase();
  HalveManifest();
  for (const bool dry_run : {true, false}) {
    const Result<RepairReport> report = Run(dry_run);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_TRUE(NamesErasures(report->losses)) << dry_run;
  }
  Open();
  ExpectProblemNamesErasures();
}

TEST_F(LostLogTest, IsOpenedDamaged) {
  MakeAndErase();
  options_.open_damaged = true;
  Open();
  ExpectProblemNamesErasures();
  options_.open_damaged = false;
  Reopen();
  ExpectProblemNamesErasures();
}

// A table of a journal has plays alone.
TEST_F(LostLogTest, StagedPlaysAreNoErasures) {
  Open();
  Play("bob", Numbered("v", 50));
  CloseAndFlush();
  std::vector<std::string> files;
  for (const std::string& file : RawShard(Path()).Files("ring/0")) files.push_back(file);
  ASSERT_EQ(files.size(), 1u);
  FlipBits(files[0], 20, 1);
  const Result<RepairReport> report = Run(false);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_FALSE(report->losses.empty());
  EXPECT_FALSE(NamesErasures(report->losses)) << report->losses[0];
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
