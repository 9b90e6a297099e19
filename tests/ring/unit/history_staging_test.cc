#include "ring/history_staging.h"

#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb {
namespace {

using Key = std::tuple<uint16_t, std::string, std::string>;  // collection, user, item

std::map<std::string, int64_t> ItemsOf(const HistoryStaging& staging, uint16_t collection,
                                       const std::string& user) {
  std::map<std::string, int64_t> items;
  staging.ForUser(collection, user, [&](std::string_view item, const HistoryView& state) {
    EXPECT_TRUE(items.emplace(item, state.at_ms).second) << "twice: " << item;
  });
  return items;
}

TEST(HistoryStaging, KeepsTheGreatestStateOfEachItem) {
  std::mt19937_64 random(test::Seed());
  HistoryStaging staging;
  std::map<Key, std::pair<int64_t, std::string>> model;
  for (int i = 0; i < 20'000; ++i) {
    const auto collection = static_cast<uint16_t>(random() % 2);
    const std::string user = "user" + std::to_string(random() % 40);
    const std::string item = "an item of some length " + std::to_string(random() % 30);
    const auto at_ms = static_cast<int64_t>(random() % 50);
    const std::string payload(random() % 60, static_cast<char>('a' + random() % 3));
    staging.Add(collection, {user, item, at_ms, payload});
    auto& known =
        model.emplace(Key(collection, user, item), std::pair(kNoTimeMs, "")).first->second;
    known = std::max(known, std::pair(at_ms, payload));
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
    EXPECT_EQ(entry->at_ms, wanted->second.first);
    EXPECT_EQ(entry->payload, wanted->second.second);
    ++wanted;
  }
  EXPECT_EQ(wanted, model.end());
  std::map<std::string, int64_t> of_one;
  for (const auto& [key, state] : model) {
    if (std::get<0>(key) == 1 && std::get<1>(key) == "user7")
      of_one[std::get<2>(key)] = state.first;
  }
  EXPECT_EQ(ItemsOf(staging, 1, "user7"), of_one);
  EXPECT_TRUE(ItemsOf(staging, 1, "nobody").empty());
}

// A player reports for hours: its state is one, in the memory of the first.
TEST(HistoryStaging, HeartbeatsTakeNoMoreMemory) {
  HistoryStaging staging;
  const std::string payload(40, 'p');
  staging.Add(0, {"u", "v", 0, payload});
  const uint64_t bytes = staging.bytes();
  EXPECT_GT(bytes, payload.size());
  for (int64_t at_ms = 1; at_ms < 1000; ++at_ms) staging.Add(0, {"u", "v", at_ms, payload});
  EXPECT_EQ(staging.bytes(), bytes);
  EXPECT_EQ(staging.entries(), 1u);
  EXPECT_EQ(ItemsOf(staging, 0, "u"), (std::map<std::string, int64_t>{{"v", 999}}));
}

}  // namespace
}  // namespace seendb
