// What comes out of a log is judged by when it arrived there, whenever the log is read.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ArrivalTest : public EngineTest {
 protected:
  struct Message {
    std::string user, item;
    int64_t arrived_ms = 0;
    std::optional<int64_t> at_ms = {};
  };
  ArrivalTest() { options_.shards = 1; }

  // Messages from the next offset on, in one batch.
  Result<IngestResult> TryIngest(const std::vector<Message>& messages) {
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    for (const Message& one : messages) {
      plays.push_back({IdRef(one.user), IdRef(one.item), one.at_ms});
      origins.push_back({0, next_++, one.arrived_ms});
    }
    const SourceStep step{.topic = "log", .partition = 0, .next_offset = next_};
    return engine_->Ingest(
        {.sources = {&step, 1}, .plays = plays, .origins = origins, .partition_is_shard = true});
  }
  IngestResult Ingest(const std::vector<Message>& messages) {
    const Result<IngestResult> done = TryIngest(messages);
    EXPECT_TRUE(done.ok()) << done.status().ToString();
    return done.ok() ? *done : IngestResult();
  }
  int64_t next_ = 0;
};

TEST_F(ArrivalTest, OneWithoutATimeHasThatOfItsArrival) {
  PolicyPatch patch;
  patch.history.enabled = true;
  options_.default_policy = patch;
  Open();
  clock_.Advance(2 * kHourMs);
  EXPECT_EQ(Ingest({{"u", "v", kStartMs}}).accepted, 1U);
  HistoryPage page;
  ASSERT_TRUE(engine_->ReadHistory({.user = IdRef("u")}, &page).ok());
  ASSERT_EQ(page.entries.size(), 1U);
  EXPECT_EQ(page.entries.front().at_ms, kStartMs);
}

// Each is judged by its own arrival: the first lay too far ahead then, though not now.
TEST_F(ArrivalTest, ATimeThatWasTooFarAheadIsRefusedLaterToo) {
  options_.default_policy.max_future_ms = kHourMs;
  Open();
  const int64_t later_ms = kStartMs + 2 * kHourMs;
  clock_.Set(later_ms);
  const IngestResult done =
      Ingest({{"u", "early", kStartMs, later_ms}, {"u", "late", later_ms, later_ms}});
  EXPECT_EQ(done.accepted, 1U);
  EXPECT_EQ(done.refused, 1U);
  EXPECT_EQ(done.refused_by[static_cast<size_t>(RefusalReason::kInFuture)], 1U);
  ASSERT_EQ(done.refusals.size(), 1U);
  EXPECT_EQ(done.refusals.front().index, 0U);
  EXPECT_NE(done.refusals.front().status.message().find("max_future"), std::string::npos);
  EXPECT_EQ(Unseen("u", {"early", "late"}), Items{"early"});
}

TEST_F(ArrivalTest, ATimeThatWasNotTooOldIsTaken) {
  Open();
  const int64_t oldest_ms = BucketBeginMs({}, OldestBucket({}, kStartMs));
  clock_.Advance(400 * kDayMs);
  EXPECT_EQ(Ingest({{"u", "v", kStartMs, oldest_ms}}).accepted, 1U);
  EXPECT_EQ(Ingest({{"u", "w", kStartMs, oldest_ms - 1}}).refused, 1U);
}

TEST_F(ArrivalTest, TheFirstPlayOfADayIsThatOfTheArrival) {
  options_.default_policy.first_of_day = true;
  Open();
  clock_.Advance(kDayMs);
  const IngestResult done = Ingest({{"u", "v", kStartMs}, {"w", "v", kStartMs}});
  EXPECT_EQ(done.day, "2026-03-10");
  EXPECT_EQ(done.first_today, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(Ingest({{"u", "x", kStartMs + 1}}).first_today.empty());
  EXPECT_EQ(Ingest({{"u", "x", kStartMs + kDayMs}}).first_today, std::vector<uint32_t>{0});
  const Result<IngestResult> mixed =
      TryIngest({{"u", "y", kStartMs + kDayMs}, {"u", "y", kStartMs + 2 * kDayMs}});
  EXPECT_EQ(mixed.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(mixed.status().field(), "/origins/1");
}

// A replica reads an erasure an hour later than another did: what came behind it stays in both.
TEST_F(ArrivalTest, AnErasureIsAsOldAsItSays) {
  Open();
  Ingest({{"u", "before", kStartMs}});
  clock_.Advance(kHourMs);
  Erasure erasure;
  ASSERT_TRUE(
      engine_->EraseUser(IdRef("u"), {.always = true, .at_ms = kStartMs + 1}, &erasure).ok());
  EXPECT_EQ(erasure.until_ms, kStartMs + 1);
  EXPECT_EQ(Ingest({{"u", "after", kStartMs + 2}}).accepted, 1U);
  EXPECT_EQ(Ingest({{"u", "before", kStartMs + 1}}).refused, 1U);
  EXPECT_EQ(Unseen("u", {"before", "after"}), Items{"before"});
}

TEST_F(ArrivalTest, ADeletionAClearAndAPauseAreAsOldAsTheySay) {
  options_.default_policy.history.enabled = true;
  Open();
  Ingest({{"u", "v", kStartMs}, {"u", "w", kStartMs}});
  clock_.Advance(kHourMs);
  const auto history = [&] {
    HistoryPage page;
    EXPECT_TRUE(engine_->ReadHistory({.user = IdRef("u")}, &page).ok());
    Items items;
    for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
    return items;
  };
  const IdRef v[] = {IdRef("v")};
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "default", v, kStartMs + 1).ok());
  EXPECT_EQ(history(), Items{"w"});
  Ingest({{"u", "v", kStartMs + 2}});
  EXPECT_EQ(history(), (Items{"v", "w"}));
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u"), {.filter = true, .at_ms = kStartMs + 3}).ok());
  EXPECT_EQ(history(), Items{});
  EXPECT_EQ(Ingest({{"u", "v", kStartMs + 3}}).refused, 1U);
  EXPECT_EQ(Ingest({{"u", "v", kStartMs + 4}}).accepted, 1U);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true, kStartMs + 5).ok());
  EXPECT_EQ(engine_->GetRecording(IdRef("u"))->since_ms, kStartMs + 5);
  Ingest({{"u", "x", kStartMs + 6}});
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), false, kStartMs + 7).ok());
  Ingest({{"u", "y", kStartMs + 8}});
  EXPECT_EQ(history(), (Items{"y", "v"}));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
