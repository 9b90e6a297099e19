// What slots hold of a user, page by page, is what a map of the same states is: whatever is staged,
// overwritten and erased between the pages.

#include "ring/staged_history.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Model = std::map<std::string, HistoryState>;  // of one slot, by item

const std::string kDevices[] = {"tv", "a telephone with a long name"};

std::string WordsOf(const HistoryState& report) {
  std::string bytes;
  PutWords(&bytes, report);
  return bytes;
}

class StagedHistoryTest : public testing::Test {
 protected:
  StagedHistoryTest() {
    for (int i = 0; i < 3; ++i) slots_.push_back(std::make_shared<HistoryStaging>());
    models_.resize(slots_.size());
  }

  void Write(size_t items) {
    const size_t slot = random_() % slots_.size();
    const std::string item = "item" + std::to_string(random_() % items);
    const auto at_ms = static_cast<int64_t>(random_() % 400);
    HistoryState report;
    report.at_ms = at_ms;
    if (random_() % 2 == 0) report.progress_s = {at_ms, static_cast<int32_t>(random_() % 90)};
    if (random_() % 3 == 0) report.device = {at_ms, kDevices[random_() % 2]};
    slots_[slot]->Add(7, {"u", item, at_ms, WordsOf(report)});
    slots_[slot]->Add(7, {"another", item, at_ms, WordsOf(report)});
    models_[slot][item].Join(report);
  }
  // All rows, each once, newest first; of one time by item.
  std::vector<std::pair<int64_t, std::string>> Rows() const {
    std::set<std::pair<int64_t, std::string>> rows;
    for (const Model& model : models_) {
      for (const auto& [item, state] : model) rows.insert({-state.at_ms, item});
    }
    std::vector<std::pair<int64_t, std::string>> sorted;
    for (const auto& [negative, item] : rows) sorted.emplace_back(-negative, item);
    return sorted;
  }
  void CheckPages(const StagedHistory& staged, size_t most) const {
    std::vector<std::pair<int64_t, std::string>> got;
    int64_t at_ms = INT64_MAX;
    std::string item;
    while (true) {
      const auto rows = staged.Behind(at_ms, item, most);
      ASSERT_LE(rows.size(), most);
      for (const auto& row : rows) {
        if (got.empty() || got.back() != std::pair(row.at_ms, row.item)) {
          got.emplace_back(row.at_ms, row.item);
        }
      }
      if (rows.size() < most) break;
      at_ms = rows.back().at_ms;
      item = rows.back().item;
    }
    ASSERT_EQ(got, Rows());
    ASSERT_EQ(staged.NewestMs(), got.empty() ? kNoTimeMs : got.front().first);
  }
  void CheckItems(const StagedHistory& staged, size_t items) const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < items + 2; ++i) texts.push_back("item" + std::to_string(i));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    // Views of staged texts are good within the visit alone: here devices are constants.
    Model joined, expected;
    staged.ForItems(views, [&](size_t i, HistoryState state) {
      if (state.device.said()) state.device.value = kDevices[state.device.value == kDevices[1]];
      joined[texts[i]].Join(state);
    });
    for (const Model& model : models_) {
      for (const auto& [item, state] : model) expected[item].Join(state);
    }
    ASSERT_EQ(joined, expected);
  }
  StagedHistory Staged() const { return {slots_, 7, "u"}; }

  std::mt19937_64 random_{test::Seed()};
  std::vector<std::shared_ptr<HistoryStaging>> slots_;
  std::vector<Model> models_;
};

TEST_F(StagedHistoryTest, PagesAreTheWholeWhileItIsWritten) {
  for (const size_t items : {5u, 40u, 300u}) {
    for (int round = 0; round < 60; ++round) {
      for (size_t i = 0; i < items / 2; ++i) Write(items);
      if (random_() % 20 == 0) {
        const size_t slot = random_() % slots_.size();
        slots_[slot]->Erase(7, "u");
        models_[slot].clear();
      }
      const StagedHistory staged = Staged();
      CheckPages(staged, 1 + random_() % 20);
      CheckItems(staged, items);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(StagedHistoryTest, TellsOfEveryChange) {
  for (int i = 0; i < 300; ++i) Write(100);
  const StagedHistory staged = Staged();
  const uint64_t before = staged.Changes();
  CheckPages(staged, 7);
  EXPECT_EQ(staged.Changes(), before) << "reading is no change";
  slots_[1]->Add(7, {"another", "item1", 10'000, ""});
  slots_[1]->Add(7, {"u", "item1", -1, ""});  // older than what is there, or new
  const uint64_t older = staged.Changes();
  slots_[1]->Add(7, {"u", "item1", 10'000, ""});
  EXPECT_GT(staged.Changes(), older);
  const uint64_t newer = staged.Changes();
  slots_[2]->Erase(7, "u");
  EXPECT_GT(staged.Changes(), newer);
}

TEST_F(StagedHistoryTest, AFrozenOneStaysAsItIs) {
  for (int i = 0; i < 500; ++i) Write(100);
  FrozenBudget budget;
  StagedHistory staged = Staged();
  ASSERT_TRUE(staged.Freeze(&budget));
  const std::vector<StagedHistory::Row> before = staged.Behind(INT64_MAX, {}, 1'000);
  for (int i = 0; i < 500; ++i) Write(100);
  slots_[0]->Erase(7, "u");
  const std::vector<StagedHistory::Row> after = staged.Behind(INT64_MAX, {}, 1'000);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].at_ms, after[i].at_ms);
    EXPECT_EQ(before[i].item, after[i].item);
  }
}

TEST_F(StagedHistoryTest, CopiesHaveOneBudget) {
  for (int i = 0; i < 64; ++i) {
    const std::string item = "item" + std::to_string(i) + std::string(700 << 10, 'x');
    slots_[0]->Add(7, {"u", item, i, std::string(1, '\0')});
  }
  FrozenBudget budget;
  StagedHistory second = Staged();
  {
    StagedHistory first = Staged();
    ASSERT_TRUE(first.Freeze(&budget));
    EXPECT_FALSE(second.Freeze(&budget)) << "two of them are more than 64 MB";
    EXPECT_EQ(second.Behind(INT64_MAX, {}, 100).size(), 64u) << "it is as it was";
  }
  EXPECT_TRUE(second.Freeze(&budget));
}

TEST_F(StagedHistoryTest, AnOrderOfTimeIsMemoryOfTheSlot) {
  for (int i = 0; i < 1'000; ++i) {
    slots_[0]->Add(7, {"u", "item" + std::to_string(i), i, ""});
  }
  const uint64_t before = slots_[0]->bytes();
  EXPECT_EQ(Staged().Behind(INT64_MAX, {}, 1).size(), 1u);
  EXPECT_GT(slots_[0]->bytes(), before + 1'000 * sizeof(void*));
  slots_[0]->Erase(7, "u");
  EXPECT_EQ(slots_[0]->bytes(), before);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
