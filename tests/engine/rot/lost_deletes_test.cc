// A lost part of the log with the deletes of an erasure, or of a clear of filters, whose record is
// in a table: they are repeated, by a repair that leaves the shard in its place and by an opening
// with `open_damaged`. What came after the erasure stays.

#include "seendb/repair.h"
#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class LostDeletesTest : public RotFixture {
 protected:
  LostDeletesTest() { options_.shards = 1; }

  void SetUp() override {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.first_of_day = true;
    Put("watched", patch);
  }
  // Closed, with all of it in tables.
  void CloseAndFlush() {
    engine_.reset();
    {
      RawShard raw(Path(), 0);
      for (const std::string& family : raw.families()) raw.Flush(family);
    }
    Open();  // notes what was done behind its back
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
  // Plays and impressions of the user in every kind of table.
  void PlayBefore() {
    for (const std::string collection : {"default", "watched"}) {
      Play(kErased, {"secret"}, std::nullopt, collection);
      Play(kErased, {"secret-old"}, kStartMs - 31 * kDayMs, collection);
      Serve(kErased, {"secret-served"}, std::nullopt, collection);
    }
    Drain();
    CloseAndFlush();
    Open();
    clock_.Advance(1'000);
  }
  // A play ahead of the clock, drained, in a bucket that has not begun.
  void PlayAhead() {
    clock_.Advance(21 * kDayMs);
    ASSERT_EQ(Play(kErased, {"ahead"}, clock_.NowMs() + 18 * kHourMs, "watched"), 1u);
    Drain();
    CloseAndFlush();
    Open();
    EXPECT_EQ(Unseen(kErased, {"ahead"}, "watched"), Items{});
    clock_.Advance(1'000);
  }
  // So much that what comes next is in another block of the log.
  void Fill() {
    for (int i = 0; i < 1'000; ++i) Play("bob", {"fill" + std::to_string(i)});
  }
  // What names the user first in the oldest log that does is gone, with the rest of its block; or
  // the log is.
  void CloseAndDamage(bool whole_log = false) {
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    std::set<fs::path> logs;
    for (const auto& file : fs::directory_iterator(ShardPath(Path(), 0))) {
      if (file.path().extension() == ".log") logs.insert(file.path());
    }
    for (const fs::path& log : logs) {
      std::ifstream in(log, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(in), {});
      const size_t at = bytes.find(kErased);
      if (at == std::string::npos) continue;
      if (!whole_log) return FlipBits(log, at, 1);
      fs::remove(log);
      return;
    }
    FAIL() << "no log names the user";
  }
  void RepairAndOpen() {
    Seams seams;
    seams.clock = &clock_;
    const Result<RepairReport> repaired = Repair(Path(), {}, seams);
    ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
    ASSERT_EQ(repaired->losses.size(), 1u);
    notes_.clear();
    for (const std::string& note : repaired->notes) notes_ += note + "\n";
    Open();
  }
  void OpenDamaged() {
    options_.open_damaged = true;
    Open();
    options_.open_damaged = false;
    Reopen();
  }
  // Items of before the erasure.
  Items SecretsUnseen(const std::string& collection) {
    return Unseen(kErased, {"secret", "secret-old", "secret-served"}, collection);
  }
  size_t RowsOf(const std::string& family) {
    size_t rows = 0;
    const Status scanned = engine_->Scan(family, [&](const ScanRow& row) {
      rows += row.key.find(kErased) != std::string::npos ? 1 : 0;
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return rows;
  }
  void ExpectErased() {
    const Items all{"secret", "secret-old", "secret-served"};
    for (const std::string collection : {"default", "watched"}) {
      EXPECT_EQ(SecretsUnseen(collection), all) << collection;
      EXPECT_TRUE(answer_.degraded) << "a part of the log is lost";
      EXPECT_EQ(Play(kErased, {"late"}, kStartMs, collection), 0u) << "a late copy";
    }
    RunDue();
    for (const std::string family : {"seen/", "impressions/", "history/", "timeline/"}) {
      EXPECT_EQ(RowsOf(family), 0u) << family;
    }
    EXPECT_EQ(RowsOf("users"), 1u) << "the erasure alone";
    EXPECT_EQ(RowsOf("default"), 0u) << "the deletion of the rows has ended";
  }
  void Erase() {
    ASSERT_TRUE(engine_->EraseUser(IdRef(kErased)).ok());
    RunDue();  // the record goes into a table
  }

  std::string notes_;
};

TEST_F(LostDeletesTest, OfAnErasureAreRepeatedByARepair) {
  PlayBefore();
  Erase();
  Fill();
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage());
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_NE(notes_.find("of 1 users was there: deleted again"), std::string::npos) << notes_;
  ExpectErased();
  Reopen();
  ExpectErased();
}

TEST_F(LostDeletesTest, OfAnErasureAreRepeatedByAnOpening) {
  PlayBefore();
  Erase();
  Fill();
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage(/*whole_log=*/true));
  ASSERT_NO_FATAL_FAILURE(OpenDamaged());
  ExpectErased();
}

// The same bucket holds what must go and what must stay.
TEST_F(LostDeletesTest, WhatCameAfterTheErasureStays) {
  PlayBefore();
  Erase();
  Fill();
  clock_.Advance(kHourMs);
  for (const std::string collection : {"default", "watched"}) {
    EXPECT_EQ(Play(kErased, {"after"}, std::nullopt, collection), 1u);
    EXPECT_EQ(Serve(kErased, {"after-served"}, std::nullopt, collection), 1u);
  }
  clock_.Advance(kHourMs);
  RunDue();  // drains: a drain by hand would put the deletes into tables
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage());
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  for (const std::string collection : {"default", "watched"}) {
    EXPECT_EQ(SecretsUnseen(collection), (Items{"secret", "secret-old", "secret-served"}));
    EXPECT_EQ(Unseen(kErased, {"after", "after-served", "other"}, collection), Items{"other"});
  }
  RunDue();
  EXPECT_EQ(RowsOf("timeline/"), 1u) << "\"after\"";
}

// One that was erased long before the loss, and came back.
TEST_F(LostDeletesTest, AnEarlierErasureTakesNothing) {
  PlayBefore();
  Erase();
  clock_.Advance(kDayMs);
  for (const std::string collection : {"default", "watched"}) {
    for (const std::string item : {"one", "two"}) {
      clock_.Advance(kHourMs);
      EXPECT_EQ(Play(kErased, {item}, std::nullopt, collection), 1u);
      EXPECT_EQ(Serve(kErased, {item + "-served"}, std::nullopt, collection), 1u);
      Drain();
    }
  }
  CloseAndFlush();
  Open();
  ASSERT_TRUE(engine_->Compact().ok());
  clock_.Advance(kHourMs);
  Play(kErased, {"three"});
  Fill();
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage());
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(notes_, "");
  for (const std::string collection : {"default", "watched"}) {
    EXPECT_EQ(Unseen(kErased, {"one", "two", "one-served", "two-served", "other"}, collection),
              Items{"other"});
  }
  RunDue();
  EXPECT_EQ(RowsOf("timeline/"), 2u);
}

TEST_F(LostDeletesTest, OfAClearOfFiltersAreRepeated) {
  PlayBefore();
  const std::string_view cleared[] = {"watched"};
  ASSERT_TRUE(engine_->ClearHistory(IdRef(kErased), {.collections = cleared, .filter = true}).ok());
  RunDue();
  Fill();
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage());
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(SecretsUnseen("watched"), (Items{"secret", "secret-old", "secret-served"}));
  EXPECT_EQ(SecretsUnseen("default"), Items{}) << "another collection";
}

// A clear covers what was played, of times ahead of it too.
TEST_F(LostDeletesTest, OfAClearAreRepeatedInABucketThatHasNotBegun) {
  PlayAhead();
  const std::string_view cleared[] = {"watched"};
  ASSERT_TRUE(engine_->ClearHistory(IdRef(kErased), {.collections = cleared, .filter = true}).ok());
  RunDue();
  Fill();
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage());
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(Unseen(kErased, {"ahead"}, "watched"), Items{"ahead"});
  clock_.Advance(kDayMs);
  EXPECT_EQ(Unseen(kErased, {"ahead"}, "watched"), Items{"ahead"});
}

// An erasure knows the times that history has: none in a pause.
TEST_F(LostDeletesTest, OfAnErasureAreRepeatedInABucketThatHasNotBegun) {
  ASSERT_TRUE(engine_->SetRecording(IdRef(kErased), true).ok());
  PlayAhead();
  Erase();
  Fill();
  ASSERT_NO_FATAL_FAILURE(CloseAndDamage());
  ASSERT_NO_FATAL_FAILURE(RepairAndOpen());
  EXPECT_EQ(Unseen(kErased, {"ahead"}, "watched"), Items{"ahead"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
