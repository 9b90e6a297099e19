// Targets: escapes, queries, media types.

#include "api/uri.h"

#include <gtest/gtest.h>

#include "wire/media_type.h"

namespace seendb::api::SEENDB_TEST_FILE {
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
  EXPECT_EQ(wire::ParseMediaType(""), wire::MediaType::kJson);
  EXPECT_EQ(wire::ParseMediaType("Application/JSON; charset=UTF-8"), wire::MediaType::kJson);
  EXPECT_EQ(wire::ParseMediaType("application/json; charset=\"utf-8\"; x=y"),
            wire::MediaType::kJson);
  EXPECT_EQ(wire::ParseMediaType("application/json; charset=latin1"), wire::MediaType::kOther);
  EXPECT_EQ(wire::ParseMediaType(" application/x-ndjson "), wire::MediaType::kNdjson);
  EXPECT_EQ(wire::ParseMediaType("text/plain"), wire::MediaType::kOther);
  EXPECT_EQ(wire::ParseMediaType("application/jsonx"), wire::MediaType::kOther);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
