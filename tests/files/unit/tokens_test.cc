#include "files/tokens.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::files::SEENDB_TEST_FILE {
namespace {

// The SHA-256 of "abc", which FIPS 180-2 has as its first example.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
// Of the empty text.
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string Entry(const std::string& name, const std::string& sha256,
                  const std::string& more = "") {
  return R"({"name":")" + name + R"(","sha256":")" + sha256 + R"(","role":"write")" + more + "}";
}

TEST(Tokens, AreFoundByTheirSecretAlone) {
  const auto read = ReadTokens("[" + Entry("a", kAbc) + "]");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const TokenSet& tokens = **read;
  ASSERT_NE(tokens.Find("abc"), nullptr);
  EXPECT_EQ(tokens.Find("abc")->name, "a");
  EXPECT_EQ(tokens.Find("abc")->role, Role::kWrite);
  for (const char* const wrong : {"", "ab", "abcd", "a", kAbc}) {
    EXPECT_EQ(tokens.Find(wrong), nullptr) << wrong;
  }
  EXPECT_NE(tokens.FindName("a"), nullptr);
  EXPECT_EQ(tokens.FindName("b"), nullptr);
}

TEST(Tokens, WhatAnEntrySays) {
  const auto read = ReadTokens(
      "[" +
      Entry(
          "a", kAbc,
          R"(,"collections":["x","y"],"requests_per_s":0.5,"decoded_bytes_per_s":1e6,"work_ms_per_s":250,"priority":"low","share":3)") +
      "," + Entry("b", std::string(64, 'F')) + "]");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const Token& first = (*read)->tokens[0];
  EXPECT_TRUE(first.Reaches("x"));
  EXPECT_TRUE(first.Reaches("y"));
  EXPECT_FALSE(first.Reaches("z"));
  EXPECT_EQ(first.limits.requests_per_s, 0.5);
  EXPECT_EQ(first.limits.decoded_bytes_per_s, 1e6);
  EXPECT_EQ(first.limits.work_ms_per_s, 250);
  EXPECT_EQ(first.priority, Priority::kLow);
  EXPECT_EQ(first.share, 3);
  const Token& second = (*read)->tokens[1];
  EXPECT_TRUE(second.Reaches("z"));
  EXPECT_EQ(second.limits.requests_per_s, 0);
  EXPECT_FALSE(second.priority);
  EXPECT_EQ(second.share, 1);
}

TEST(Tokens, ExpireAtATimeThatIsPlain) {
  for (const char* const same :
       {"1800000000000", R"("2027-01-15T08:00:00Z")", R"("2027-01-15T16:00:00+08:00")",
        R"("2027-01-15 08:00:00.000Z")"}) {
    const auto read =
        ReadTokens("[" + Entry("a", kAbc, std::string(R"(,"expires":)") + same) + "]");
    ASSERT_TRUE(read.ok()) << same << read.status().ToString();
    const Token& token = (*read)->tokens[0];
    EXPECT_EQ(token.expires_ms, 1'800'000'000'000) << same;
    EXPECT_FALSE(token.Expired(1'799'999'999'999));
    EXPECT_TRUE(token.Expired(1'800'000'000'000));
  }
  const auto read = ReadTokens("[" + Entry("a", kAbc) + "]");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE((*read)->tokens[0].Expired(INT64_MAX));
  // No zone, no time, a number in a text, and what is no date.
  for (const char* const wrong :
       {R"("2027-01-15T08:00:00")", R"("2027-01-15")", R"("1800000000000")", R"("")", R"("soon")",
        "0", "-1", "1.5", "null", "99999999999999999", R"("2027-02-30T00:00:00Z")"}) {
    const auto refused =
        ReadTokens("[" + Entry("a", kAbc, std::string(R"(,"expires":)") + wrong) + "]");
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.status().field(), "/0/expires") << wrong;
  }
}

TEST(Tokens, AnEmptyListLetsNobodyIn) {
  const auto read = ReadTokens("[]");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->Find(""), nullptr);
}

TEST(Tokens, WhatIsWrongIsNamed) {
  const std::string good = Entry("a", kAbc);
  const struct {
    std::string json, field;
  } cases[] = {
      {"", ""},
      {"{}", ""},
      {"[1]", "/0"},
      {"[" + good + ",{}]", "/1/name"},
      {"[" + good + "," + Entry("b", kAbc) + "]", "/1/sha256"},
      {"[" + good + "," + Entry("a", kNothing) + "]", "/1/name"},
      {"[" + Entry("", kAbc) + "]", "/0/name"},
      {"[" + Entry("a b", kAbc) + "]", "/0/name"},
      {"[" + Entry(std::string(65, 'n'), kAbc) + "]", "/0/name"},
      {"[" + Entry("a", "xyz") + "]", "/0/sha256"},
      {"[" + Entry("a", std::string(64, 'g')) + "]", "/0/sha256"},
      {"[" + Entry("a", std::string(63, 'a')) + "]", "/0/sha256"},
      {"[" + Entry("a", kAbc, R"(,"role":"read")") + "]", "/role"},
      {"[" + Entry("a", kAbc, R"(,"rolle":"read")") + "]", "/0/rolle"},
      {"[" + Entry("a", kAbc, R"(,"collections":"x")") + "]", "/0/collections"},
      {"[" + Entry("a", kAbc, R"(,"collections":["x","?"])") + "]", "/0/collections/1"},
      {"[" + Entry("a", kAbc, R"(,"requests_per_s":"5")") + "]", "/0/requests_per_s"},
      {"[" + Entry("a", kAbc, R"(,"decoded_bytes_per_s":0)") + "]", "/0/decoded_bytes_per_s"},
      {"[" + Entry("a", kAbc, R"(,"work_ms_per_s":-1)") + "]", "/0/work_ms_per_s"},
      {"[" + Entry("a", kAbc, R"(,"priority":1)") + "]", "/0/priority"},
      {"[" + Entry("a", kAbc, R"(,"share":1e9)") + "]", "/0/share"},
      {R"([{"name":"a","sha256":")" + std::string(kAbc) + R"(","role":"root"}])", "/0/role"},
  };
  for (const auto& one : cases) {
    const auto read = ReadTokens(one.json);
    ASSERT_FALSE(read.ok()) << one.json;
    EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument) << one.json;
    EXPECT_EQ(read.status().field(), one.field) << one.json;
  }
}

TEST(Tokens, ThereIsALimit) {
  std::string many = "[";
  for (size_t i = 0; i <= kMaxTokens; ++i) {
    std::string digest = std::to_string(i);
    digest.insert(0, 64 - digest.size(), '0');
    many += (i == 0 ? "" : ",") + Entry("t" + std::to_string(i), digest);
  }
  EXPECT_FALSE(ReadTokens(many + "]").ok());
}

}  // namespace
}  // namespace seendb::files::SEENDB_TEST_FILE
