// Which candidates came before in a request, compared with a set.

#include "query/distinct.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

// An "r" for each item that repeats one, a "." for each other.
std::string Repeats(const std::vector<IdRef>& items, const std::vector<Fingerprint>& fingerprints) {
  Distinct distinct;
  distinct.Begin(items.size());
  std::string said;
  for (size_t i = 0; i < items.size(); ++i) {
    said += distinct.IsRepeat(items, fingerprints, i) ? 'r' : '.';
  }
  return said;
}

TEST(DistinctTest, FindsWhatASetFinds) {
  std::mt19937_64 random(test::Seed());
  Distinct distinct;
  for (const size_t count : {0u, 1u, 2u, 3u, 100u, 10'000u, 64u}) {  // a smaller one after a larger
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i)
      texts.push_back("v" + std::to_string(random() % (count + 1)));
    const std::vector<IdRef> items(texts.begin(), texts.end());
    std::vector<Fingerprint> fingerprints(count);
    FingerprintsOf(items, fingerprints.data());
    std::set<std::string> known;
    distinct.Begin(count);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(distinct.IsRepeat(items, fingerprints, i), !known.insert(texts[i]).second) << i;
    }
  }
}

TEST(DistinctTest, ANumberAndItsTextAreOne) {
  const std::vector<IdRef> items = {IdRef(uint64_t{1}), IdRef("1"), IdRef("01"), IdRef("1")};
  std::vector<Fingerprint> fingerprints(items.size());
  FingerprintsOf(items, fingerprints.data());
  EXPECT_EQ(Repeats(items, fingerprints), ".r.r");
}

TEST(DistinctTest, ItemsOfOneFingerprintAreTwo) {
  const std::vector<IdRef> items = {IdRef("a"), IdRef("b"), IdRef("a"), IdRef("b")};
  const std::vector<Fingerprint> fingerprints(4, 77);
  EXPECT_EQ(Repeats(items, fingerprints), "..rr");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
