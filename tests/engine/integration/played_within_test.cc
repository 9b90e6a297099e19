// Plays within a span that begins inside a bucket: told apart by their times where history is
// whole, else by the bucket, and then the answer says so.

#include "seendb/facts.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kSpanMs = 5 * kDayMs;
constexpr int64_t kBeginMs = kStartMs - kSpanMs;  // in the same month

class PlayedWithinTest : public EngineTest {
 protected:
  void Start(bool history) {
    Open();
    PolicyPatch patch;
    patch.history.enabled = history;
    Put("c", patch);
  }
  /// The unseen, of plays within the span.
  Items Ask(const Items& items, FilterRequest request = {}) {
    const std::vector<IdRef> ids(items.begin(), items.end());
    const NotEntry no{.fact = Fact::kPlayed, .within_ms = kSpanMs};
    const Question question{.no = {&no, 1}};
    request.collection = "c";
    request.user = IdRef("u");
    request.items = ids;
    request.question = &question;
    status_ = engine_->Filter(request, &answer_);
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(items[at]);
    return unseen;
  }
  void PlayAll() {
    Play("u", {"before"}, kBeginMs - 1, "c");
    Play("u", {"edge", "again"}, kBeginMs, "c");
    Play("u", {"again"}, kBeginMs - kDayMs, "c");
    Play("u", {"now"}, {}, "c");
  }

  const Items all_{"never", "before", "edge", "again", "now", "before"};
  Status status_;
};

TEST_F(PlayedWithinTest, IsExactWhereHistoryIsWhole) {
  Start(true);
  PlayAll();
  for (const char* const step : {"ring", "drained", "opened"}) {
    if (step == std::string("drained")) Drain();
    if (step == std::string("opened")) Reopen();
    EXPECT_EQ(Ask(all_), (Items{"never", "before"})) << step;
    EXPECT_EQ(answer_.coarse, 0) << step;
    EXPECT_EQ(answer_.duplicates, 1u);
    EXPECT_EQ(Ask(all_, {.limit = 2}), (Items{"never", "before"}));
    EXPECT_EQ(Ask(all_, {.verify = true}), (Items{"never", "before"}));
  }
  Ask(all_, {.memory_only = true});
  EXPECT_EQ(status_.code(), StatusCode::kIncomplete) << "history may have to be read";
}

TEST_F(PlayedWithinTest, GoesByTheBucketWhereThereIsNoHistory) {
  Start(false);
  PlayAll();
  for (const bool drain : {false, true}) {
    if (drain) Drain();
    EXPECT_EQ(Ask(all_), Items{"never"});
    EXPECT_EQ(answer_.coarse, FactBit(Fact::kPlayed));
  }
  Ask(all_, {.memory_only = true});
  EXPECT_TRUE(status_.ok());
}

TEST_F(PlayedWithinTest, GoesByTheBucketWhereHistoryWasPaused) {
  Start(true);
  PlayAll();
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  EXPECT_EQ(Ask(all_), Items{"never"});
  EXPECT_EQ(answer_.coarse, FactBit(Fact::kPlayed));
}

TEST_F(PlayedWithinTest, ADeletionInTheSpanCounts) {
  Start(true);
  PlayAll();
  const IdRef item("before");
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "c", {&item, 1}).ok());
  EXPECT_EQ(Ask(all_), Items{"never"});
  EXPECT_EQ(answer_.coarse, 0);
}

// An item that the filter of the bucket wrongly has: history lacks it, and only `verify` refutes.
TEST_F(PlayedWithinTest, AFalsePositiveStaysSeen) {
  options_.list_limit = 16;
  Open();
  PolicyPatch patch;
  patch.fpr = 0.5;
  patch.history.enabled = true;
  Put("c", patch);
  Play("u", Numbered("played", 100), kBeginMs - kHourMs, "c");
  Drain();
  const Items never = Numbered("never", 200);
  EXPECT_LT(Ask(never).size(), never.size());
  EXPECT_EQ(answer_.coarse, FactBit(Fact::kPlayed));
  EXPECT_EQ(Ask(Numbered("played", 100)).size(), 100u);
  EXPECT_EQ(answer_.coarse, 0);
  EXPECT_EQ(Ask(never, {.verify = true}).size(), never.size());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
