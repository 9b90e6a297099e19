// Events by shard: a group for each shard that has some, whichever way they are sorted.

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "shard/events.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// The indexes of each group, by shard, as groups() has them.
std::vector<std::pair<uint32_t, std::vector<uint32_t>>> GroupsOf(
    const std::vector<uint32_t>& shard_of) {
  std::vector<ShardEvent> events(shard_of.size());
  for (size_t i = 0; i < events.size(); ++i) events[i].index = static_cast<uint32_t>(i);
  const EventsByShard by_shard(std::move(events), shard_of);
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> groups;
  for (const ShardGroup& group : by_shard.groups()) {
    groups.emplace_back(group.shard, std::vector<uint32_t>());
    for (const ShardEvent& event : group.events) groups.back().second.push_back(event.index);
  }
  return groups;
}

TEST(EventsByShardTest, EachShardThatHasSomeIsAGroupInTheOrderOfTheCall) {
  using Groups = std::vector<std::pair<uint32_t, std::vector<uint32_t>>>;
  EXPECT_EQ(GroupsOf({}), Groups());
  EXPECT_EQ(GroupsOf({1'023}), (Groups{{1'023, {0}}}));
  EXPECT_EQ(GroupsOf({7, 7, 7}), (Groups{{7, {0, 1, 2}}}));
  EXPECT_EQ(GroupsOf({900, 3, 900, 5}), (Groups{{3, {1}}, {5, {3}}, {900, {0, 2}}}));
  EXPECT_EQ(GroupsOf({1, 0, 1, 0, 3}), (Groups{{0, {1, 3}}, {1, {0, 2}}, {3, {4}}}));
}

TEST(EventsByShardTest, ManyAndFewAreSortedAlike) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 2'000; ++round) {
    const uint32_t shards = 1u << (random() % 11);
    std::vector<uint32_t> shard_of(random() % 40 * (random() % 40));
    for (uint32_t& shard : shard_of) shard = static_cast<uint32_t>(random() % shards);
    std::map<uint32_t, std::vector<uint32_t>> expected;
    for (size_t i = 0; i < shard_of.size(); ++i) {
      expected[shard_of[i]].push_back(static_cast<uint32_t>(i));
    }
    const auto groups = GroupsOf(shard_of);
    ASSERT_EQ(std::vector(expected.begin(), expected.end()),
              (std::vector<std::pair<const uint32_t, std::vector<uint32_t>>>(groups.begin(),
                                                                             groups.end())));
  }
}

TEST(EventsByShardTest, GroupsStayGoodWhereTheyAreMoved) {
  std::vector<ShardEvent> events(3);
  const std::vector<uint32_t> shard_of = {2, 1, 2};
  EventsByShard first(std::move(events), shard_of);
  const ShardEvent* const at = first.groups()[1].events.data();
  const EventsByShard second = std::move(first);
  EXPECT_EQ(second.groups()[1].events.data(), at);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
