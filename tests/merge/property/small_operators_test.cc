// Impressions: a union by item keeping the newest time, then the newest 100, whatever the order,
// the grouping and the repeats. User records: the maximum of every field, all settings of history
// united. History: the greatest state.

#include "merge/small_operators.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/user_codec.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb {
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
    const rocksdb::MergeOperator::MergeOperationInput in("user", has_base ? &existing : nullptr,
                                                         taken, nullptr);
    EXPECT_TRUE(merge.FullMergeV2(in, &out));
    operands.erase(operands.begin(), operands.begin() + static_cast<int64_t>(count));
    base = merged;
    has_base = true;
  }
  return base;
}

TEST(ImpressionsMerge, KeepsTheNewestOfEachItemAndTheNewestOfAll) {
  Random random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    auto rules = std::make_shared<ImpressionRules>();
    rules->counters = std::make_shared<Counters>();
    rules->limit = static_cast<uint32_t>(1 + Below(random, 30));
    const auto merge = NewImpressionsOperator(rules);
    const size_t catalogue = 1 + Below(random, 60);
    std::vector<ImpressionEntry> all;
    std::vector<std::string> operands;
    const size_t calls = 1 + Below(random, 12);
    for (size_t call = 0; call < calls; ++call) {
      ImpressionList list;
      const auto at = static_cast<int64_t>(1000 + Below(random, 5));  // times collide
      const auto items = static_cast<uint32_t>(1 + Below(random, 20));
      for (uint32_t position = 0; position < items; ++position) {
        list.entries.push_back({at, call + 1, position, Below(random, catalogue)});
      }
      all.insert(all.end(), list.entries.begin(), list.entries.end());
      list.Normalize(rules->limit);
      std::string bytes;
      list.Encode(&bytes);
      operands.push_back(bytes);
    }
    // The model: newest entry of each item, newest items first.
    std::map<Fingerprint, ImpressionEntry> newest;
    for (const ImpressionEntry& entry : all) {
      const auto [at, added] = newest.emplace(entry.item, entry);
      if (!added) at->second = std::max(at->second, entry);
    }
    std::vector<ImpressionEntry> expected;
    for (const auto& [item, entry] : newest) expected.push_back(entry);
    std::sort(expected.rbegin(), expected.rend());
    expected.resize(std::min<size_t>(expected.size(), rules->limit));

    ImpressionList got;
    ASSERT_TRUE(got.Parse(MergeRandomly(random, *merge, operands)));
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

}  // namespace
}  // namespace seendb
