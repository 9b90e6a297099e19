// How logs begin: what is no text is named, and the members of a JSON array become lines.

#include "log_head.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

/// What is read of `bytes`, which come in pieces of at most `piece`; or "! why".
std::string Read(std::string bytes, LogFormat format, size_t piece = 1'000) {
  auto text = TextOf(
      [bytes = std::move(bytes), piece, at = size_t{0}](char* to,
                                                        size_t size) mutable -> Result<size_t> {
        const size_t n = std::min({size, piece, bytes.size() - at});
        std::memcpy(to, bytes.data() + at, n);
        at += n;
        return n;
      },
      format);
  if (!text.ok()) return "! " + std::string(text.status().message());
  std::string out;
  char buffer[7];
  for (;;) {
    const Result<size_t> got = (*text)(buffer, sizeof(buffer));
    if (!got.ok()) return out + "! " + std::string(got.status().message());
    if (*got == 0) return out;
    out.append(buffer, *got);
  }
}

TEST(LogHead, TextIsGivenAsItIs) {
  for (const size_t piece : {1UL, 10'000UL}) {
    const std::string text = "\xEF\xBB\xBFuser,item\n" + std::string(9'000, 'x') + "\n";
    EXPECT_EQ(Read(text, LogFormat::kCsv, piece), text);
    EXPECT_EQ(Read("", LogFormat::kCsv, piece), "");
    EXPECT_EQ(Read("[1,2]\n", LogFormat::kCsv, piece), "[1,2]\n") << "no JSON";
  }
}

TEST(LogHead, WhatIsNoTextIsNamed) {
  const auto named = [](std::string_view bytes, const std::string& name) {
    for (const size_t piece : {1UL, 4UL, 1'000UL}) {
      const std::string why = Read(std::string(bytes), LogFormat::kCsv, piece);
      EXPECT_NE(why.find(name), std::string::npos) << why;
      EXPECT_TRUE(why.starts_with("! the log is ")) << why;
    }
  };
  named(std::string_view("\xFF\xFEu\0s\0", 6), "UTF-16");
  named(std::string_view("\xFE\xFF\0u\0s", 6), "UTF-16");
  named(std::string_view("u\0s\0e\0r\0,\0", 10), "UTF-16");
  named("PK\x03\x04xx", "zip");
  named("PAR1xx", "Parquet");
  named("SQLite format 3", "SQLite");
  named("BZh91", "bzip2");
  named(std::string_view("\xFD"
                         "7zXZ\0",
                         6),
        "xz");
  named(std::string("abcdef\0\0", 8) + std::string("abcdef\0\0", 8), "bytes are zero");
  const std::string one_bad("user,item,at\nu,v,1\nu,\0,2\n", 26);
  EXPECT_EQ(Read(one_bad, LogFormat::kCsv), one_bad);
  // Judged by the first line, whatever comes with it.
  named("abcdef" + std::string(6, '\0') + "\n" + std::string(900, 'x') + "\n", "UTF-16");
  for (const size_t piece : {1UL, 1'000UL}) {
    const std::string bad("user,item,at\nu,v,1\nu,\0\0\0\0\0\0\0\0\0\0,2\n", 35);
    EXPECT_EQ(Read(bad, LogFormat::kCsv, piece), bad);
  }
}

TEST(LogHead, MembersOfAnArrayBecomeLines) {
  const std::string array =
      " \n[{\"a\": [1, 2],\n  \"b\":\"],\\\" x\\n\"}, {\"a\":{\n\"b\":1}}\r\n,3]\n";
  const std::string lines =
      " \n {\"a\": [1, 2],   \"b\":\"],\\\" x\\n\"}\n {\"a\":{ \"b\":1}}  \n3\n\n";
  for (const size_t piece : {1UL, 5UL, 1'000UL}) {
    EXPECT_EQ(Read(array, LogFormat::kNdjson, piece), lines);
  }
  EXPECT_EQ(Read("[]", LogFormat::kNdjson), " \n");
  for (const char* const cut : {"[{\"a\":1}", "[{\"a\":1},", "[{\"a\":[1]", "[\"", "["}) {
    EXPECT_NE(
        Read(cut, LogFormat::kNdjson).find("! the log is a JSON array that ends before its ]"),
        std::string::npos)
        << cut;
  }
  EXPECT_EQ(Read("{\"a\":[1]}\n", LogFormat::kNdjson), "{\"a\":[1]}\n");
}

TEST(LogHead, AnObjectOverSeveralLinesIsNamed) {
  for (const char* const text : {"{\n \"user\":\"u\"\n}\n", "{\"plays\": [\n{\"user\":1}\n]}\n",
                                 "\xEF\xBB\xBF{ \"a\": {\r\n}}\r\n"}) {
    EXPECT_TRUE(Read(text, LogFormat::kNdjson).starts_with("! the log is JSON whose objects go"))
        << text;
    EXPECT_EQ(Read(text, LogFormat::kCsv), text);
  }
  for (const char* const text : {"{\"a\":\"{\"}\n", "{", "{}\n", "{\"a\":1,\n\"b\":2}\n"}) {
    EXPECT_EQ(Read(text, LogFormat::kNdjson), text);
  }
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
