#include "base/outside_json.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(OutsideJson, Depth) {
  EXPECT_EQ(JsonDepth(""), 0u);
  EXPECT_EQ(JsonDepth("12"), 0u);
  EXPECT_EQ(JsonDepth("{}"), 1u);
  EXPECT_EQ(JsonDepth(R"({"a":[1,{"b":2}],"c":[]})"), 3u);
  EXPECT_EQ(JsonDepth(R"(["[[[","\"[[","\\",[]])"), 2u) << "brackets in texts are none";
  EXPECT_EQ(JsonDepth("]]][[\"[[["), 2u) << "no JSON, and no harm";
  EXPECT_EQ(JsonDepth("\"\\"), 0u);
}

TEST(OutsideJson, ValuesAreCountedBeforeTheyAreMade) {
  EXPECT_EQ(JsonShapeOf("7").values, 1u);
  EXPECT_EQ(JsonShapeOf(R"(["a,b,[",{}])").values, 4u) << "commas in texts are none";
  std::string list(2 * kOutsideValuesMost, '0');
  for (size_t i = 1; i < list.size(); i += 2) list[i] = ',';
  list = "[" + list + "0]";
  EXPECT_TRUE(ParseOutside(list).is_discarded());
  EXPECT_EQ(ParseOutside("[1,2,3]", 1, 4).size(), 3u);
  EXPECT_TRUE(ParseOutside("[1,2,3]", 1, 3).is_discarded());
}

TEST(OutsideJson, IsParsedUpToTheLimit) {
  EXPECT_TRUE(ParseOutside(Nested(kOutsideDepthMost)).is_array());
  EXPECT_TRUE(ParseOutside(Nested(kOutsideDepthMost + 1)).is_discarded());
  EXPECT_TRUE(ParseOutside(Nested(500'000)).is_discarded());
  EXPECT_TRUE(ParseOutside(Nested(64), 64).is_array());
  EXPECT_TRUE(ParseOutside("{\"a\":").is_discarded());
  EXPECT_TRUE(ParseOutside("").is_discarded());
  EXPECT_EQ(ParseOutside<nlohmann::ordered_json>(R"({"b":1,"a":2})").dump(), R"({"b":1,"a":2})");
}

TEST(OutsideJson, AWholeNumberHasRoomAndNoFraction) {
  EXPECT_EQ(WholeNumber(ParseOutside("7"), 7), 7u);
  EXPECT_EQ(WholeNumber(ParseOutside("0"), 0), 0u);
  EXPECT_EQ(WholeNumber(ParseOutside("18446744073709551615"), UINT64_MAX), UINT64_MAX);
  for (const char* none :
       {"8", "-1", "-0", "1.0", "1e300", "18446744073709551616", "\"7\"", "null", "[]", "true"}) {
    EXPECT_EQ(WholeNumber(ParseOutside(none), 7), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
