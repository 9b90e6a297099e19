// A slot's plays against a map of sets: whatever is added, one by one and in batches, and
// erased, in tables that grow.

#include "ring/staging.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Model {
  using Key = std::tuple<uint16_t, int64_t, std::string>;  // as entries are ordered
  std::map<Key, std::set<Fingerprint>> entries;

  std::set<Fingerprint> Collect(uint16_t collection, const std::string& user,
                                int64_t oldest_bucket) const {
    std::set<Fingerprint> items;
    for (const auto& [key, of] : entries) {
      const auto& [its_collection, bucket, its_user] = key;
      if (its_collection == collection && its_user == user && bucket >= oldest_bucket) {
        items.insert(of.begin(), of.end());
      }
    }
    return items;
  }
};

void ExpectEntries(const Staging& staging, const Model& model) {
  const std::vector<const Staging::Entry*> entries = staging.Entries();
  ASSERT_EQ(entries.size(), model.entries.size());
  size_t at = 0;
  for (const auto& [key, items] : model.entries) {
    const Staging::Entry& entry = *entries[at++];
    ASSERT_EQ(key, Model::Key(entry.collection, entry.bucket, std::string(entry.user())));
    ASSERT_EQ(std::set<Fingerprint>(entry.items, entry.items + entry.count), items);
  }
}

// Batches of every size: below and above what is grouped, and of several groups.
template <typename Below>
void AddBatch(uint64_t size, uint64_t users, uint16_t collection, const Below& below,
              Staging* staging, Model* model) {
  std::deque<std::string> names;
  std::vector<StagedPlay> plays;
  for (uint64_t i = 0; i < size; ++i) {
    names.push_back("u" + std::to_string(below(users)));
    plays.push_back({names.back(), static_cast<int64_t>(below(4)), below(1'000)});
    model->entries[{collection, plays[i].bucket, names.back()}].insert(plays[i].item);
  }
  staging->AddAll(collection, plays);
}

class StagingTest : public testing::TestWithParam<uint32_t> {};

TEST_P(StagingTest, HoldsWhatTheModelHolds) {
  std::mt19937_64 chance(GetParam());
  const auto below = [&](uint64_t limit) { return chance() % limit; };
  // From a few users with many plays to thousands with a few.
  const uint64_t users = uint64_t{1} << (4 * GetParam());
  Staging staging;
  Model model;
  for (int i = 0; i < 30'000; ++i) {
    const auto collection = static_cast<uint16_t>(below(3));
    const std::string user = "u" + std::to_string(below(users));
    if (below(200) == 0) {
      staging.Erase(collection, user);
      std::erase_if(model.entries, [&](const auto& one) {
        return std::get<0>(one.first) == collection && std::get<2>(one.first) == user;
      });
      continue;
    }
    const auto bucket = static_cast<int64_t>(below(4));
    const Fingerprint item = below(1'000);
    if (below(2'000) == 0) {
      AddBatch(below(3'000), users, collection, below, &staging, &model);
      continue;
    }
    staging.Add(collection, {user, bucket, item});
    model.entries[{collection, bucket, user}].insert(item);
  }
  ExpectEntries(staging, model);
  for (int i = 0; i < 200; ++i) {
    const auto collection = static_cast<uint16_t>(below(3));
    const std::string user = "u" + std::to_string(below(users + 1));
    const auto oldest = static_cast<int64_t>(below(5));
    std::vector<Fingerprint> items;
    BucketSpan buckets;
    staging.Collect(collection, user, oldest, &items, &buckets);
    EXPECT_EQ(std::set<Fingerprint>(items.begin(), items.end()),
              model.Collect(collection, user, oldest));
  }
}

INSTANTIATE_TEST_SUITE_P(Users, StagingTest, testing::Values(0u, 1u, 2u, 3u));

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
