#include "ring/history_staging.h"

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Key = std::tuple<uint16_t, std::string, std::string>;  // collection, user, item

std::map<std::string, int64_t> ItemsOf(const HistoryStaging& staging, uint16_t collection,
                                       const std::string& user) {
  std::map<std::string, int64_t> items;
  staging.ForUser(collection, user, [&](const HistoryStaging::Entry& entry) {
    EXPECT_TRUE(items.emplace(entry.item, entry.at_ms).second) << "twice: " << entry.item;
  });
  return items;
}

// What a report says at its time, as bytes.
std::string WordsOf(const HistoryState& report) {
  std::string bytes;
  PutWords(&bytes, report);
  return bytes;
}

TEST(HistoryStaging, JoinsTheReportsOfEachItem) {
  std::mt19937_64 random(test::Seed());
  HistoryStaging staging;
  const std::vector<std::string> devices = {"a tv", "a telephone with a long name"};
  std::map<Key, HistoryState> model;
  for (int i = 0; i < 20'000; ++i) {
    const auto collection = static_cast<uint16_t>(random() % 2);
    const std::string user = "user" + std::to_string(random() % 40);
    const std::string item = "an item of some length " + std::to_string(random() % 30);
    const auto at_ms = static_cast<int64_t>(random() % 50);
    HistoryState report;
    report.at_ms = at_ms;
    if (random() % 2 == 0) report.progress_s = {at_ms, static_cast<int32_t>(random() % 90)};
    if (random() % 3 == 0) report.device = {at_ms, devices[random() % devices.size()]};
    staging.Add(collection, {user, item, at_ms, WordsOf(report)});
    model[Key(collection, user, item)].Join(report);
    if (random() % 500 == 0) {
      staging.Erase(collection, user);
      std::erase_if(model, [&](const auto& one) {
        return std::get<0>(one.first) == collection && std::get<1>(one.first) == user;
      });
    }
  }
  auto wanted = model.begin();
  for (const HistoryStaging::Entry* entry : staging.Entries()) {
    ASSERT_NE(wanted, model.end());
    EXPECT_EQ(Key(entry->user->collection, entry->user->name, entry->item), wanted->first);
    EXPECT_EQ(entry->state(), wanted->second);
    ++wanted;
  }
  EXPECT_EQ(wanted, model.end());
  std::map<std::string, int64_t> of_one;
  for (const auto& [key, state] : model) {
    if (std::get<0>(key) == 1 && std::get<1>(key) == "user7")
      of_one[std::get<2>(key)] = state.at_ms;
  }
  EXPECT_EQ(ItemsOf(staging, 1, "user7"), of_one);
  EXPECT_TRUE(ItemsOf(staging, 1, "nobody").empty());
}

// A player reports for hours: its state is one, in the memory of the first.
TEST(HistoryStaging, HeartbeatsTakeNoMoreMemory) {
  HistoryStaging staging;
  const std::string device(40, 'd');
  const auto beat = [&](int64_t at_ms) {
    HistoryState report;
    report.at_ms = at_ms;
    report.device = {at_ms, device};
    staging.Add(0, {"u", "v", at_ms, WordsOf(report)});
  };
  beat(0);
  const uint64_t bytes = staging.bytes();
  EXPECT_GT(bytes, device.size());
  for (int64_t at_ms = 1; at_ms < 1000; ++at_ms) beat(at_ms);
  EXPECT_EQ(staging.bytes(), bytes);
  EXPECT_EQ(staging.entries(), 1u);
  EXPECT_EQ(ItemsOf(staging, 0, "u"), (std::map<std::string, int64_t>{{"v", 999}}));
}

// A report that came late, and adds a word, is a change: a page that is read must be read again.
TEST(HistoryStaging, ALateReportAddsWhatTheNewestDoesNotSay) {
  HistoryStaging staging;
  HistoryState newest, late;
  newest.at_ms = 9;
  newest.progress_s = {9, 60};
  late.at_ms = 5;
  late.progress_s = {5, 30};
  late.device = {5, "tv"};
  staging.Add(0, {"u", "v", 9, WordsOf(newest)});
  const uint64_t before = staging.ChangesOf(0, "u");
  staging.Add(0, {"u", "v", 5, WordsOf(late)});
  EXPECT_GT(staging.ChangesOf(0, "u"), before);
  const uint64_t after = staging.ChangesOf(0, "u");
  staging.Add(0, {"u", "v", 5, WordsOf(late)});
  EXPECT_EQ(staging.ChangesOf(0, "u"), after) << "a repetition is no change";
  newest.Join(late);
  ASSERT_EQ(staging.Entries().size(), 1u);
  EXPECT_EQ(staging.Entries()[0]->state(), newest);
  EXPECT_EQ(newest.device.said_ms, 5);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
