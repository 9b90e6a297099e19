// Random plays with groups, deletions that name some, drains and openings, against a model: no
// candidate is unseen that the model calls seen, and of a page's reposts one is unseen.

#include <map>
#include <random>
#include <set>
#include <string_view>

#include "support/engine_fixture.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class SameAsPropertyTest : public EngineTest {
 protected:
  static constexpr uint32_t kItems = 40, kGroups = 12;

  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  std::vector<std::string> SomeGroups() {
    std::vector<std::string> groups;
    for (uint32_t left = Below(4); left > 0; --left) {
      groups.push_back("src:" + std::to_string(Below(kGroups)));
    }
    return groups;
  }
  static std::vector<std::string_view> Views(const std::vector<std::string>& groups) {
    return {groups.begin(), groups.end()};
  }

  void PlayOne() {
    const std::string item = "v" + std::to_string(Below(kItems));
    const std::vector<std::string> groups = SomeGroups();
    const std::vector<std::string_view> views = Views(groups);
    const struct Play played { .user = IdRef("u"), .item = IdRef(item), .same_as = views };
    ASSERT_TRUE(engine_->RecordPlays({&played, 1}).ok());
    items_.insert(item);
    groups_.insert(groups.begin(), groups.end());
  }
  void DeleteOne() {
    const std::string item = "v" + std::to_string(Below(kItems));
    const std::vector<std::string> groups = SomeGroups();
    const std::vector<std::string_view> views = Views(groups);
    const IdRef id(item);
    ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "default", {&id, 1}, {}, views).ok());
    items_.erase(item);
    for (const std::string& group : groups) groups_.erase(group);
  }
  void AskAPage() {
    std::vector<std::string> items;
    std::vector<std::vector<std::string>> groups(20);
    std::vector<std::vector<std::string_view>> views(groups.size());
    std::vector<CandidateGroups> of;
    std::vector<IdRef> ids;
    for (size_t i = 0; i < groups.size(); ++i) {
      items.push_back("v" + std::to_string(Below(kItems)));
      groups[i] = SomeGroups();
      views[i] = Views(groups[i]);
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      ids.emplace_back(items[i]);
      of.push_back({.same_as = views[i]});
    }
    const Question question{.groups = of};
    const FilterRequest request{
        .user = IdRef("u"), .items = ids, .question = &question, .verify = Below(2) == 0};
    ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
    // Lists are exact, so the model knows each answer.
    std::set<std::string> known, on_page;
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < groups.size(); ++i) {
      if (!known.insert(items[i]).second || items_.contains(items[i])) continue;
      bool seen = false;
      for (const std::string& group : groups[i]) {
        seen = seen || groups_.contains(group) || on_page.contains(group);
      }
      if (seen) continue;
      expected.push_back(i);
      on_page.insert(groups[i].begin(), groups[i].end());
    }
    ASSERT_EQ(answer_.unseen, expected);
  }

  std::mt19937_64 random_{test::Seed()};
  std::set<std::string> items_, groups_;  // seen
};

TEST_F(SameAsPropertyTest, WhatIsSeenOfOneIsSeenOfAll) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  Put("default", patch);
  for (int step = 0; step < 500; ++step) {
    clock_.Advance(1);
    switch (Below(12)) {
      case 0:
        Drain();
        break;
      case 1:
        if (Below(8) == 0) Reopen();
        break;
      case 2:
      case 3:
        DeleteOne();
        break;
      case 4:
      case 5:
      case 6:
        PlayOne();
        break;
      default:
        AskAPage();
    }
    if (HasFatalFailure()) FAIL() << "step " << step;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
