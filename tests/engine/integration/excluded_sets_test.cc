// Sets that a question excludes: their members are never unseen, and count as excluded.

#include <algorithm>
#include <set>

#include "seendb/item_set.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class SomeSet final : public ItemSet {
 public:
  explicit SomeSet(std::set<std::string> ids, bool damaged = false)
      : ids_(std::move(ids)), damaged_(damaged) {}
  void Find(std::span<const IdRef> items, uint8_t* hits) const override {
    for (size_t i = 0; i < items.size(); ++i) hits[i] = ids_.contains(items[i].ToString()) ? 1 : 0;
    asked_ += items.size();
  }
  bool damaged() const override { return damaged_; }
  size_t asked() const { return asked_; }

 private:
  const std::set<std::string> ids_;
  const bool damaged_;
  mutable size_t asked_ = 0;
};

class ExcludedSetsTest : public EngineTest {
 protected:
  Status Ask(const Items& candidates, const std::vector<ExcludedSet>& sets,
             FilterRequest request = {}) {
    question_.exclude_sets = sets;
    ids_ = std::vector<IdRef>(candidates.begin(), candidates.end());
    request.user = IdRef("u");
    request.items = ids_;
    request.question = &question_;
    request.explain = true;
    const Status asked = engine_->Filter(request, &answer_);
    unseen_.clear();
    for (const uint32_t at : answer_.unseen) unseen_.push_back(candidates[at]);
    reasons_.clear();
    for (const Reason& reason : answer_.reasons) {
      reasons_.push_back(reason.kind == ReasonKind::kInSet      ? std::string(reason.group)
                         : reason.kind == ReasonKind::kExcluded ? "excluded"
                         : reason.kind == ReasonKind::kMarked   ? "marked"
                         : reason.kind == ReasonKind::kUnseen   ? ""
                                                                : "seen");
    }
    return asked;
  }
  void ExpectSum() const {
    EXPECT_EQ(answer_.examined,
              answer_.unseen.size() + answer_.seen + answer_.excluded + answer_.duplicates);
  }

  Question question_;
  std::vector<IdRef> ids_;
  Items unseen_, reasons_;
  const SomeSet blocked_{{"b", "both", "7"}}, muted_{{"m", "both"}}, rotten_{{"r"}, true};
};

TEST_F(ExcludedSetsTest, MembersAreExcludedWhateverElseHolds) {
  Open();
  Play("u", {"b"});
  Play("u", {"p"});
  const IdRef listed("m");
  FilterRequest request;
  request.exclude = {&listed, 1};
  ASSERT_TRUE(Ask({"a", "b", "p", "m", "both", "7", "b"},
                  {{"blocked", &blocked_}, {"muted", &muted_}}, request)
                  .ok());
  EXPECT_EQ(unseen_, (Items{"a"}));
  EXPECT_EQ(reasons_, (Items{"", "blocked", "seen", "excluded", "blocked", "blocked", "blocked"}));
  EXPECT_EQ(answer_.excluded, 4u);
  EXPECT_EQ(answer_.seen, 1u);
  EXPECT_EQ(answer_.duplicates, 1u);
  EXPECT_FALSE(answer_.degraded);
  ExpectSum();
  ASSERT_TRUE(Ask({"a", "b"}, {}).ok());
  EXPECT_EQ(reasons_, (Items{"", "seen"}));
}

TEST_F(ExcludedSetsTest, ASetComesBeforeMarksAndAnAbsentOneAsksNothing) {
  Open();
  const Mark mark{.group = "g"};
  ASSERT_TRUE(engine_->PutMarks(IdRef("u"), {&mark, 1}).ok());
  const std::string_view of[] = {"g"};
  const std::vector<CandidateGroups> groups(2, {of});
  question_.groups = groups;
  ASSERT_TRUE(Ask({"b", "x"}, {{"blocked", &blocked_}}).ok());
  EXPECT_EQ(reasons_, (Items{"blocked", "marked"}));
  EXPECT_EQ(answer_.excluded, 1u);
  EXPECT_EQ(answer_.seen, 1u);
  ASSERT_TRUE(Ask({"b", "x"}, {}).ok());
  EXPECT_EQ(muted_.asked(), 0u);
}

TEST_F(ExcludedSetsTest, ALimitEndsBehindTheLastThatIsUnseen) {
  Open();
  Items candidates;
  for (size_t i = 0; i < 3'000; ++i) candidates.push_back(i % 2 == 0 ? "b" : std::to_string(i));
  FilterRequest request;
  request.limit = 3;
  ASSERT_TRUE(Ask(candidates, {{"blocked", &blocked_}}, request).ok());
  EXPECT_EQ(unseen_, (Items{"1", "3", "5"}));
  EXPECT_EQ(answer_.excluded, 1u);
  EXPECT_EQ(answer_.examined, 6u);
  EXPECT_LT(blocked_.asked(), 3'000u) << "what comes behind is not looked up";
  ExpectSum();
}

TEST_F(ExcludedSetsTest, WhatIsExcludedIsNeverRecordedAndNeverRefuted) {
  Open();
  Play("u", {"b"});
  FilterRequest request;
  request.record = true;
  request.verify = true;
  ASSERT_TRUE(Ask({"a", "m"}, {{"muted", &muted_}}, request).ok());
  EXPECT_TRUE(answer_.recorded);
  request = {};
  ASSERT_TRUE(Ask({"a", "m"}, {}, request).ok());
  EXPECT_EQ(unseen_, (Items{"m"}));
  request.verify = true;
  ASSERT_TRUE(Ask({"b", "a"}, {{"blocked", &blocked_}}, request).ok());
  EXPECT_EQ(reasons_[0], "blocked");
  EXPECT_EQ(answer_.refuted, 0u);
}

TEST_F(ExcludedSetsTest, OfADamagedSetTheAnswerIsDegradedAndWhatIsThereCounts) {
  Open();
  ASSERT_TRUE(Ask({"r", "x"}, {{"rotten", &rotten_}}).ok());
  EXPECT_EQ(unseen_, (Items{"x"}));
  EXPECT_TRUE(answer_.degraded);
  EXPECT_EQ(answer_.missing, (Items{"set:rotten"}));
  FilterRequest request;
  request.on_error = OnError::kFail;
  EXPECT_EQ(Ask({"r", "x"}, {{"rotten", &rotten_}}, request).code(), StatusCode::kUnavailable);
}

TEST_F(ExcludedSetsTest, TooManyAndNoneAtAllAreRefused) {
  Open();
  const std::vector<ExcludedSet> many(kMaxExcludedSets + 1, {"blocked", &blocked_});
  EXPECT_EQ(Ask({"a"}, many).field(), "/exclude_sets");
  EXPECT_EQ(Ask({"a"}, {{"blocked", &blocked_}, {"none", nullptr}}).field(), "/exclude_sets/1");
  EXPECT_TRUE(Ask({"a"}, {many.begin(), many.begin() + kMaxExcludedSets}).ok());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
