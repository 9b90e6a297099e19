#include "query/counted.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNow = 1'773'144'000'000;
constexpr int64_t kHour = 3'600'000, kDay = 24 * kHour;

CountEntry Event(std::string_view key, int64_t at_ms, CountedFact fact = CountedFact::kServed,
                 Fingerprint item = 1) {
  return {.key = key, .at_ms = at_ms, .fact = fact, .item = item};
}

struct Answer {
  std::vector<GroupCounts> groups;
  bool more = false;
};

Answer Ask(CountList list, std::string_view kind, uint32_t limit = 1'000) {
  list.Normalize();
  Answer answer;
  answer.groups = Counted(list).Groups({.kind = kind, .limit = limit}, kNow, &answer.more);
  return answer;
}

const FactCounts& Served(const GroupCounts& group) {
  return group.by_fact[static_cast<size_t>(Fact::kServed)];
}

TEST(Counted, SpansAreClosedAndKnowTheMillisecond) {
  CountList list;
  const std::array<int64_t, 4>& spans = kCountedSpansMs;
  for (const int64_t span : spans) {
    list.entries.push_back(Event("author:1", kNow - span));
    list.entries.push_back(Event("author:1", kNow - span - 1));
  }
  const Answer answer = Ask(list, "author");
  ASSERT_EQ(answer.groups.size(), 1u);
  EXPECT_EQ(Served(answer.groups[0]).events, (std::array<uint32_t, 4>{1, 3, 5, 7}));
  EXPECT_EQ(Served(answer.groups[0]).at_least, (std::array<bool, 4>{}));
}

TEST(Counted, FactsAreCountedApart) {
  CountList list;
  list.entries = {Event("a", kNow, CountedFact::kPlayed), Event("a", kNow, CountedFact::kExposed),
                  Event("a", kNow - 1, CountedFact::kExposed)};
  const Answer answer = Ask(list, "a");
  ASSERT_EQ(answer.groups.size(), 1u);
  const auto in_the_hour = [&](Fact fact) {
    return answer.groups[0].by_fact[static_cast<size_t>(fact)].events[0];
  };
  EXPECT_EQ(in_the_hour(Fact::kPlayed), 1u);
  EXPECT_EQ(in_the_hour(Fact::kServed), 0u);
  EXPECT_EQ(in_the_hour(Fact::kExposed), 2u);
}

TEST(Counted, GroupsOfTheKindAloneThoseWithTheNewestEventsFirst) {
  CountList list;
  list.entries = {Event("author:1", kNow - 2), Event("author:2", kNow), Event("authors", kNow),
                  Event("author", kNow - 1), Event("author:3", kNow - 31 * kDay)};
  Answer answer = Ask(list, "author");
  ASSERT_EQ(answer.groups.size(), 3u) << "what is too old does not count";
  EXPECT_EQ(answer.groups[0].group, "author:2");
  EXPECT_EQ(answer.groups[1].group, "author");
  EXPECT_EQ(answer.groups[2].group, "author:1");
  EXPECT_FALSE(answer.more);
  answer = Ask(list, "author", 2);
  EXPECT_EQ(answer.groups.size(), 2u);
  EXPECT_TRUE(answer.more);
  EXPECT_EQ(Ask(list, "author:2").groups.size(), 1u);
  EXPECT_EQ(Ask(list, "topic").groups.size(), 0u);
}

TEST(Counted, AllGroupsAPageAtATimeByName) {
  CountList list;
  list.entries = {Event("b", kNow), Event("a:1", kNow - 2), Event("c", kNow - 1)};
  list.Normalize();
  std::string names, after;
  bool more = true;
  while (more) {
    const CountsRequest request{.limit = 1, .by_name = true, .after = after};
    const std::vector<GroupCounts> page = Counted(list).Groups(request, kNow, &more);
    ASSERT_EQ(page.size(), 1u);
    after = page[0].group;
    names += after + " ";
  }
  EXPECT_EQ(names, "a:1 b c ");
}

TEST(Counted, AFullKeyMayHaveHadMore) {
  CountList list;
  for (int i = 0; i < 300; ++i) list.entries.push_back(Event("a", kNow - i * kHour));
  const Answer answer = Ask(list, "a");
  ASSERT_EQ(answer.groups.size(), 1u);
  EXPECT_EQ(Served(answer.groups[0]).events, (std::array<uint32_t, 4>{2, 25, 169, 255}));
  EXPECT_EQ(Served(answer.groups[0]).at_least, (std::array<bool, 4>{false, false, false, true}));
}

TEST(Counted, AFullUserMayHaveHadMore) {
  CountList list;
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("a:" + std::to_string(i));
  for (int i = 0; i < 200; ++i) {
    for (const std::string& key : keys) list.entries.push_back(Event(key, kNow - i * kHour));
  }
  const Answer answer = Ask(list, "a");
  ASSERT_EQ(answer.groups.size(), 100u);
  for (const GroupCounts& group : answer.groups) {
    EXPECT_EQ(Served(group).at_least, (std::array<bool, 4>{false, false, true, true}));
  }
}

TEST(Counted, AKindCountsForAsLongAsThePolicySaysToTheMillisecond) {
  const std::vector<CountedKind> kinds{{"author", 7 * 86'400'000LL}, {"item", 86'400'000}};
  CountList list;
  list.entries = {
      Event("author:1", kNow - 7 * 86'400'000LL), Event("author:1", kNow - 7 * 86'400'000LL - 1),
      Event("author:2", kNow - 8 * 86'400'000LL), Event("topic", kNow - 8 * 86'400'000LL)};
  const std::string item = ItemKey(IdRef("v1")), old = ItemKey(IdRef("v2"));
  list.entries.push_back(Event(item, kNow - 86'400'000));
  list.entries.push_back(Event(old, kNow - 86'400'001));
  list.Normalize();
  const Counted counted(list, kinds);
  bool more = false;
  const auto all = counted.Groups({.by_name = true}, kNow, &more);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].group + "/" + all[0].item, "author:1/");
  EXPECT_EQ(Served(all[0]).events, (std::array<uint32_t, 4>{0, 0, 1, 1}));
  EXPECT_EQ(all[1].group, "topic");
  EXPECT_EQ(all[2].group + "/" + all[2].item, "item/v1");
  EXPECT_EQ(Served(all[2]).events, (std::array<uint32_t, 4>{0, 1, 1, 1}));
  EXPECT_EQ(counted.Events("author:1", Fact::kServed, 0, kNow), 1u);
  EXPECT_EQ(counted.Groups({.kind = "item"}, kNow, &more).size(), 1u);
  EXPECT_EQ(counted.Groups({.by_name = true, .after = "topic"}, kNow, &more).size(), 1u);
  EXPECT_TRUE(counted.Groups({.by_name = true, .after_item = "v1"}, kNow, &more).empty());
  EXPECT_EQ(Counted(list).Groups({.by_name = true}, kNow, &more).size(), 3u) << "no items";
}

TEST(Counted, AReservationIsForgottenWithItsKind) {
  const std::vector<CountedKind> kinds{{"ad", 86'400'000}};
  CountList list;
  list.entries = {Event("ad:1", kNow - 86'400'001, CountedFact::kReserved)};
  list.entries[0].for_ms = kCountedForMs;
  EXPECT_EQ(Counted(list, kinds).Events("ad:1", Fact::kServed, kNow, kNow), 0u);
  EXPECT_EQ(Counted(list).Events("ad:1", Fact::kServed, kNow, kNow), 1u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
