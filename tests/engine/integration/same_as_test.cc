// Groups that are the same: what is seen of one item of a group is seen of all, and a page has one.

#include <optional>
#include <string_view>

#include "seendb/judge.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr std::string_view kSource = "src:9", kOther = "src:8";

// Wants one item of a page, of whatever kind it is.
class OneOfAKind final : public CandidateJudge {
 public:
  void Judge(std::span<const IdRef> candidates, std::span<Judgement> judgements) override {
    for (size_t i = 0; i < candidates.size(); ++i) judgements[i].kind = 1;
  }
  uint32_t most_of_a_kind() const override { return 1; }
  Status status() const override { return {}; }
};

class SameAsTest : public EngineTest {
 protected:
  using Groups = std::vector<std::string_view>;
  struct Candidate {
    std::string id;
    Groups same_as = {};
    Groups of = {};
  };

  static PolicyPatch WithHistory(DeletedItems deleted = DeletedItems::kStayFiltered) {
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.history.deleted_items = deleted;
    return patch;
  }
  Status TryPlaySame(const std::string& item, const Groups& same_as,
                     std::optional<int64_t> at_ms = {}) {
    const struct Play played {
      .user = IdRef("u"), .item = IdRef(item), .at_ms = at_ms, .same_as = same_as
    };
    return engine_->RecordPlays({&played, 1}).status();
  }
  void PlaySame(const std::string& item, const Groups& same_as, std::optional<int64_t> at_ms = {}) {
    const Status played = TryPlaySame(item, same_as, at_ms);
    ASSERT_TRUE(played.ok()) << played.ToString();
  }
  Status Ask(const std::vector<Candidate>& candidates, Question question = {},
             FilterRequest request = {}) {
    ids_.clear();
    std::vector<CandidateGroups> groups;
    for (const Candidate& one : candidates) {
      ids_.emplace_back(one.id);
      groups.push_back({.of = one.of, .same_as = one.same_as});
    }
    question.groups = groups;
    request.user = IdRef("u");
    request.items = ids_;
    request.question = &question;
    request.explain = true;
    const Status asked = engine_->Filter(request, &answer_);
    reasons_.clear();
    for (const Reason& reason : answer_.reasons) {
      EXPECT_TRUE(reason.kind != ReasonKind::kSame || !reason.group.empty());
      reasons_.emplace_back(reason.group);
    }
    return asked;
  }
  Items UnseenOf(const std::vector<Candidate>& candidates, const Question& question = {},
                 const FilterRequest& request = {}) {
    const Status asked = Ask(candidates, question, request);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    EXPECT_EQ(answer_.unseen.size() + answer_.seen + answer_.excluded + answer_.duplicates,
              answer_.examined);
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(candidates[at].id);
    return unseen;
  }
  /// Whether a repost of the group is seen.
  bool SeenByGroup(std::string_view group, const FilterRequest& request = {}) {
    return UnseenOf({{"another", {group}}}, {}, request).empty();
  }
  void Delete(const std::string& item, const Groups& same_as = {}) {
    const IdRef id(item);
    const Status deleted = engine_->DeleteHistory(IdRef("u"), "default", {&id, 1}, {}, same_as);
    ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  }

  std::vector<IdRef> ids_;
  Items reasons_;
};

TEST_F(SameAsTest, ARepostIsSeenBeforeAndAfterADrainAndAnOpening) {
  Open();
  PlaySame("v1", {kSource, "clip"});
  const std::vector<Candidate> all{{"v1"}, {"v2", {kSource}},       {"v3", {kOther}},
                                   {"v4"}, {"v5", {"new", "clip"}}, {"src:9"}};
  for (int pass = 0; pass < 4; ++pass) {
    if (pass == 1) Reopen();
    if (pass == 2) Drain();
    if (pass == 3) Reopen();
    EXPECT_EQ(UnseenOf(all), (Items{"v3", "v4", "src:9"})) << pass;
    EXPECT_EQ(reasons_, (Items{"", "src:9", "", "", "clip", ""})) << pass;
  }
  EXPECT_EQ(Unseen("w", {"v1"}), Items{"v1"}) << "another user's";
}

TEST_F(SameAsTest, AGroupIsNoItemAndNoGroupItIsCountedBy) {
  Open();
  Play("u", {"src:9"});
  const struct Play counted {
    .user = IdRef("u"), .item = IdRef("v"), .of = { &kSource, 1 }
  };
  ASSERT_TRUE(engine_->RecordPlays({&counted, 1}).ok());
  EXPECT_EQ(engine_->Stats().plays_accepted, 2u);
  EXPECT_FALSE(SeenByGroup(kSource));
  PlaySame("x", {"42"});
  EXPECT_EQ(Unseen("u", {"42"}), Items{"42"});
  EXPECT_TRUE(SeenByGroup("42"));
  EXPECT_EQ(engine_->Stats().plays_accepted, 3u) << "a group is no event";
}

TEST_F(SameAsTest, OfAPageTheFirstThatWouldBeUnseenIs) {
  Open();
  Play("u", {"seen"});
  const std::string_view author = "author:3";
  const std::vector<Candidate> all{{"seen", {kSource}},
                                   {"excluded", {kSource}},
                                   {"a", {kSource}},
                                   {"b", {kOther, kSource}},
                                   {"a", {kOther}},
                                   {"c", {kOther}},
                                   {"b"},
                                   {"d", {kOther}}};
  const IdRef excluded("excluded");
  FilterRequest request;
  request.exclude = {&excluded, 1};
  EXPECT_EQ(UnseenOf(all, {}, request), (Items{"a", "c"}));
  EXPECT_EQ(reasons_, (Items{"", "", "", "src:9", "", "", "src:9", "src:8"}));
  EXPECT_EQ(answer_.seen, 3u);
  EXPECT_EQ(answer_.duplicates, 2u);
  request.limit = 1;
  EXPECT_EQ(UnseenOf(all, {}, request), Items{"a"});
  EXPECT_EQ(answer_.examined, 3u);
  // One that is hidden takes nobody's place.
  const Cap cap{.of = "author", .n = 2, .within_ms = kDayMs};
  const std::vector<Candidate> capped{{"a", {kSource}, {author}},
                                      {"b", {kSource}, {author}},
                                      {"c", {}, {author}},
                                      {"d", {}, {author}}};
  EXPECT_EQ(UnseenOf(capped, {.caps = {&cap, 1}}), (Items{"a", "c"}));
  EXPECT_EQ(answer_.excluded, 1u);
  // One that the judge wants no more of hides nobody.
  OneOfAKind judge;
  request = {};
  request.judge = &judge;
  EXPECT_EQ(UnseenOf({{"a", {kSource}}, {"b", {kOther}}, {"c", {kOther}}}, {}, request),
            Items{"a"});
  EXPECT_EQ(answer_.excluded, 2u);
}

TEST_F(SameAsTest, VerifyRefutesNoGroup) {
  Open();
  Put("default", WithHistory());
  PlaySame("v1", {kSource});
  FilterRequest request;
  request.verify = true;
  for (const bool drained : {false, true}) {
    if (drained) Drain();
    EXPECT_TRUE(SeenByGroup(kSource, request));
    EXPECT_EQ(answer_.refuted, 0u);
    EXPECT_EQ(UnseenOf({{"v1", {kOther}}}, {}, request), Items{});
    EXPECT_FALSE(SeenByGroup(kOther, request));
  }
  HistoryPage page;
  ASSERT_TRUE(engine_->ReadHistory({.user = IdRef("u")}, &page).ok());
  EXPECT_EQ(page.entries.size(), 1u) << "history has items alone";
}

TEST_F(SameAsTest, ADeletionLiftsTheGroupsThatItNames) {
  Open();
  Put("default", WithHistory(DeletedItems::kRecommendAgain));
  for (const bool drained : {false, true}) {
    PlaySame("v1", {kSource, kOther});
    if (drained) Drain();
    clock_.Advance(1'000);
    Delete("v1");
    EXPECT_EQ(Unseen("u", {"v1"}), Items{"v1"});
    EXPECT_TRUE(SeenByGroup(kSource)) << "the call named no group";
    EXPECT_EQ(UnseenOf({{"v1", {kSource}}}), Items{}) << "its group is still seen";
    Delete("v1", {kSource});
    EXPECT_FALSE(SeenByGroup(kSource));
    EXPECT_TRUE(SeenByGroup(kOther));
    Reopen();
    EXPECT_FALSE(SeenByGroup(kSource));
    // A play of another item of the group ends it.
    clock_.Advance(1'000);
    PlaySame("v7", {kSource});
    EXPECT_TRUE(SeenByGroup(kSource));
    EXPECT_EQ(Unseen("u", {"v1"}), Items{"v1"});
    clock_.Advance(1'000);
  }
}

TEST_F(SameAsTest, ADeletionThatRecommendsNothingLiftsNothing) {
  Open();
  Put("default", WithHistory());
  PlaySame("v1", {kSource});
  Delete("v1", {kSource});
  EXPECT_TRUE(SeenByGroup(kSource));
  const IdRef item("v1");
  const std::string_view bad[] = {kSource, ""};
  const Status refused = engine_->DeleteHistory(IdRef("u"), "default", {&item, 1}, {}, bad);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.field(), "/same_as/1");
}

TEST_F(SameAsTest, ExposuresTakeTheirGroupsAlong) {
  Open();
  const Exposure exposed{
      .user = IdRef("u"), .item = IdRef("v1"), .surface = "home", .same_as = {&kSource, 1}};
  ASSERT_TRUE(engine_->RecordExposures({&exposed, 1}).ok());
  const auto asks = [&](const NotEntry& entry) {
    const Question question{.no = {&entry, 1}};
    return UnseenOf({{"v2", {kSource}}}, question).empty();
  };
  for (const bool opened : {false, true}) {
    if (opened) Reopen();
    EXPECT_TRUE(asks({.fact = Fact::kExposed}));
    EXPECT_TRUE(asks({.fact = Fact::kExposed, .surface = "home", .within_ms = kHourMs}));
    EXPECT_FALSE(asks({.fact = Fact::kExposed, .surface = "search"}));
    EXPECT_FALSE(asks({.fact = Fact::kPlayed}));
    EXPECT_FALSE(SeenByGroup(kSource)) << "exposures alone make nothing seen";
  }
}

TEST_F(SameAsTest, WhatIsRecordedTakesItsGroupsWhereItCountsAsAPlay) {
  Open();
  FilterRequest record;
  record.record = true;
  EXPECT_EQ(UnseenOf({{"a", {kSource}}}, {}, record), Items{"a"});
  EXPECT_FALSE(SeenByGroup(kSource));
  PolicyPatch patch;
  patch.served_is_seen = true;
  Put("default", patch);
  EXPECT_EQ(UnseenOf({{"b", {kSource}}}, {}, record), Items{"b"});
  EXPECT_TRUE(SeenByGroup(kSource));
  record.count_groups = false;
  EXPECT_EQ(UnseenOf({{"c", {kOther}}}, {}, record), Items{"c"});
  EXPECT_FALSE(SeenByGroup(kOther));
}

TEST_F(SameAsTest, ABucketThatASpanTouchesIsNamed) {
  Open();
  PlaySame("v1", {kSource}, kStartMs - kDayMs);
  const NotEntry within{.fact = Fact::kPlayed, .within_ms = kHourMs};
  for (const bool drained : {false, true}) {
    if (drained) Drain();
    EXPECT_EQ(UnseenOf({{"v2", {kSource}}}, {.no = {&within, 1}}), Items{});
    EXPECT_EQ(answer_.coarse, FactBit(Fact::kPlayed));
  }
}

TEST_F(SameAsTest, ARepeatIsAsOldAsTheNewestOfItsGroup) {
  Open();
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 1};
  patch.window = 60;
  patch.retention = 60;
  Put("default", patch);
  Play("u", {"v1"}, kStartMs - 40 * kDayMs);
  PlaySame("v2", {kSource}, kStartMs - 20 * kDayMs);
  Drain();
  const std::vector<Candidate> all{
      {"v1", {kSource}}, {"v3", {kSource}}, {"new", {kOther}}, {"new2", {kOther}}};
  const auto repeats = [&](int64_t days) {
    Question question;
    question.when_short = WhenShort{.need = 9, .gap_ms = days * kDayMs, .max = 9};
    EXPECT_EQ(UnseenOf(all, question), Items{"new"});
    Items back;
    for (const uint32_t at : answer_.repeats) back.push_back(all[at].id);
    return back;
  };
  EXPECT_EQ(repeats(30), Items{}) << "its group was seen since";
  EXPECT_EQ(repeats(15), Items{"v1"}) << "one of a group comes back";
}

TEST_F(SameAsTest, ErasuresAndClearsTakeGroups) {
  Open();
  PlaySame("v1", {kSource});
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u"), {.filter = true}).ok());
  EXPECT_FALSE(SeenByGroup(kSource));
  clock_.Advance(1);
  PlaySame("v1", {kSource});
  EXPECT_TRUE(SeenByGroup(kSource));
  Drain();
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_FALSE(SeenByGroup(kSource));
  Reopen();
  EXPECT_FALSE(SeenByGroup(kSource));
}

TEST_F(SameAsTest, TooManyAndIllFormedOnesAreRefusedAndChangeNothing) {
  Open();
  const std::string longest(kMaxGroupBytes, 'x'), longer(kMaxGroupBytes + 1, 'x');
  const Groups sixteen(kMaxCandidateGroups, "g");
  Groups seventeen = sixteen;
  seventeen.push_back("g");
  EXPECT_TRUE(TryPlaySame("ok", sixteen).ok());
  EXPECT_TRUE(TryPlaySame("ok", {longest}).ok());
  EXPECT_TRUE(SeenByGroup(longest));
  EXPECT_EQ(TryPlaySame("v", seventeen).field(), "/0/same_as");
  EXPECT_EQ(TryPlaySame("v", {kSource, ""}).field(), "/0/same_as/1");
  EXPECT_EQ(TryPlaySame("v", {longer}).field(), "/0/same_as/0");
  EXPECT_EQ(TryPlaySame("v", {"\xFE"}).field(), "/0/same_as/0");
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
  EXPECT_FALSE(SeenByGroup(kSource));
  EXPECT_EQ(Ask({{"a"}, {"b", {kSource}, sixteen}}).field(), "/items/1/same_as");
  EXPECT_EQ(Ask({{"a", {kSource, longer}}}).field(), "/items/0/same_as/1");
}

TEST_F(SameAsTest, WhatUsesNoneWritesTheBytesItWrote) {
  const auto bytes = [&](const Groups& same_as) {
    Open();
    PlaySame("v1", same_as, kStartMs);
    Drain();
    std::string all;
    EXPECT_TRUE(engine_
                    ->Scan("seen/",
                           [&](const ScanRow& row) {
                             all += row.family + "|" + row.value + "\n";
                             return true;
                           })
                    .ok());
    engine_.reset();
    std::filesystem::remove_all(Path());
    return all;
  };
  const std::string without = bytes({});
  EXPECT_EQ(bytes({}), without);
  EXPECT_NE(bytes({kSource}), without) << "it is one item more";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
