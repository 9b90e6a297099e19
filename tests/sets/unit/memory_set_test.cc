#include "sets/memory_set.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::sets::SEENDB_TEST_FILE {
namespace {

std::vector<std::string> Texts(size_t count, const char* prefix) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(prefix + std::to_string(i));
  std::sort(texts.begin(), texts.end());
  return texts;
}

MemorySet SetOf(const std::vector<std::string>& texts) {
  return {std::vector<std::string_view>(texts.begin(), texts.end()), {}, false};
}

TEST(MemorySet, HasItsMembersAndNothingElse) {
  const std::vector<std::string> members = Texts(20'000, "");  // numbers
  const std::vector<std::string> others = Texts(20'000, "x");
  const MemorySet set = SetOf(members);
  std::vector<IdRef> ids;
  for (size_t i = 0; i < members.size(); ++i) {
    ids.emplace_back(members[i]);
    ids.emplace_back(others[i]);
  }
  std::vector<uint8_t> hits(ids.size(), 7);
  set.Find(ids, hits.data());
  for (size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(hits[i], i % 2 == 0 ? 1 : 0) << i;
}

TEST(MemorySet, TextAndNumberAreOneId) {
  const MemorySet set = SetOf({"042", "42"});
  const IdRef ids[] = {IdRef("42"), IdRef(uint64_t{42}), IdRef("042"), IdRef(uint64_t{420})};
  uint8_t hits[4];
  set.Find(ids, hits);
  EXPECT_EQ(std::vector<uint8_t>(hits, hits + 4), (std::vector<uint8_t>{1, 1, 1, 0}));
}

TEST(MemorySet, TheEmptySetHasNothing) {
  const MemorySet set = SetOf({});
  const IdRef id("a");
  uint8_t hit = 1;
  set.Find({&id, 1}, &hit);
  EXPECT_EQ(hit, 0);
  EXPECT_EQ(set.count(), 0u);
}

TEST(MemorySet, PagesGoThroughAllIds) {
  const std::vector<std::string> members = Texts(25, "v");
  const MemorySet set = SetOf(members);
  std::vector<std::string> all;
  std::string after;
  for (bool more = true; more;) {
    std::vector<std::string> page;
    more = set.Read(after, 10, &page);
    ASSERT_FALSE(page.empty());
    after = page.back();
    all.insert(all.end(), page.begin(), page.end());
  }
  EXPECT_EQ(all, members);
  std::vector<std::string> behind;
  EXPECT_FALSE(set.Read("v9", 25, &behind)) << "ids behind one that is there or not";
  EXPECT_TRUE(behind.empty());
  EXPECT_FALSE(set.Read("v7a", 25, &behind));
  EXPECT_EQ(behind, (std::vector<std::string>{"v8", "v9"}));
}

TEST(MemorySet, AnIdOfEightBytesTakesLessThanSixteen) {
  EXPECT_LT(MemorySet::BytesOf(1'000'000, 8'000'000), 16'000'000u);
  const MemorySet set = SetOf(Texts(1'000, "v"));
  EXPECT_EQ(set.bytes(), MemorySet::BytesOf(1'000, 1'000 + 10 + 180 + 2'700));
}

}  // namespace
}  // namespace seendb::sets::SEENDB_TEST_FILE
