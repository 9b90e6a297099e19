// Times that a call brings: one of no calendar is refused, wherever it comes from, and changes
// nothing; one ahead of the clock is refused where no log brings it. A family that such a time left
// behind keeps no database from being opened.

#include <limits>

#include "seendb/ingest.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "tables/table_set.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class CallTimeTest : public EngineTest {
 protected:
  void Start() {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.history.deleted_items = DeletedItems::kRecommendAgain;
    Put("c", patch);
    Play("u", {"v1", "v2"}, std::nullopt, "c");
  }
  // Every call that takes a time.
  std::vector<Status> CallAll(CallTime at) {
    const IdRef item("v1");
    const std::string_view name = "c";
    HistoryClear clear;
    clear.collections = {&name, 1};
    clear.at_ms = at;
    HistoryClear filter = clear;
    filter.filter = true;
    return {engine_->EraseUser(IdRef("u"), {.always = true, .at_ms = at}),
            engine_->DeleteHistory(IdRef("u"), "c", {&item, 1}, at),
            engine_->ClearHistory(IdRef("u"), clear),
            engine_->ClearHistory(IdRef("u"), filter),
            engine_->SetRecording(IdRef("u"), true, at),
            engine_->SetRecording(IdRef("u"), false, at)};
  }
  void ExpectRefused(CallTime at) {
    for (const Status& status : CallAll(at)) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
      EXPECT_EQ(status.field(), "/at_ms") << status.ToString();
    }
    EXPECT_EQ(Unseen("u", {"v1", "v2", "v3"}, "c"), Items{"v3"});
    EXPECT_EQ(Entries(), 2U);
  }
  size_t Entries() {
    const std::string_view name = "c";
    HistoryRequest request;
    request.user = IdRef("u");
    request.collections = {&name, 1};
    HistoryPage page;
    EXPECT_TRUE(engine_->ReadHistory(request, &page).ok());
    return page.entries.size();
  }
};

TEST_F(CallTimeTest, ATimeOfNoCalendarIsRefused) {
  Start();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t at_ms : {kLeast, kLeast + 1, kFirstTimeMs - 1, kLastTimeMs + 1,
                              kStartMs * 1'000, kMost - 1, kMost}) {
    SCOPED_TRACE(at_ms);
    ExpectRefused(at_ms);
    ExpectRefused(CallTime::OutOfLog(at_ms));
  }
  Reopen();
  EXPECT_EQ(Entries(), 2U);
}

TEST_F(CallTimeTest, AClockOfNoCalendarIsRefused) {
  Start();
  for (const int64_t now_ms : {kFirstTimeMs - 1, kLastTimeMs + 1}) {
    clock_.Set(now_ms);
    for (const Status& status : CallAll({})) EXPECT_FALSE(status.ok());
  }
  clock_.Set(kStartMs);
  Reopen();
  EXPECT_EQ(Entries(), 2U);
}

TEST_F(CallTimeTest, OneAheadOfTheClockIsRefusedWhereNoLogBringsIt) {
  Start();
  ExpectRefused(kStartMs + kMostAheadMs + 1);
  for (const Status& status : CallAll(kStartMs + kMostAheadMs)) {
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_EQ(Entries(), 0U);
}

// The ends of the calendar: every bucket that a call makes there can be opened again.
TEST_F(CallTimeTest, TheEndsOfTheCalendarAreTaken) {
  for (const int64_t at_ms : {kFirstTimeMs, kLastTimeMs}) {
    Start();
    for (const Status& status : CallAll(CallTime::OutOfLog(at_ms))) {
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    const Status opened = [&] {
      engine_.reset();
      return TryOpen();
    }();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    const auto verified = engine_->Verify();
    ASSERT_TRUE(verified.ok());
    EXPECT_EQ(verified->damaged, 0U);
    engine_.reset();
    std::filesystem::remove_all(Path());
  }
}

// Who applies a log at another time does the same.
TEST_F(CallTimeTest, ALogIsAppliedAlikeAtTwoClocks) {
  std::vector<std::string> answers;
  for (const int64_t apart_ms : {int64_t{0}, 3 * kHourMs, -3 * kHourMs}) {
    Start();
    clock_.Set(kStartMs + apart_ms);
    const IdRef item("v1");
    int64_t offset = 0;
    const auto play = [&](const char* id, int64_t arrived_ms) {
      const seendb::Play one{IdRef("u"), IdRef(id), arrived_ms};
      const SourceStep step{.topic = "t", .partition = 0, .next_offset = offset + 1};
      const Origin origin{0, offset++, arrived_ms};
      IngestBatch batch;
      batch.collection = "c";
      batch.sources = {&step, 1};
      batch.plays = {&one, 1};
      batch.origins = {&origin, 1};
      EXPECT_TRUE(engine_->Ingest(batch).ok());
    };
    const auto at = [](int64_t ms) { return CallTime::OutOfLog(kStartMs + ms); };
    play("v3", kStartMs + 1'000);
    EXPECT_TRUE(engine_->DeleteHistory(IdRef("u"), "c", {&item, 1}, at(2'000)).ok());
    play("v4", kStartMs + 3'000);
    EXPECT_TRUE(engine_->SetRecording(IdRef("u"), true, at(4'000)).ok());
    play("v5", kStartMs + 5'000);
    EXPECT_TRUE(engine_->SetRecording(IdRef("u"), false, at(6'000)).ok());
    play("v1", kStartMs + 7'000);
    std::string answer;
    for (const std::string& unseen : Unseen("u", Numbered("v", 7), "c")) answer += unseen + " ";
    answer += std::to_string(Entries());
    answers.push_back(answer);
    engine_.reset();
    std::filesystem::remove_all(Path());
    clock_.Set(kStartMs);
  }
  EXPECT_EQ(answers[1], answers[0]);
  EXPECT_EQ(answers[2], answers[0]);
}

TEST_F(CallTimeTest, AnArrivalOfNoCalendarIsRefused) {
  Start();
  const seendb::Play one{IdRef("u"), IdRef("v3"), kStartMs};
  const SourceStep step{.topic = "t", .partition = 0, .next_offset = 1};
  const Origin origin{0, 0, kStartMs * 1'000};
  IngestBatch batch;
  batch.sources = {&step, 1};
  batch.plays = {&one, 1};
  batch.origins = {&origin, 1};
  const Status refused = engine_->Ingest(batch).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << refused.ToString();
  EXPECT_EQ(refused.field(), "/origins/0/arrived_ms");
}

// Software of before made such families.
TEST_F(CallTimeTest, AFamilyOfNoCalendarIsSetAsideAndNamed) {
  options_.shards = 1;
  Start();
  engine_.reset();
  const std::vector<std::string> names = {"history/c/58158-01", "timeline/c/58158-01",
                                          "seen/c/-123-01"};
  {
    RawShard raw(Path());
    for (const std::string& name : names) {
      ASSERT_NE(ParseFamilyName(name).kind, nullptr) << name;
      rocksdb::ColumnFamilyHandle* made = nullptr;
      ASSERT_TRUE(raw.db()->CreateColumnFamily({}, name, &made).ok());
      ASSERT_TRUE(raw.db()->DestroyColumnFamilyHandle(made).ok());
    }
  }
  for (int openings = 0; openings < 2; ++openings) {
    const Status opened = TryOpen();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    EXPECT_EQ(Unseen("u", {"v1", "v2", "v3"}, "c"), Items{"v3"});
    EXPECT_FALSE(answer_.degraded);
    EXPECT_EQ(Entries(), 2U);
    for (const std::string& name : names) {
      bool named = false;
      for (const std::string& problem : engine_->Stats().problems) {
        named = named || problem.find(name) != std::string::npos;
      }
      EXPECT_TRUE(named) << name;
    }
    ASSERT_TRUE(engine_->Drain().ok());
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
