// The rules of a policy about counts: for how long by which kinds, items by themselves, and its
// caps.

#include "seendb/counts.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr std::string_view kAuthor[] = {"author:1"};
constexpr int64_t kWeekMs = 7 * kDayMs;

class PolicyCountsTest : public EngineTest {
 protected:
  void PutCounts(std::vector<CountedKind> kinds) {
    PolicyPatch patch;
    patch.counts = std::move(kinds);
    Put("default", patch);
  }
  void PutCaps(std::vector<PolicyCap> caps) {
    PolicyPatch patch;
    patch.caps = std::move(caps);
    Put("default", patch);
  }
  void ServeOf(const std::string& user, const std::string& item, EventGroups of,
               std::optional<int64_t> at_ms = {}) {
    const Impression served{.user = IdRef(user), .item = IdRef(item), .at_ms = at_ms, .of = of};
    ASSERT_TRUE(engine_->RecordImpressions({&served, 1}).ok());
  }
  /// "item/v1=2/0/1": served, exposed, played in 30 days.
  std::string Counts(const std::string& user, std::string_view kind) {
    CountsPage page;
    const Status read = engine_->ReadCounts({.user = IdRef(user), .kind = kind}, &page);
    if (!read.ok()) return read.ToString();
    std::string text;
    for (const GroupCounts& group : page.groups) {
      const auto of = [&](Fact fact) {
        return std::to_string(group.by_fact[static_cast<size_t>(fact)].events.back());
      };
      text += (text.empty() ? "" : " ") + group.group + "/" + group.item + "=" + of(Fact::kServed) +
              "/" + of(Fact::kExposed) + "/" + of(Fact::kPlayed);
    }
    return text;
  }
  /// Those of `items` that are left, all of `author:1` unless `plain`; behind a dropped one why.
  std::string Page(const std::string& user, const Items& items, bool plain = false,
                   std::vector<Cap> caps = {}, bool record = false) {
    std::vector<IdRef> ids;
    for (const std::string& item : items) ids.emplace_back(item);
    const std::vector<CandidateGroups> groups(items.size(), CandidateGroups{.of = kAuthor});
    Question question{.caps = caps};
    if (!plain) question.groups = groups;
    const Question* const asked = plain && caps.empty() ? nullptr : &question;
    const Status status = engine_->Filter(
        {.user = IdRef(user), .items = ids, .question = asked, .explain = true, .record = record},
        &answer_);
    if (!status.ok()) return std::string(status.field());
    std::string text;
    for (const uint32_t at : answer_.unseen) text += (text.empty() ? "" : " ") + items[at];
    for (size_t i = 0; i < answer_.reasons.size(); ++i) {
      if (answer_.reasons[i].kind == ReasonKind::kCapped) text += " -" + items[i];
    }
    return text;
  }
  uint64_t CountRows() {
    uint64_t bytes = 0;
    EXPECT_TRUE(engine_
                    ->Scan("counts/",
                           [&](const ScanRow& row) {
                             bytes += row.value.size();
                             return true;
                           })
                    .ok());
    return bytes;
  }
};

TEST_F(PolicyCountsTest, AKindCountsForAsLongAsThePolicySaysAndThenLeaves) {
  Open();
  ServeOf("u", "v1", kAuthor, kStartMs - kWeekMs);
  EXPECT_EQ(Counts("u", "author"), "author:1/=1/0/0");
  PutCounts({{"author", kWeekMs}});
  EXPECT_EQ(Counts("u", "author"), "author:1/=1/0/0");
  clock_.Set(kStartMs + 1);
  EXPECT_EQ(Counts("u", "author"), "");
  PutCounts({});
  EXPECT_EQ(Counts("u", "author"), "author:1/=1/0/0") << "it lay there still";
  PutCounts({{"author", kWeekMs}});
  const uint64_t before = CountRows();
  EXPECT_GT(before, 0u);
  RunDue();
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_LT(CountRows(), before) << "a compaction took it, and left a list of nothing";
  PutCounts({});
  EXPECT_EQ(Counts("u", "author"), "") << "a longer time brings nothing back";
}

TEST_F(PolicyCountsTest, ItemsAreCountedWhereThePolicyNamesThem) {
  Open();
  ServeOf("u", "v1", {});
  EXPECT_EQ(Counts("u", "item"), "");
  EXPECT_EQ(CountRows(), 0u) << "yesterday's bytes";
  PutCounts({{"item", kCountedForMs}});
  ServeOf("u", "v1", {}, kStartMs - 1);
  ServeOf("u", "v1", {}, kStartMs - 1);
  ServeOf("u", "7", kAuthor, kStartMs - 2);
  const Exposure exposed{.user = IdRef("u"), .item = IdRef("v1"), .at_ms = kStartMs - 3};
  ASSERT_TRUE(engine_->RecordExposures({&exposed, 1}).ok());
  Play("u", {"v1", "v2"}, kStartMs - 4);
  EXPECT_EQ(Counts("u", "item"), "item/v1=1/1/1 item/7=1/0/0 item/v2=0/0/1");
  EXPECT_EQ(Counts("u", "author"), "author:1/=1/0/0");
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  Reopen();
  EXPECT_EQ(Counts("u", "item"), "item/v1=1/1/1 item/7=1/0/0 item/v2=0/0/1");
  EXPECT_EQ(Page("u", {"new"}, true, {}, true), "new") << "a page that records";
  EXPECT_EQ(Counts("u", "item").substr(0, 14), "item/new=1/0/0");
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
  PutCounts({});
  EXPECT_EQ(Counts("u", "item"), "");
  EXPECT_EQ(Counts("u", "author"), "author:1/=1/0/0");
}

TEST_F(PolicyCountsTest, ACapOfItemsDropsThemAndAReservationCountsThem) {
  Open();
  const Cap once{.of = "item", .n = 1, .within_ms = kDayMs};
  EXPECT_EQ(Page("u", {"a"}, true, {once}), "/caps/0/of") << "nothing counts items";
  PutCounts({{"item", kDayMs}, {"author", kDayMs}});
  Play("u", {"a"});
  EXPECT_EQ(Page("u", {"b"}, true, {{.of = "item", .fact = Fact::kPlayed, .within_ms = kDayMs}}),
            "b");
  const IdRef items[] = {IdRef("b"), IdRef("c")};
  Reserved reserved;
  ReserveRequest request{.user = IdRef("u"), .items = items, .caps = {&once, 1}};
  request.expires_ms = kDayMs + 1;
  EXPECT_EQ(engine_->Reserve(request, &reserved).field(), "/expires") << "would be forgotten";
  request.expires_ms = kDayMs;
  ASSERT_TRUE(engine_->Reserve(request, &reserved).ok());
  EXPECT_EQ(reserved.reserved, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(Counts("u", "item"), "item/a=0/0/1 item/b=1/0/0 item/c=1/0/0");
  EXPECT_EQ(Page("u", {"b", "d"}, true, {once}), "d -b");
  EXPECT_EQ(Page("u", {"b", "d"}, false, {once}), "d -b");
  clock_.Set(kStartMs + 1);
  ASSERT_TRUE(engine_->Reserve(request, &reserved).ok());
  EXPECT_EQ(reserved.refused, (std::vector<uint32_t>{0, 1}));
  request.decided = true;
  request.caps = {};
  ASSERT_TRUE(engine_->Reserve(request, &reserved).ok());
  EXPECT_EQ(reserved.reserved.size(), 2u) << "another engine decided";
}

TEST_F(PolicyCountsTest, ThePolicysCapsHoldBesideThoseOfARequestAtOnce) {
  Open();
  EXPECT_EQ(Page("u", {"a", "b", "c"}), "a b c");
  PutCaps({{"author", Fact::kServed, 2, kDayMs}});
  EXPECT_EQ(Page("u", {"a", "b", "c"}), "a b -c");
  EXPECT_EQ(Page("u", {"a", "b", "c"}, true), "a b c") << "without groups";
  const Cap five{.of = "author", .n = 5, .within_ms = kDayMs};
  const Cap one{.of = "author", .n = 1, .within_ms = kDayMs};
  EXPECT_EQ(Page("u", {"a", "b", "c"}, false, {five}), "a b -c") << "none is lifted";
  EXPECT_EQ(Page("u", {"a", "b", "c"}, false, {one}), "a -b -c");
  ServeOf("u", "x", kAuthor);
  EXPECT_EQ(Page("u", {"a", "b", "c"}), "a -b -c");
  Reopen();
  EXPECT_EQ(Page("u", {"a", "b", "c"}), "a -b -c");
  const IdRef items[] = {IdRef("p"), IdRef("q")};
  const CandidateGroups groups[] = {{.of = kAuthor}, {.of = kAuthor}};
  Reserved reserved;
  ASSERT_TRUE(
      engine_->Reserve({.user = IdRef("u"), .items = items, .groups = groups}, &reserved).ok());
  EXPECT_EQ(reserved.reserved, (std::vector<uint32_t>{0}));
  EXPECT_EQ(reserved.refused, (std::vector<uint32_t>{1}));
  PutCaps({});
  EXPECT_EQ(Page("u", {"a", "b", "c"}), "a b c");
}

TEST_F(PolicyCountsTest, AsManyCapsInThePolicyAsInTheRequest) {
  Open();
  PutCaps(std::vector<PolicyCap>(kMaxCaps, {"author", Fact::kServed, 2, kDayMs}));
  const std::vector<Cap> own(kMaxCaps, {.of = "author", .n = 1, .within_ms = kDayMs});
  EXPECT_EQ(Page("u", {"a", "b", "c"}, false, own), "a -b -c");
}

TEST_F(PolicyCountsTest, ACapOfItemsInThePolicyNeedsNoGroups) {
  Open();
  PutCounts({{"item", kWeekMs}});
  PutCaps({{"item", Fact::kPlayed, 1, kWeekMs}});
  Play("u", {"a"}, kStartMs);
  const FilterRequest plain{.user = IdRef("u"), .facts = kFactImpressions, .explain = true};
  FilterRequest request = plain;
  const IdRef items[] = {IdRef("a"), IdRef("b")};
  request.items = items;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(answer_.unseen, (std::vector<uint32_t>{1}));
  EXPECT_EQ(answer_.excluded, 1u);
}

TEST_F(PolicyCountsTest, WhatIsMalformedIsRefusedAndChangesNothing) {
  Open();
  PolicyPatch patch;
  patch.caps = {{"author", Fact::kServed, 0, kDayMs}};
  EXPECT_EQ(engine_->PutCollection("default", patch).field(), "/caps/0/n");
  patch.caps = {{"author", Fact::kServed, 1, kDayMs}};
  patch.counts = {{"author", kDayMs - 1}};
  EXPECT_EQ(engine_->PutCollection("default", patch).field(), "/caps/0/within");
  patch.caps.reset();
  patch.counts = {{"author:1", kDayMs}};
  EXPECT_EQ(engine_->PutCollection("default", patch).field(), "/counts/author:1");
  EXPECT_EQ(Page("u", {"a", "b"}), "a b");
  PutCounts({{"author", kDayMs - 1}});
  const Cap day{.of = "author", .n = 1, .within_ms = kDayMs};
  EXPECT_EQ(Page("u", {"a"}, false, {day}), "/caps/0/within");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
