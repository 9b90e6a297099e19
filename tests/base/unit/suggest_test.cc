// What somebody meant who mistyped a word.

#include "base/suggest.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(EditDistanceTest, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("stats", "stats"), 0u);
  EXPECT_EQ(EditDistance("stat", "stats"), 1u);
  EXPECT_EQ(EditDistance("stauts", "status"), 1u) << "two neighbours swapped";
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("ca", "abc"), 3u) << "no place is edited twice";
}

TEST(NearestTest, FindsTheNearestAndNothingFarAway) {
  const std::vector<std::string_view> known = {"check", "checkpoint", "stats",
                                               "seal",  "scan",       "--db"};
  EXPECT_EQ(Nearest("chekc", known), "check");
  EXPECT_EQ(Nearest("checkpiont", known), "checkpoint");
  EXPECT_EQ(Nearest("sael", known), "seal");
  EXPECT_EQ(Nearest("-db", known), "--db");
  EXPECT_EQ(Nearest("--bd", known), "--db");
  EXPECT_EQ(Nearest("unheard", known), "");
  EXPECT_EQ(Nearest("x", std::vector<std::string_view>{"a", "b"}), "")
      << "every letter would have to go";
  EXPECT_EQ(Nearest("", known), "");
  EXPECT_EQ(Nearest("stats", {}), "");
}

TEST(NearestTest, AWordThatIsTooLongHasNone) {
  const std::string word(kMaxSuggestedBytes, 'a');
  const std::string longer = word + "a";
  EXPECT_EQ(Nearest(word, std::vector<std::string_view>{longer}), longer);
  EXPECT_EQ(Nearest(longer, std::vector<std::string_view>{word}), "");
}

TEST(UnknownNameTest, NamesTheNearestAndTheKnown) {
  const std::vector<std::string_view> known = {"user", "item", "at"};
  EXPECT_EQ(UnknownName("unknown field", "usr", known),
            "unknown field; did you mean `user`? Known: user, item, at");
  EXPECT_EQ(UnknownName("unknown field", "colour", known), "unknown field; known: user, item, at");
  EXPECT_EQ(UnknownName("unknown field", "user", {}), "unknown field");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
