#include "text/base64.h"

#include <gtest/gtest.h>

namespace seendb::text::SEENDB_TEST_FILE {
namespace {

// The examples of RFC 4648, section 10.
TEST(Base64Test, AsTheStandardHasIt) {
  const std::pair<const char*, const char*> kExamples[] = {{"", ""},
                                                           {"f", "Zg=="},
                                                           {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},
                                                           {"foob", "Zm9vYg=="},
                                                           {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kExamples) EXPECT_EQ(Base64Of(bytes), text);
  EXPECT_EQ(Base64Of(std::string_view("\0\xFF\x80", 3)), "AP+A");
}

}  // namespace
}  // namespace seendb::text::SEENDB_TEST_FILE
