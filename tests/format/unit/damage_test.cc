#include "format/damage.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "format/unit/format_testing.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

bool operator==(const DamageEntry& a, const DamageEntry& b) {
  return a.hash == b.hash && a.length == b.length && a.prefix == b.prefix;
}

bool Same(const DamageSet& a, const DamageSet& b) {
  return a.overflow == b.overflow && a.newer == b.newer &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](auto& x, auto& y) { return x == y; });
}

std::string Written(const DamageSet& set) {
  std::string out;
  set.AppendTo(&out);
  return out;
}

std::string NewerValue(const std::string& body) {
  std::string value = "\x12" + body;
  Seal32(&value);
  return value;
}

DamageSet Of(std::mt19937_64& random, size_t count) {
  DamageSet set;
  // A small alphabet, so that sets share members.
  for (size_t i = 0; i < count; ++i) {
    const std::string one = "damage " + std::to_string(random() % 24);
    set.Add(random() % 4 == 0 ? NewerValue(one) : one);
  }
  return set;
}

DamageSet Union(DamageSet a, const DamageSet& b) {
  a.Join(b);
  return a;
}

TEST(DamageSet, UnionIsAssociativeCommutativeAndIdempotent) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 500; ++round) {
    const DamageSet a = Of(random, random() % 14);
    const DamageSet b = Of(random, random() % 14);
    const DamageSet c = Of(random, random() % 14);
    EXPECT_TRUE(Same(Union(a, b), Union(b, a)));
    EXPECT_TRUE(Same(Union(Union(a, b), c), Union(a, Union(b, c))));
    EXPECT_TRUE(Same(Union(a, a), a));
    EXPECT_TRUE(Same(Union(Union(a, b), b), Union(a, b)));
  }
}

TEST(DamageSet, OverflowMeansMoreThanEightDistinct) {
  DamageSet set;
  for (size_t i = 0; i < kDamageKept; ++i) {
    set.Add(std::to_string(i));
    set.Add(std::to_string(i));
  }
  EXPECT_EQ(set.entries.size(), kDamageKept);
  EXPECT_FALSE(set.overflow);
  set.Add("one more");
  EXPECT_EQ(set.entries.size(), kDamageKept);
  EXPECT_TRUE(set.overflow);
}

TEST(DamageSet, KeepsAPrefixAndTheLength) {
  DamageSet set;
  set.Add(std::string(10'000, 'x'));
  set.Add("");
  ASSERT_EQ(set.entries.size(), 2u);
  for (const DamageEntry& entry : set.entries) {
    EXPECT_EQ(entry.prefix.size(), std::min<uint64_t>(entry.length, kDamageBytes));
  }
  DamageSet read;
  ASSERT_TRUE(DamageSet::Read(Written(set), &read));
  EXPECT_TRUE(Same(read, set));
}

// However many and however long, beside whatever damage.
TEST(DamageSet, ValuesOfNewerVersionsAreKeptWhole) {
  DamageSet set;
  std::vector<std::string> values;
  for (int i = 0; i < 20; ++i) {
    set.Add("damage " + std::to_string(i));
    values.push_back(NewerValue(std::string(static_cast<size_t>(i) * 100, 'x')));
    set.Add(values.back());
    set.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(set.newer, values);
  EXPECT_EQ(set.entries.size(), kDamageKept);
  DamageSet read;
  ASSERT_TRUE(DamageSet::Read(Written(set), &read));
  EXPECT_TRUE(Same(read, set));
  DamageSet only;
  EXPECT_TRUE(only.empty());
  only.Add(values[0]);
  EXPECT_FALSE(only.empty());
  test::ExpectCutsRefused(Written(set), [](std::string_view bytes) {
    DamageSet cut;
    return DamageSet::Read(bytes, &cut);
  });
  std::swap(set.newer.front(), set.newer.back());
  EXPECT_FALSE(DamageSet::Read(Written(set), &read)) << "not ascending";
  EXPECT_FALSE(DamageSet::Read(test::FromHex("02 00 00"), &read))
      << "none where some are said to be";
}

TEST(DamageSet, MalformedSectionsAreRefused) {
  DamageSet set;
  for (int i = 0; i < 9; ++i) set.Add(std::to_string(i));
  test::ExpectCutsRefused(Written(set), [](std::string_view bytes) {
    DamageSet read;
    return DamageSet::Read(bytes, &read);
  });
  DamageSet read;
  EXPECT_FALSE(DamageSet::Read(test::FromHex("04 00"), &read)) << "an unknown flag";
  EXPECT_FALSE(DamageSet::Read(test::FromHex("00 09"), &read)) << "more than are ever kept";
  EXPECT_FALSE(DamageSet::Read(test::FromHex("00 ff ff ff ff ff ff ff ff ff 01"), &read));
  DamageSet unordered = set;
  std::swap(unordered.entries.front(), unordered.entries.back());
  EXPECT_FALSE(DamageSet::Read(Written(unordered), &read));
  DamageSet repeated = set;
  repeated.entries[1] = repeated.entries[0];
  EXPECT_FALSE(DamageSet::Read(Written(repeated), &read));
  DamageSet long_prefix;
  long_prefix.entries.push_back({1, 300, std::string(kDamageBytes + 1, 'x')});
  EXPECT_FALSE(DamageSet::Read(Written(long_prefix), &read));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
