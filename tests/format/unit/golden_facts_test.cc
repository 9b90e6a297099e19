// The bytes that came with facts and surfaces, kept in tests/golden/v4: impressions and exposures
// in version 3. Never edited, as those of v1. `SEENDB_WRITE_GOLDEN=1` adds files that are missing,
// and touches no other.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "format/counts_codec.h"
#include "format/impressions_codec.h"
#include "format/marks_codec.h"
#include "format/own_set_codec.h"
#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

const std::string kFactsFolder = "tests/golden/v4/";
constexpr int64_t kMiddayMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC

std::string GoldenFacts(const std::string& name, const std::string& about,
                        const std::string& made) {
  const std::string path = kFactsFolder + name + ".hex";
  if (std::getenv("SEENDB_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path) << "# " << about << "\n" << test::ToHex(made) << "\n";
  }
  return test::FromHex(test::ReadProjectFile(path));
}

TEST(GoldenFacts, ImpressionsOnSurfaces) {
  const uint64_t stamp = uint64_t{1} << 40 | 2;
  ImpressionList list;
  list.entries = {{kMiddayMs, stamp, 1, test::Fp("v2")},
                  {kMiddayMs, stamp, 0, test::Fp("v1"), {}, "home"}};
  std::string made;
  list.Encode(&made);
  const std::string golden =
      GoldenFacts("impressions_surfaces", "v1 on home and v2 at 12:00", made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  ImpressionList read;
  ASSERT_TRUE(read.Parse(golden));
  EXPECT_EQ(read.entries, list.entries);
}

TEST(GoldenFacts, Marks) {
  constexpr int64_t kHour = 3'600'000;
  MarkList list;
  list.marks = {{"author:3", kMiddayMs, kMarkedAlways},
                {"channel:9", kMiddayMs + kHour, kMiddayMs}};
  list.deletions = {{"channel:7", kMiddayMs + kHour}};
  std::string made;
  list.Encode(&made);
  const std::string golden =
      GoldenFacts("marks",
                  "author 3 for ever, said at 12:00; channel 7 deleted, and channel 9 up to 12:00 "
                  "said, at 13:00",
                  made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  MarkList read;
  ASSERT_TRUE(read.Parse(golden));
  EXPECT_EQ(read.marks, list.marks);
  EXPECT_EQ(read.deletions, list.deletions);
}

TEST(GoldenFacts, OwnSets) {
  StoredOwnSet set;
  set.said = true;
  set.said_ms = kMiddayMs;
  set.lasts_ms = 600'000;
  set.items = {"a", "b"};
  std::string made;
  set.Encode(&made);
  const std::string golden = GoldenFacts("own_set", "a and b, said at 12:00 for ten minutes", made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  StoredOwnSet read;
  ASSERT_TRUE(read.Parse(golden));
  EXPECT_EQ(read.items, set.items);
  EXPECT_EQ(read.ends_ms(), kMiddayMs + 600'000);
}

TEST(GoldenFacts, Counts) {
  constexpr int64_t kHour = 3'600'000;
  const Fingerprint v1 = test::Fp("v1"), v2 = test::Fp("v2");
  CountList list;
  list.entries = {{"author:3", kMiddayMs + kHour, CountedFact::kReserved, v2, {}, 60'000},
                  {"author:3", kMiddayMs, CountedFact::kExposed, v1, {}, 0},
                  {"author:3", kMiddayMs, CountedFact::kServed, v1, "home", 0}};
  std::string made;
  list.Encode(&made);
  const std::string golden = GoldenFacts(
      "counts", "v1 served on home and exposed at 12:00, v2 reserved at 13:00 for a minute", made);
  EXPECT_EQ(test::ToHex(made), test::ToHex(golden));
  CountList read;
  ASSERT_TRUE(read.Parse(golden));
  EXPECT_EQ(read.entries, list.entries);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
