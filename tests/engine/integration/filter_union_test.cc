// Filter requests that count what was seen in several collections, each by its own policy.

#include "seendb/counts.h"
#include "seendb/marks.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Names = std::vector<std::string_view>;

class FilterUnionTest : public EngineTest {
 protected:
  void SetUp() override {
    Open();
    PolicyPatch daily;
    daily.bucket = BucketSpec{BucketKind::kDays, 1};
    daily.window = 2;
    daily.retention = 10;
    Put("short", daily);
    Put("live", {});
  }
  Status Ask(const Items& items, const Names& names, FilterRequest request = {}) {
    ids_ = std::vector<IdRef>(items.begin(), items.end());
    request.user = IdRef("u");
    request.items = ids_;
    request.collections = names;
    request.explain = true;
    const Status status = engine_->Filter(request, &answer_);
    if (status.ok()) {
      EXPECT_EQ(answer_.unseen.size() + answer_.seen + answer_.excluded + answer_.duplicates,
                answer_.examined);
    }
    return status;
  }
  Items UnseenIn(const Items& items, const Names& names, const FilterRequest& request = {}) {
    const Status asked = Ask(items, names, request);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(items[at]);
    return unseen;
  }
  void ExpectRefused(const Names& names, StatusCode code, const char* field,
                     const FilterRequest& request = {}) {
    const Status asked = Ask({"s"}, names, request);
    EXPECT_EQ(asked.code(), code) << asked.ToString();
    EXPECT_EQ(asked.field(), field) << asked.ToString();
  }

  std::vector<IdRef> ids_;
};

TEST_F(FilterUnionTest, WhatOneOfThemHasIsSeen) {
  Play("u", {"d"});
  Play("u", {"s", "both"}, kStartMs, "short");
  Play("u", {"l", "both"}, kStartMs, "live");
  Serve("u", {"served"}, kStartMs, "live");
  const Items all = {"d", "s", "l", "both", "served", "new", "s"};
  for (const bool drained : {false, true}) {
    if (drained) {
      clock_.Advance(2 * kHourMs);
      Drain();
      Reopen();
    }
    EXPECT_EQ(UnseenIn(all, {}), (Items{"s", "l", "both", "served", "new"}));
    EXPECT_EQ(UnseenIn(all, {"short", "live"}), (Items{"d", "new"}));
    EXPECT_EQ(answer_.seen, 4u);
    EXPECT_EQ(answer_.duplicates, 1u);
    EXPECT_FALSE(answer_.degraded);
    ASSERT_EQ(answer_.reasons.size(), all.size());
    const ReasonKind played = drained ? ReasonKind::kPlay : ReasonKind::kRing;
    EXPECT_EQ(answer_.reasons[1].kind, played);
    EXPECT_EQ(answer_.reasons[1].collection, 1);
    EXPECT_EQ(answer_.reasons[2].kind, played);
    EXPECT_EQ(answer_.reasons[2].collection, 2);
    EXPECT_EQ(answer_.reasons[3].collection, 1);
    EXPECT_EQ(answer_.reasons[4].kind, ReasonKind::kImpression);
    EXPECT_EQ(answer_.reasons[5].kind, ReasonKind::kUnseen);
    EXPECT_EQ(UnseenIn(all, {"live", "default"}), (Items{"s", "new"}));
    EXPECT_EQ(answer_.reasons[0].collection, 0);
    EXPECT_EQ(UnseenIn(all, {"default"}), UnseenIn(all, {}));
  }
}

TEST_F(FilterUnionTest, EachCountsByItsOwnPolicy) {
  Play("u", {"s"}, kStartMs - 5 * kDayMs, "short");  // beyond its window
  Play("u", {"l"}, kStartMs - 5 * kDayMs, "live");
  EXPECT_EQ(UnseenIn({"s", "l"}, {"short", "live"}), Items{"s"});
  const NotEntry days[] = {{.fact = Fact::kPlayed, .window = 8}};
  const Question question{.no = days};
  FilterRequest request;
  request.question = &question;
  EXPECT_EQ(UnseenIn({"s"}, {"short"}, request), Items{});
  PolicyPatch few;
  few.retention = 4;
  few.window = 4;
  Put("few", few);
  ExpectRefused({"short", "few"}, StatusCode::kInvalidArgument, "/not/0/window", request);
}

TEST_F(FilterUnionTest, AllElseIsOfTheRequestsOwn) {
  Play("u", {"s"}, kStartMs, "short");
  FilterRequest request;
  request.collection = "live";
  request.record = true;
  request.limit = 2;
  EXPECT_EQ(UnseenIn({"s", "a", "b", "c"}, {"short", "live"}, request), (Items{"a", "b"}));
  EXPECT_TRUE(answer_.recorded);
  EXPECT_EQ(answer_.examined, 3u);
  EXPECT_EQ(UnseenIn({"s", "a", "b", "c"}, {"short", "live"}, request), Items{"c"});
  // The others decide all candidates, whatever the limit.
  request.record = false;
  EXPECT_EQ(UnseenIn({"a", "b", "d", "s"}, {"short", "live"}, request), Items{"d"});
  EXPECT_EQ(Unseen("u", {"a", "b", "c"}, "short"), (Items{"a", "b", "c"}));
  EXPECT_EQ(Unseen("u", {"a", "b", "c"}, "live"), Items{});

  // Excluded ones stay excluded; nothing that another one has seen comes back.
  const IdRef excluded[] = {IdRef("s"), IdRef("x")};
  Question question{.when_short = WhenShort{.need = 5, .gap_ms = 1, .max = 5}};
  FilterRequest asked;
  asked.collection = "live";
  asked.exclude = excluded;
  asked.question = &question;
  clock_.Advance(kDayMs);
  EXPECT_EQ(UnseenIn({"s", "x", "new"}, {"short", "live"}, asked), Items{"new"});
  EXPECT_EQ(answer_.excluded, 2u);
  Play("u", {"a"}, clock_.NowMs(), "short");
  asked.exclude = {};
  EXPECT_EQ(UnseenIn({"s", "a", "b"}, {"short", "live"}, asked), Items{});
  EXPECT_EQ(answer_.repeats, std::vector<uint32_t>{2});
}

TEST_F(FilterUnionTest, MarksAndCapsAreAskedToo) {
  const Mark mark{.group = "channel:9"};
  ASSERT_TRUE(engine_->PutMarks(IdRef("u"), {&mark, 1}).ok());
  Play("u", {"s"}, kStartMs, "short");
  const std::string_view of[] = {"channel:9"}, author[] = {"author:1"};
  const CandidateGroups groups[] = {{.of = of}, {}, {.of = author}, {.of = author}};
  const Cap caps[] = {{.of = "author", .n = 1, .within_ms = kDayMs}};
  const Question question{.groups = groups, .caps = caps};
  FilterRequest request;
  request.question = &question;
  EXPECT_EQ(UnseenIn({"m", "s", "a", "b"}, {"short", "live"}, request), Items{"a"});
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kMarked);
  EXPECT_EQ(answer_.reasons[0].group, "channel:9");
  EXPECT_EQ(answer_.reasons[3].kind, ReasonKind::kCapped);
  EXPECT_EQ(answer_.excluded, 1u);
}

TEST_F(FilterUnionTest, TheOtherCollectionsHideNoCandidateBehindAnExcludedOne) {
  const std::string_view same[] = {"src:9"}, seen[] = {"src:8"};
  const IdRef played("p");
  const seendb::Play play{.user = IdRef("u"), .item = played, .at_ms = kStartMs, .same_as = seen};
  ASSERT_TRUE(engine_->RecordPlays({&play, 1}, {.collection = "short"}).ok());
  const CandidateGroups groups[] = {
      {.same_as = same}, {.same_as = same}, {.same_as = same}, {.same_as = seen}};
  const Question question{.groups = groups};
  const IdRef excluded[] = {IdRef("a")};
  FilterRequest request;
  request.question = &question;
  request.exclude = excluded;
  EXPECT_EQ(UnseenIn({"a", "b", "c", "d"}, {"short", "live"}, request), Items{"b"});
  EXPECT_EQ(answer_.reasons[2].kind, ReasonKind::kSame);
  EXPECT_EQ(answer_.reasons[3].kind, ReasonKind::kSame);
  EXPECT_EQ(answer_.reasons[3].group, "src:8");
}

TEST_F(FilterUnionTest, NamesAreKnownAndOnce) {
  ExpectRefused({"short", "none"}, StatusCode::kNotFound, "/collections/1");
  ExpectRefused({"short", "live", "short"}, StatusCode::kInvalidArgument, "/collections/2");
  Names many;
  for (int i = 0; i < 9; ++i) many.emplace_back("short");
  ExpectRefused(many, StatusCode::kInvalidArgument, "/collections");
}

TEST_F(FilterUnionTest, MemoryAloneDefersWhereOneOfThemNeedsTheDisk) {
  Play("u", {"s"}, kStartMs, "short");
  clock_.Advance(2 * kHourMs);
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  Reopen();
  FilterRequest request;
  request.memory_only = true;
  EXPECT_EQ(Ask({"s"}, {"short", "live"}, request).code(), StatusCode::kIncomplete);
  EXPECT_TRUE(answer_.needs_disk);
  EXPECT_FALSE(answer_.degraded);
  EXPECT_TRUE(answer_.missing.empty());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
