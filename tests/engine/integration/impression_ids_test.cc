// Impressions that keep their items' ids: shown where the policy asks for it, whoever served them
// and whatever was merged since, and gone with their user.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ImpressionIdsTest : public EngineTest {
 protected:
  void KeepIds(bool kept) {
    PolicyPatch patch;
    patch.impression_ids = kept;
    Put("default", patch);
  }
  /// Ids of the served items, newest first; "-" where there is none.
  Items Served(const std::string& user) {
    Items items;
    const auto report = engine_->Inspect(IdRef(user), "default");
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok() || report->impressions.empty()) return items;
    EXPECT_TRUE(report->impressions[0].readable);
    for (const ImpressionReport& one : report->impressions[0].entries) {
      items.push_back(one.item.empty() ? "-" : one.item);
    }
    return items;
  }
};

TEST_F(ImpressionIdsTest, AreShownFromTheCallThatAsksForThem) {
  Open();
  Serve("u", {"before"});
  EXPECT_EQ(Served("u"), Items{"-"});
  KeepIds(true);
  clock_.Advance(1);
  Serve("u", {"v1", "18446744073709551615", "007"});
  const Items shown{"007", "18446744073709551615", "v1", "-"};
  EXPECT_EQ(Served("u"), shown);
  EXPECT_EQ(Unseen("u", {"before", "v1", "18446744073709551615", "007", "7"}), Items{"7"});
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(Served("u"), shown);
  Reopen();
  EXPECT_EQ(Served("u"), shown);
}

TEST_F(ImpressionIdsTest, LeaveWithTheNextMergeOnceThePolicySaysNo) {
  Open();
  KeepIds(true);
  Serve("u", {"v1"});
  KeepIds(false);
  clock_.Advance(1);
  Serve("u", {"v2"});
  EXPECT_EQ(Served("u"), (Items{"-", "-"}));
  EXPECT_EQ(Unseen("u", {"v1", "v2", "v3"}), Items{"v3"});
}

TEST_F(ImpressionIdsTest, ARecordedFilterAndALogKeepThemToo) {
  Open();
  KeepIds(true);
  const std::vector<IdRef> items{IdRef("v1"), IdRef(uint64_t{2})};
  ASSERT_TRUE(engine_->Filter({.user = IdRef("u"), .items = items, .record = true}, &answer_).ok());
  EXPECT_EQ(Served("u"), (Items{"2", "v1"}));

  const std::vector<seendb::Play> served{{IdRef("w"), IdRef("v9")}};
  const std::vector<Origin> origins{{0, 4}};
  const std::vector<SourceStep> steps{{.topic = "served", .next_offset = 5}};
  const auto ingested = engine_->Ingest(
      {.fact = Fact::kServed, .sources = steps, .plays = served, .origins = origins});
  ASSERT_TRUE(ingested.ok()) << ingested.status().ToString();
  EXPECT_EQ(Served("w"), Items{"v9"});
}

TEST_F(ImpressionIdsTest, ServedThatCountsAsPlayedKeepsThem) {
  Open();
  PolicyPatch patch;
  patch.impression_ids = true;
  patch.served_is_seen = true;
  Put("default", patch);
  Serve("u", {"v1"});
  EXPECT_EQ(Served("u"), Items{"v1"});
}

TEST_F(ImpressionIdsTest, AnErasureTakesThem) {
  Open();
  KeepIds(true);
  Serve("u", {"v1"});
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_EQ(Served("u"), Items{});
  clock_.Advance(1);
  Serve("u", {"v2"});
  EXPECT_EQ(Served("u"), Items{"v2"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
