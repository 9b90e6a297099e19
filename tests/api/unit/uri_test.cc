// Targets: escapes, queries, media types.

#include "api/uri.h"

#include <gtest/gtest.h>

#include "api/media_type.h"

namespace seendb::api {
namespace {

TEST(UriTest, DecodesEscapes) {
  EXPECT_EQ(PercentDecode("a%20b%2Fc+d"), "a b/c+d");
  EXPECT_EQ(PercentDecode("%C3%A9"), "\xC3\xA9");
  EXPECT_EQ(PercentDecode("%00")->size(), 1u);
  EXPECT_FALSE(PercentDecode("%"));
  EXPECT_FALSE(PercentDecode("%4"));
  EXPECT_FALSE(PercentDecode("%zz"));
}

TEST(UriTest, ReadsQueries) {
  std::vector<std::pair<std::string, std::string>> pairs;
  ASSERT_TRUE(ParseQuery("a=1&&b=x%26y&c", &pairs).ok());
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[1].second, "x&y");
  EXPECT_EQ(pairs[2].second, "");
  pairs.clear();
  EXPECT_EQ(ParseQuery("a=1&%61=2", &pairs).field(), "/a");
  pairs.clear();
  EXPECT_FALSE(ParseQuery("a=%", &pairs).ok());
  pairs.clear();
  EXPECT_EQ(ParseQuery("a=1&user=b+c", &pairs).field(), "/user");
  pairs.clear();
  ASSERT_TRUE(ParseQuery("user=b%2Bc%20d", &pairs).ok());
  EXPECT_EQ(pairs[0].second, "b+c d");
}

TEST(UriTest, TakesAbsoluteTargets) {
  EXPECT_EQ(StripAuthority("/filter"), "/filter");
  EXPECT_EQ(StripAuthority("http://host:1/filter"), "/filter");
  EXPECT_EQ(StripAuthority("http://host"), "/");
}

TEST(UriTest, KnowsMediaTypes) {
  EXPECT_EQ(ParseMediaType(""), MediaType::kJson);
  EXPECT_EQ(ParseMediaType("Application/JSON; charset=UTF-8"), MediaType::kJson);
  EXPECT_EQ(ParseMediaType("application/json; charset=\"utf-8\"; x=y"), MediaType::kJson);
  EXPECT_EQ(ParseMediaType("application/json; charset=latin1"), MediaType::kOther);
  EXPECT_EQ(ParseMediaType(" application/x-ndjson "), MediaType::kNdjson);
  EXPECT_EQ(ParseMediaType("text/plain"), MediaType::kOther);
  EXPECT_EQ(ParseMediaType("application/jsonx"), MediaType::kOther);
}

}  // namespace
}  // namespace seendb::api
