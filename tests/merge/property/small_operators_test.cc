// Impressions: a union by item and surface keeping the newest time, then the newest 100, whatever
// the order, the grouping and the repeats. User records: the maximum of every field, all settings
// of history united. History: the greatest state. Marks: the furthest said after the deletion.
// Counts: each event once a key, of a key and fact the newest 255.

#include "merge/small_operators.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "format/counts_codec.h"
#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/marks_codec.h"
#include "format/user_codec.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

size_t Below(Random& random, size_t end) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(random);
}

// Merges `operands` by a random tree with repeats, as RocksDB may.
std::string MergeRandomly(Random& random, const rocksdb::MergeOperator& merge,
                          std::vector<std::string> operands) {
  std::shuffle(operands.begin(), operands.end(), random);
  const std::vector<std::string> given = operands;
  for (size_t i = 0; i < given.size() / 3; ++i) {
    operands.insert(operands.begin() + static_cast<int64_t>(Below(random, operands.size() + 1)),
                    given[Below(random, given.size())]);
  }
  std::string base;
  bool has_base = false;
  while (!operands.empty()) {
    const size_t count = 1 + Below(random, operands.size());
    const std::vector<rocksdb::Slice> taken(operands.begin(),
                                            operands.begin() + static_cast<int64_t>(count));
    std::string merged = "left over from another key";
    if (Below(random, 2) == 0 && operands.size() > 1) {
      EXPECT_TRUE(merge.PartialMergeMulti("user", {taken.begin(), taken.end()}, &merged, nullptr));
      operands.erase(operands.begin(), operands.begin() + static_cast<int64_t>(count));
      operands.insert(operands.begin() + static_cast<int64_t>(Below(random, operands.size() + 1)),
                      merged);
      continue;
    }
    rocksdb::Slice existing(base), operand(nullptr, 0);
    rocksdb::MergeOperator::MergeOperationOutput out(merged, operand);
    const rocksdb::Slice key("user");
    const rocksdb::MergeOperator::MergeOperationInput in(key, has_base ? &existing : nullptr, taken,
                                                         nullptr);
    EXPECT_TRUE(merge.FullMergeV2(in, &out));
    operands.erase(operands.begin(), operands.begin() + static_cast<int64_t>(count));
    base = merged;
    has_base = true;
  }
  return base;
}

// By item and surface.
using NewestOfPlaces = std::map<std::pair<Fingerprint, std::string_view>, ImpressionEntry>;

TEST(ImpressionsMerge, KeepsTheNewestOfEachItemAndSurfaceAndTheNewestOfAll) {
  constexpr std::string_view kSurfaces[] = {"", "home", "search"};
  Random random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    auto rules = std::make_shared<ImpressionRules>();
    rules->counters = std::make_shared<Counters>();
    rules->limit = static_cast<uint32_t>(1 + Below(random, 30));
    const auto merge = NewImpressionsOperator(rules);
    const size_t catalogue = 1 + Below(random, 60);
    const size_t surfaces = round % 2 == 0 ? 1 : std::size(kSurfaces);
    std::vector<ImpressionEntry> all;
    std::vector<std::string> operands;
    const size_t calls = 1 + Below(random, 12);
    for (size_t call = 0; call < calls; ++call) {
      ImpressionList list;
      const auto at = static_cast<int64_t>(1000 + Below(random, 5));  // times collide
      const auto items = static_cast<uint32_t>(1 + Below(random, 20));
      for (uint32_t position = 0; position < items; ++position) {
        list.entries.push_back({at,
                                call + 1,
                                position,
                                Below(random, catalogue),
                                {},
                                kSurfaces[Below(random, surfaces)]});
      }
      all.insert(all.end(), list.entries.begin(), list.entries.end());
      list.Normalize(rules->limit);
      std::string bytes;
      list.Encode(&bytes);
      operands.push_back(bytes);
    }
    // The model: newest entry of each item and surface, newest first.
    NewestOfPlaces newest;
    for (const ImpressionEntry& entry : all) {
      const auto [at, added] = newest.emplace(std::pair(entry.item, entry.surface), entry);
      if (!added) at->second = std::max(at->second, entry);
    }
    std::vector<ImpressionEntry> expected;
    for (const auto& [place, entry] : newest) expected.push_back(entry);
    std::sort(expected.rbegin(), expected.rend());
    expected.resize(std::min<size_t>(expected.size(), rules->limit));

    ImpressionList got;
    const std::string merged = MergeRandomly(random, *merge, operands);
    ASSERT_TRUE(got.Parse(merged));
    ASSERT_EQ(got.entries.size(), expected.size()) << "round " << round;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(got.entries[i] == expected[i]) << "round " << round << ", entry " << i;
    }
  }
}

TEST(ImpressionsMerge, KeepsIdsWhileTheRulesSaySo) {
  auto rules = std::make_shared<ImpressionRules>();
  rules->counters = std::make_shared<Counters>();
  const auto merge = NewImpressionsOperator(rules);
  Random random(test::Seed());
  const ImpressionEntry with{2, 1, 0, 0xA, "v1"}, without{1, 1, 0, 0xB};
  std::vector<std::string> operands(2);
  ImpressionList{{with}, {}}.Encode(&operands[0]);
  ImpressionList{{without}, {}}.Encode(&operands[1]);
  for (const bool ids : {true, false}) {
    Policy policy;
    policy.impression_ids = ids;
    SetImpressionRules(policy, rules.get());
    const std::string merged = MergeRandomly(random, *merge, operands);
    ImpressionList got;
    ASSERT_TRUE(got.Parse(merged));
    ASSERT_EQ(got.entries.size(), 2u);
    EXPECT_EQ(got.entries[0].id, ids ? "v1" : "");
    EXPECT_EQ(merged[0] == static_cast<char>(Tag::kImpressionsWithIds), ids);
  }
}

TEST(ExpiryFilter, TakesWhatIsTooOldOutOfWholeValues) {
  using Filter = rocksdb::CompactionFilter;
  auto rules = std::make_shared<ImpressionRules>();
  const auto factory = NewExpiryFilterFactory(rules);
  EXPECT_EQ(factory->CreateCompactionFilter({}), nullptr) << "nobody said what is too old";
  std::string value, changed, until;
  ImpressionList{{{2000, 2, 0, 0xA}, {1999, 1, 0, 0xB}}, {}}.Encode(&value);
  const auto decide = [&](int64_t forget_before_ms, Filter::ValueType type, std::string_view of) {
    rules->forget_before_ms = forget_before_ms;
    return factory->CreateCompactionFilter({})->FilterV2(0, "u", type, {of.data(), of.size()},
                                                         &changed, &until);
  };
  const auto whole = Filter::ValueType::kValue;
  EXPECT_EQ(decide(1999, whole, value), Filter::Decision::kKeep);
  EXPECT_EQ(decide(2000, whole, value), Filter::Decision::kChangeValue);
  ImpressionList left;
  ASSERT_TRUE(left.Parse(changed));
  ASSERT_EQ(left.entries.size(), 1u);
  EXPECT_EQ(left.entries[0].item, 0xAu);
  EXPECT_EQ(decide(2001, whole, value), Filter::Decision::kRemove);
  EXPECT_EQ(decide(2001, Filter::ValueType::kMergeOperand, value), Filter::Decision::kKeep);
  EXPECT_EQ(decide(2001, whole, value.substr(1)), Filter::Decision::kKeep) << "it is damaged";
}

TEST(ImpressionsMerge, LeavesOutWhatIsTooOldToCount) {
  auto rules = std::make_shared<ImpressionRules>();
  rules->counters = std::make_shared<Counters>();
  const auto merge = NewImpressionsOperator(rules);
  Random random(test::Seed());
  std::vector<std::string> operands(2);
  ImpressionList{{{2000, 2, 0, 0xA, {}, "home"}}, {}}.Encode(&operands[0]);
  ImpressionList{{{1999, 1, 0, 0xB}}, {}}.Encode(&operands[1]);
  for (const int64_t forget_before_ms : {int64_t{1999}, int64_t{2000}, int64_t{2001}}) {
    rules->forget_before_ms = forget_before_ms;
    const std::string merged = MergeRandomly(random, *merge, operands);
    ImpressionList got;
    ASSERT_TRUE(got.Parse(merged));
    EXPECT_EQ(got.entries.size(), static_cast<size_t>(2001 - forget_before_ms));
  }
}

// A call about one user: some events, under one or several keys.
std::vector<CountEntry> SomeCounted(Random& random) {
  constexpr std::string_view kKeys[] = {"author:1", "author:2", "topic"};
  constexpr std::string_view kSurfaces[] = {"", "home"};
  std::vector<CountEntry> entries;
  const size_t events = 1 + Below(random, 120);
  for (size_t i = 0; i < events; ++i) {
    CountEntry event{.key = {},
                     .at_ms = static_cast<int64_t>(Below(random, 400)),
                     .fact = static_cast<CountedFact>(Below(random, 2)),
                     .item = Below(random, 3),
                     .surface = kSurfaces[Below(random, 2)]};
    for (const std::string_view key : kKeys) {
      event.key = key;
      if (Below(random, 2) == 0) entries.push_back(event);
    }
  }
  return entries;
}

TEST(CountsMerge, KeepsEachEventOnceAndTheNewestOfAKeyInAnyOrder) {
  Random random(test::Seed());
  using Counted = std::tuple<int64_t, CountedFact, Fingerprint, std::string_view>;
  for (int round = 0; round < 60; ++round) {
    auto rules = std::make_shared<CountRules>();
    rules->counters = std::make_shared<Counters>();
    rules->forget_before_ms = round % 2 == 0 ? 0 : static_cast<int64_t>(Below(random, 100));
    const auto merge = NewCountsOperator(rules);
    std::vector<std::string> operands;
    std::map<std::pair<std::string_view, CountedFact>, std::set<Counted>> events;
    const size_t calls = 1 + Below(random, 20);
    for (size_t call = 0; call < calls; ++call) {
      CountList list;
      list.entries = SomeCounted(random);
      for (const CountEntry& one : list.entries) {
        if (one.at_ms < rules->forget_before_ms) continue;
        events[{one.key, one.fact}].emplace(one.at_ms, one.fact, one.item, one.surface);
      }
      list.Normalize();
      list.Encode(&operands.emplace_back());
    }
    CountList got;
    const std::string merged = MergeRandomly(random, *merge, operands);
    ASSERT_TRUE(got.Parse(merged));
    std::map<std::pair<std::string_view, CountedFact>, std::set<Counted>> kept;
    for (const CountEntry& one : got.entries) {
      kept[{one.key, one.fact}].emplace(one.at_ms, one.fact, one.item, one.surface);
    }
    for (auto& [key, all] : events) {
      while (all.size() > CountLimits().of_key) all.erase(all.begin());
    }
    std::erase_if(events, [](const auto& one) { return one.second.empty(); });
    ASSERT_EQ(kept, events) << "round " << round;
  }
}

TEST(CountsMerge, WhatItsKindIsNotCountedForLeavesUnlessTheListIsFull) {
  auto rules = std::make_shared<CountRules>();
  rules->counters = std::make_shared<Counters>();
  const auto merge = NewCountsOperator(rules);
  const int64_t now_ms = 2 * kCountedForMs, old_ms = now_ms - 60'001;
  CountList list;
  list.entries = {{.key = "author:1", .at_ms = old_ms}, {.key = "topic", .at_ms = old_ms}};
  std::string value;
  list.Encode(&value);
  Random random(test::Seed());
  const auto left = [&](const std::string& more) {
    CountList got;
    const std::string merged = MergeRandomly(random, *merge, {value, more});
    EXPECT_TRUE(got.Parse(merged));
    return got.entries.size();
  };
  rules->SetKinds({{"author", 60'000}});
  EXPECT_EQ(left(value), 2u) << "nobody said when the present is";
  rules->forget_before_ms = now_ms - kCountedForMs;
  EXPECT_EQ(left(value), 1u);
  rules->SetKinds({});
  EXPECT_EQ(left(value), 2u);
  rules->SetKinds({{"author", 60'000}});
  std::deque<std::string> keys;
  CountList full;
  full.entries.push_back(list.entries.front());
  while (full.entries.size() < CountLimits{}.of_user) {
    const std::string& key = keys.emplace_back("k" + std::to_string(full.entries.size()));
    full.entries.push_back({.key = key, .at_ms = old_ms - 1});
  }
  full.Normalize();
  std::string many;
  full.Encode(&many);
  EXPECT_EQ(left(many), CountLimits{}.of_user) << "by less an answer says that none are missing";
}

TEST(CountsMerge, SetsAsideWhatIsDamaged) {
  auto rules = std::make_shared<CountRules>();
  rules->counters = std::make_shared<Counters>();
  const auto merge = NewCountsOperator(rules);
  std::string sound;
  CountList list;
  list.entries = {{.key = "author:1", .at_ms = 5, .item = 0xA}};
  list.Encode(&sound);
  Random random(test::Seed());
  CountList got;
  const std::string merged = MergeRandomly(random, *merge, {sound, "rotten"});
  ASSERT_TRUE(got.Parse(merged));
  EXPECT_EQ(got.entries, list.entries);
  EXPECT_EQ(got.damage.entries.size(), 1u);
  EXPECT_GE(rules->counters->damaged.load(), 1u);
}

TEST(UsersMerge, KeepsTheMaximumOfEveryField) {
  Random random(test::Seed());
  const auto merge = NewUsersOperator(std::make_shared<Counters>());
  for (int round = 0; round < 200; ++round) {
    UserRecord expected;
    std::vector<std::string> operands;
    for (size_t i = 0; i <= Below(random, 8); ++i) {
      UserRecord record;
      record.erased_seq = Below(random, 1000);
      record.erased_at_ms = static_cast<int64_t>(Below(random, 1000));
      expected.Join(record);
      std::string bytes;
      record.Encode(&bytes);
      operands.push_back(bytes);
    }
    UserRecord got;
    ASSERT_TRUE(got.Parse(MergeRandomly(random, *merge, operands)));
    EXPECT_EQ(got.erased_seq, expected.erased_seq);
    EXPECT_EQ(got.erased_at_ms, expected.erased_at_ms);
    EXPECT_FALSE(got.damaged);
  }
}

UserRecord RandomRecord(Random& random) {
  UserRecord record;
  if (Below(random, 6) == 0) record.erased_seq = Below(random, 20);
  if (Below(random, 3) == 0) record.last_day = static_cast<int64_t>(Below(random, 20)) - 10;
  if (Below(random, 3) == 0) record.forget_before_ms = static_cast<int64_t>(Below(random, 20));
  for (size_t i = Below(random, 4); i > 0; --i) {
    record.toggles.push_back(
        {static_cast<int64_t>(Below(random, 20)), Below(random, 30), Below(random, 2) == 0});
  }
  std::sort(record.toggles.begin(), record.toggles.end());
  record.toggles.erase(std::unique(record.toggles.begin(), record.toggles.end()),
                       record.toggles.end());
  for (const char* collection : {"a", "b"}) {
    if (Below(random, 2) == 0) continue;
    CollectionMarks& marks = record.marks[collection];
    marks.cleared_at_ms = static_cast<int64_t>(Below(random, 20));
    if (Below(random, 4) == 0) {
      marks.forgotten = {1 + Below(random, 20), static_cast<int64_t>(Below(random, 20))};
    }
    // Times grow as they are written.
    const size_t seq = Below(random, 40);
    marks.overrides[Below(random, 4)] = {static_cast<int64_t>(seq / 2), seq, Below(random, 2) == 0};
    if (Below(random, 2) == 0) continue;
    const auto until_ms = static_cast<int64_t>(seq / 2);
    marks.deletions_ahead[Below(random, 4)] = {
        seq, until_ms, until_ms - 1 - static_cast<int64_t>(Below(random, 9))};
  }
  return record;
}

TEST(UsersMerge, SettingsOfHistoryEndTheSameInAnyOrder) {
  Random random(test::Seed());
  const auto merge = NewUsersOperator(std::make_shared<Counters>());
  for (int round = 0; round < 300; ++round) {
    UserRecord expected;
    std::vector<std::string> operands;
    for (size_t i = 0; i <= Below(random, 10); ++i) {
      const UserRecord record = RandomRecord(random);
      expected.Join(record);
      record.Encode(&operands.emplace_back());
    }
    UserRecord got;
    ASSERT_TRUE(got.Parse(MergeRandomly(random, *merge, operands)));
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

TEST(HistoryMerge, JoinsTheStatesAndKeepsWhatIsDamaged) {
  Random random(test::Seed());
  const auto counters = std::make_shared<Counters>();
  const auto merge = NewHistoryOperator(counters);
  for (int round = 0; round < 300; ++round) {
    HistoryState joined;
    std::vector<std::string> operands;
    bool damaged = false;
    for (size_t i = 0; i <= Below(random, 10); ++i) {
      const auto at_ms = static_cast<int64_t>(Below(random, 5));
      HistoryState state;
      state.at_ms = at_ms;
      if (Below(random, 2) == 0) state.progress_s = {at_ms, static_cast<int32_t>(Below(random, 3))};
      if (Below(random, 3) == 0) state.device = {at_ms, "tv"};
      if (Below(random, 4) == 0) state = DeletionAt(at_ms);
      EncodeHistory(state, &operands.emplace_back());
      joined.Join(state);
      if (Below(random, 20) != 0) continue;
      operands.emplace_back("no history");
      damaged = true;
    }
    const std::string merged = MergeRandomly(random, *merge, operands);
    HistoryValue got;
    ASSERT_TRUE(got.Parse(merged));
    EXPECT_EQ(got.state, joined);
    EXPECT_EQ(got.damaged, damaged) << "round " << round;
  }
}

TEST(OwnMerge, TheFurthestMarkSaidAfterTheDeletionCountsInAnyOrder) {
  Random random(test::Seed());
  const auto merge = NewOwnOperator(std::make_shared<Counters>());
  const std::string groups[] = {"a", "b", "c"};
  for (int round = 0; round < 300; ++round) {
    std::vector<StoredMark> marks;
    std::map<std::string_view, int64_t> deleted;
    std::vector<std::string> operands;
    const size_t calls = 1 + Below(random, 15);
    for (size_t call = 0; call < calls; ++call) {
      MarkList list;
      const std::string_view group = groups[Below(random, std::size(groups))];
      const auto at_ms = static_cast<int64_t>(Below(random, 20));
      if (Below(random, 4) == 0) {
        list.deletions.push_back({group, at_ms});
        const auto [known, first] = deleted.try_emplace(group, at_ms);
        if (!first) known->second = std::max(known->second, at_ms);
      } else {
        list.marks.push_back({group, at_ms, static_cast<int64_t>(Below(random, 20))});
        marks.push_back(list.marks.front());
      }
      list.Encode(&operands.emplace_back());
    }
    const std::string value = MergeRandomly(random, *merge, operands);
    MarkList merged;
    ASSERT_TRUE(merged.Parse(value));
    for (const std::string& group : groups) {
      int64_t furthest = -1;
      for (const StoredMark& mark : marks) {
        const bool counts = !deleted.contains(mark.group) || mark.said_ms > deleted.at(mark.group);
        if (mark.group == group && counts) furthest = std::max(furthest, mark.until_ms);
      }
      const StoredMark* const found = merged.Find(group);
      EXPECT_EQ(found == nullptr ? -1 : found->until_ms, furthest) << group;
    }
  }
}

TEST(OwnMerge, SetsAsideWhatIsDamaged) {
  const auto merge = NewOwnOperator(std::make_shared<Counters>());
  MarkList list;
  list.marks.push_back({"g", 1, 2});
  std::string good;
  list.Encode(&good);
  Random random(test::Seed());
  const std::string value = MergeRandomly(random, *merge, {good, "no marks"});
  MarkList merged;
  ASSERT_TRUE(merged.Parse(value));
  EXPECT_EQ(merged.marks, list.marks);
  EXPECT_EQ(merged.damage.entries.size(), 1u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
