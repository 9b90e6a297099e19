// A request's judge: what it drops is excluded, and no page is shorter for it.

#include "seendb/judge.h"

#include <algorithm>
#include <map>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// Drops by a table, and says of which kind the others are.
class TableJudge final : public CandidateJudge {
 public:
  void Judge(std::span<const IdRef> candidates, std::span<Judgement> judgements) override {
    judged += candidates.size();
    for (size_t i = 0; i < candidates.size(); ++i) {
      const std::string id = candidates[i].ToString();
      if (const auto dropped = drops.find(id); dropped != drops.end()) {
        judgements[i].dropped_by = dropped->second;
      } else if (const auto kind = kinds.find(id); kind != kinds.end()) {
        judgements[i].kind = kind->second;
      }
    }
  }
  uint32_t most_of_a_kind() const override { return most; }
  Status status() const override { return fails; }

  std::map<std::string, uint16_t> drops;
  std::map<std::string, uint32_t> kinds;
  uint32_t most = 0;
  Status fails;
  size_t judged = 0;
};

class JudgeTest : public EngineTest {
 protected:
  Items Ask(const Items& items, FilterRequest request = {}) {
    std::vector<IdRef> ids(items.begin(), items.end());
    request.user = IdRef("u");
    request.items = ids;
    request.judge = &judge_;
    const Status asked = engine_->Filter(request, &answer_);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    EXPECT_EQ(answer_.seen + answer_.excluded + answer_.duplicates + answer_.unseen.size(),
              answer_.examined);
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(items[at]);
    return unseen;
  }

  TableJudge judge_;
};

TEST_F(JudgeTest, WhatItDropsIsExcludedWhetherSeenOrNot) {
  Open();
  Play("u", {"a", "b"});
  judge_.drops = {{"b", 3}, {"c", 1}};
  EXPECT_EQ(Ask({"a", "b", "c", "d"}, {.explain = true}), Items{"d"});
  EXPECT_EQ(answer_.seen, 1u);
  EXPECT_EQ(answer_.excluded, 2u);
  EXPECT_EQ(answer_.examined, 4u);
  ASSERT_EQ(answer_.reasons.size(), 4u);
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kRing);
  EXPECT_EQ(answer_.reasons[1].kind, ReasonKind::kJudged);
  EXPECT_EQ(answer_.reasons[1].rule, 3);
  EXPECT_EQ(answer_.reasons[2].rule, 1);
  EXPECT_EQ(answer_.reasons[3].kind, ReasonKind::kUnseen);
  EXPECT_EQ(Ask({"a", "b", "c", "d"}), Items{"d"}) << "the same without reasons";
  EXPECT_EQ(answer_.excluded, 2u);
}

TEST_F(JudgeTest, AnExcludedOneIsCountedOnce) {
  Open();
  judge_.drops = {{"a", 1}};
  const std::vector<IdRef> exclude = {IdRef("a"), IdRef("b")};
  EXPECT_EQ(Ask({"a", "b", "c"}, {.exclude = exclude, .explain = true}), Items{"c"});
  EXPECT_EQ(answer_.excluded, 2u);
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kExcluded);
}

TEST_F(JudgeTest, OfAKindTheFirstUnseenAreReturned) {
  Open();
  Play("u", {"a1"});
  judge_.kinds = {{"a1", 1}, {"a2", 1}, {"a3", 1}, {"b1", 2}, {"a4", 1}, {"b2", 2}};
  judge_.drops = {{"a5", 1}};
  judge_.most = 2;
  EXPECT_EQ(Ask({"a5", "a1", "a2", "b1", "free", "a3", "a4", "b2"}, {.explain = true}),
            (Items{"a2", "b1", "free", "a3", "b2"}))
      << "what is seen or dropped takes nobody's place";
  EXPECT_EQ(answer_.excluded, 2u);
  EXPECT_EQ(answer_.reasons[6].kind, ReasonKind::kTooMany);
}

TEST_F(JudgeTest, ALimitCountsWhatPasses) {
  Open();
  const Items items = Numbered("v", 3'000);
  for (int i = 0; i < 2'990; ++i) judge_.drops[items[static_cast<size_t>(i)]] = 1;
  EXPECT_EQ(Ask(items, {.limit = 4}), (Items{"v2990", "v2991", "v2992", "v2993"}));
  EXPECT_EQ(answer_.examined, 2'994u);
  EXPECT_EQ(answer_.excluded, 2'990u);
  judge_.drops.clear();
  judge_.judged = 0;
  EXPECT_EQ(Ask(items, {.limit = 1}), Items{"v0"});
  EXPECT_EQ(judge_.judged, 512u) << "no more is judged than is looked at";
}

// Kinds go on from one piece of the candidates to the next.
TEST_F(JudgeTest, KindsAreCountedOverAllPieces) {
  Open();
  const Items items = Numbered("v", 2'000);
  for (const std::string& item : items) judge_.kinds[item] = 1;
  judge_.kinds["v1999"] = 2;
  judge_.most = 1;
  EXPECT_EQ(Ask(items, {.limit = 2}), (Items{"v0", "v1999"}));
}

TEST_F(JudgeTest, RepeatsAreCountedAsSuch) {
  Open();
  judge_.drops = {{"a", 2}};
  judge_.kinds = {{"b", 1}, {"c", 1}};
  judge_.most = 1;
  EXPECT_EQ(Ask({"a", "b", "a", "b", "c", "c"}, {.explain = true}), Items{"b"});
  EXPECT_EQ(answer_.duplicates, 3u);
  EXPECT_EQ(answer_.excluded, 2u);
  EXPECT_EQ(answer_.reasons[2].rule, 2);
  EXPECT_EQ(answer_.reasons[5].kind, ReasonKind::kTooMany);
}

TEST_F(JudgeTest, WhatIsRecordedIsWhatPasses) {
  Open();
  judge_.drops = {{"a", 1}};
  judge_.kinds = {{"b", 1}, {"c", 1}};
  judge_.most = 1;
  EXPECT_EQ(Ask({"a", "b", "c"}, {.record = true}), Items{"b"});
  EXPECT_TRUE(answer_.recorded);
  EXPECT_EQ(Unseen("u", {"a", "b", "c"}), (Items{"a", "c"}));
}

TEST_F(JudgeTest, WhereItFailsNothingIsRecorded) {
  Open();
  judge_.fails = Status::Unavailable("away");
  const IdRef item("a");
  const FilterRequest request{
      .user = IdRef("u"), .items = {&item, 1}, .record = true, .judge = &judge_};
  EXPECT_EQ(engine_->Filter(request, &answer_).code(), StatusCode::kUnavailable);
  EXPECT_EQ(Unseen("u", {"a"}), Items{"a"});
}

TEST_F(JudgeTest, VerifyRefutesNothingThatIsDropped) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  Put("default", patch);
  Play("u", {"a", "b"});
  Drain();
  judge_.drops = {{"a", 1}};
  EXPECT_EQ(Ask({"a", "b", "c"}, {.verify = true}), Items{"c"});
  EXPECT_EQ(answer_.refuted, 0u);
  EXPECT_EQ(answer_.seen, 1u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
