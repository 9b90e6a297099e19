#include "query/capped.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "query/probe.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNow = 1'773'144'000'000;
constexpr int64_t kDay = 86'400'000;
constexpr uint32_t kDropped = 7;

CountEntry Served(std::string_view key, int64_t at_ms, Fingerprint item) {
  return {.key = key, .at_ms = at_ms, .fact = CountedFact::kServed, .item = item};
}

CountEntry ReservedFor(std::string_view key, int64_t at_ms, Fingerprint item, int64_t for_ms) {
  return {
      .key = key, .at_ms = at_ms, .fact = CountedFact::kReserved, .item = item, .for_ms = for_ms};
}

// A page of candidates, each with its groups.
class Page {
 public:
  using Groups = std::vector<std::string_view>;

  void Add(std::string item, Groups groups, uint32_t verdict = 0) {
    items_.push_back(std::move(item));
    groups_.push_back(std::move(groups));
    verdicts_.push_back(verdict);
  }

  /// The items that are left, "a b"; behind a dropped one its group: "c(author:1)".
  std::vector<CountedKind> kinds;
  std::string Cap(const std::vector<seendb::Cap>& caps, CountList counts = {}, size_t piece = 100) {
    counts.Normalize();
    std::vector<IdRef> ids(items_.begin(), items_.end());
    std::vector<CandidateGroups> of;
    for (const Groups& groups : groups_) of.push_back({.of = groups});
    const Question question{.groups = of, .caps = caps};
    const FilterRequest request{.items = ids, .question = &question};
    const Counted counted(counts, kinds);
    PageCaps page(request, counted, kNow);
    Candidates candidates;
    candidates.verdicts = verdicts_;
    candidates.repeats.resize(ids.size());
    candidates.distinct.Begin(ids.size());
    for (const std::string& item : items_) {
      candidates.fingerprints.push_back(std::hash<std::string>()(item) & kFingerprintMask);
    }
    for (size_t begin = 0; begin < ids.size(); begin += piece) {
      const size_t end = std::min(ids.size(), begin + piece);
      MarkRepeats(ids, begin, end, &candidates);
      page.Drop(kDropped, begin, end, &candidates);
    }
    std::string left;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (candidates.verdicts[i] != 0 && candidates.verdicts[i] != kDropped) continue;
      left += (left.empty() ? "" : " ") + items_[i];
      if (candidates.verdicts[i] == kDropped) {
        left += "(" + std::string(candidates.groups[i]) + ")";
      }
    }
    return left;
  }

 private:
  std::vector<std::string> items_;
  std::vector<Groups> groups_;
  std::vector<uint32_t> verdicts_;
};

seendb::Cap CapOf(std::string_view of, uint32_t n, int64_t within_ms = kDay) {
  return {.of = of, .n = n, .within_ms = within_ms};
}

TEST(PageCaps, ThePageHasAtMostSoManyOfEachGroup) {
  Page page;
  for (const char* item : {"a", "b", "c"}) page.Add(item, {"author:1"});
  page.Add("d", {"author:2"});
  page.Add("e", {});
  page.Add("f", {"topic:1"});
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{100}}) {
    EXPECT_EQ(page.Cap({CapOf("author", 2)}, {}, piece), "a b c(author:1) d e f");
  }
  EXPECT_EQ(page.Cap({CapOf("author", 1), CapOf("topic", 1)}), "a b(author:1) c(author:1) d e f");
  EXPECT_EQ(page.Cap({CapOf("author:2", 1)}), "a b c d e f");
}

TEST(PageCaps, EventsCountInTheSpanToTheMillisecond) {
  Page page;
  page.Add("a", {"author:1"});
  page.Add("b", {"author:1"});
  CountList counts;
  counts.entries = {Served("author:1", kNow - kDay, 1), Served("author:1", kNow - kDay - 1, 2),
                    Served("author:10", kNow, 3)};
  EXPECT_EQ(page.Cap({CapOf("author", 2)}, counts), "a b(author:1)");
  EXPECT_EQ(page.Cap({CapOf("author", 2, kDay - 1)}, counts), "a b");
  EXPECT_EQ(page.Cap({CapOf("author", 2, kDay + 1)}, counts), "a(author:1) b(author:1)");
  EXPECT_EQ(page.Cap({{.of = "author", .fact = Fact::kPlayed, .n = 2, .within_ms = kDay}}, counts),
            "a b");
}

TEST(PageCaps, WhatIsSeenTakesNoRoomAndEachGroupOfACandidateMustHaveSome) {
  Page page;
  page.Add("seen", {"author:1"}, 3);
  page.Add("a", {"author:1", "author:1", "author:2"});
  page.Add("b", {"author:2"});
  page.Add("a", {"author:1"});
  page.Add("c", {"author:1"});
  EXPECT_EQ(page.Cap({CapOf("author", 1)}), "a b(author:2) a c(author:1)")
      << "a candidate that comes again is no other one";
  EXPECT_EQ(page.Cap({CapOf("author", 2)}), "a b a c");
}

TEST(PageCaps, AnImpressionAndItsReservationCountOnce) {
  Page page;
  page.Add("x", {"ad:1"});
  const auto left = [&](uint32_t n, std::vector<CountEntry> entries) {
    CountList counts;
    counts.entries = std::move(entries);
    return page.Cap({CapOf("ad", n)}, counts) == "x";
  };
  const CountEntry open = ReservedFor("ad:1", kNow - 10, 1, 60'000);
  EXPECT_FALSE(left(1, {open}));
  EXPECT_TRUE(left(2, {open}));
  EXPECT_TRUE(left(2, {open, Served("ad:1", kNow - 5, 1)})) << "it is of the reserved item";
  EXPECT_FALSE(left(2, {open, Served("ad:1", kNow - 5, 2)})) << "of another item";
  EXPECT_FALSE(left(2, {open, Served("ad:1", kNow - 11, 1)})) << "it came before";
  EXPECT_FALSE(left(3, {open, Served("ad:1", kNow - 5, 1), Served("ad:1", kNow - 4, 1), open,
                        ReservedFor("ad:1", kNow - 3, 1, 60'000)}))
      << "one is still open";
  EXPECT_TRUE(left(1, {ReservedFor("ad:1", kNow - 10, 1, 10)})) << "it has ended";
  EXPECT_FALSE(left(1, {ReservedFor("ad:1", kNow - 10, 1, 11)}));
  EXPECT_FALSE(left(1, {ReservedFor("ad:1", kNow - 2 * kDay, 1, 3 * kDay)}))
      << "it counts until it ends, however long ago it began";
}

TEST(PageCaps, CapsAreChecked) {
  const auto field = [](const std::vector<seendb::Cap>& caps) {
    return std::string(CheckCaps(caps, Policy()).field());
  };
  const std::string longest(kMaxGroupBytes, 'g'), longer(kMaxGroupBytes + 1, 'g');
  EXPECT_TRUE(CheckCaps(std::vector(kMaxCaps, CapOf(longest, kMaxCap, kMinCapMs)), Policy()).ok());
  EXPECT_TRUE(CheckCaps({}, Policy()).ok());
  EXPECT_EQ(field(std::vector(kMaxCaps + 1, CapOf("a", 1))), "/caps");
  EXPECT_EQ(field({CapOf("a", 1), CapOf("", 1)}), "/caps/1/of");
  EXPECT_EQ(field({CapOf(longer, 1)}), "/caps/0/of");
  EXPECT_EQ(field({CapOf("a", 0)}), "/caps/0/n");
  EXPECT_EQ(field({CapOf("a", kMaxCap + 1)}), "/caps/0/n");
  EXPECT_EQ(field({CapOf("a", 1, kMinCapMs - 1)}), "/caps/0/within");
  EXPECT_EQ(field({CapOf("a", 1, kCountedForMs + 1)}), "/caps/0/within");
}

TEST(PageCaps, AnItemIsAKeyOfItsOwn) {
  const seendb::Cap once{.of = "item", .n = 1, .within_ms = kDay};
  const std::string key = ItemKey(IdRef("a")), number = ItemKey(IdRef("7"));
  CountList counts;
  counts.entries = {Served(key, kNow - kDay, 1), Served(number, kNow, 2),
                    Served("item:b", kNow, 3)};
  Page page;
  page.kinds = {{"item", kDay}};
  page.Add("a", {});
  page.Add("b", {});
  page.Add("7", {"author:1"});
  page.Add("c", {"item:b"});
  EXPECT_EQ(page.Cap({once}, counts), "a(item) b 7(item) c(item:b)");
  page.kinds = {{"item", kDay - 1}};
  EXPECT_EQ(page.Cap({once}, counts), "a b 7(item) c(item:b)") << "counted for less than a day";
}

TEST(PageCaps, APolicyThatCountsForLessLeavesNoRoomForALongerCap) {
  Policy policy;
  const std::vector<seendb::Cap> caps{{.of = "ad", .n = 1, .within_ms = kDay},
                                      {.of = "item", .n = 1, .within_ms = kDay}};
  EXPECT_EQ(CheckCaps(caps, policy).field(), "/caps/1/of");
  policy.counts = {{"ad", kDay}, {"item", kDay}};
  EXPECT_TRUE(CheckCaps(caps, policy).ok());
  policy.counts = {{"ad", kDay - 1}, {"item", kDay}};
  EXPECT_EQ(CheckCaps(caps, policy).field(), "/caps/0/within");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
