// What a refused document is told of its syntax.

#include "wire/json_syntax.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

std::string Explained(std::string_view text, bool takes_ndjson = true) {
  const Status given = Status::InvalidArgument("given", "/user");
  const Status told = ExplainSyntax(given, text, takes_ndjson);
  EXPECT_EQ(told.field(), "/user");
  return std::string(told.message());
}

TEST(JsonSyntaxTest, JsonKeepsItsRefusal) {
  EXPECT_EQ(Explained(R"({"user":[1,-2.5,true,null,"\u00e9"]})"), "given");
  EXPECT_EQ(Explained(" {}\n\n"), "given");
  EXPECT_EQ(Explained(R"({"at":1e999})"), "given") << "too large, but JSON";
}

TEST(JsonSyntaxTest, NamesTheByte) {
  EXPECT_EQ(Explained(R"({"user":tru,"items":[]})"),
            "JSON syntax error at byte 11: unexpected `,\"items\":[]}`");
  EXPECT_EQ(Explained(R"({"a":1 "b":2})"), "JSON syntax error at byte 7: unexpected `\"b\":2}`");
  EXPECT_EQ(Explained(R"({"a":[1,]})"), "JSON syntax error at byte 8: unexpected `]}`");
  EXPECT_EQ(Explained("{'a':1}"), "JSON syntax error at byte 1: unexpected `'a':1}`");
  EXPECT_EQ(Explained(""), "JSON syntax error at byte 0: the body is empty");
  EXPECT_EQ(Explained(R"({"a":1)"), "JSON syntax error at byte 6: the document ends too early");
  EXPECT_EQ(Explained("{} x"), "JSON syntax error at byte 3: something follows the document, `x`");
}

TEST(JsonSyntaxTest, QuotesLittleAndCutsNoCharacter) {
  const std::string text = "{\"a\":x" + std::string(14, 'y') + "\xC3\xA9" + std::string(99, 'z');
  EXPECT_EQ(Explained(text),
            "JSON syntax error at byte 5: unexpected `x" + std::string(14, 'y') + "`");
}

TEST(JsonSyntaxTest, LinesAreToldTheirContentType) {
  const char* const lines = "{\"user\":1}\n{\"user\":2}\n";
  EXPECT_EQ(Explained(lines),
            "JSON syntax error at byte 11: a second value; one value per line needs "
            "Content-Type: application/x-ndjson");
  EXPECT_EQ(Explained(lines, false), "JSON syntax error at byte 11: a second value");
  EXPECT_EQ(Explained("{}{}"), "JSON syntax error at byte 2: something follows the document, `{}`");
}

TEST(JsonSyntaxTest, ReadsABoundedBeginning) {
  const std::string open = "{\"a\":\"" + std::string(kMaxSyntaxBytes, 'x');
  EXPECT_EQ(Explained(open + "\", tru}"), "given");
  EXPECT_EQ(Explained("[tru" + open),
            "JSON syntax error at byte 4: unexpected `{\"a\":\"xxxxxxxxxx`");
}

TEST(JsonSyntaxTest, OtherFailuresStayAsTheyAre) {
  EXPECT_TRUE(ExplainSyntax(Status::Ok(), "{", true).ok());
  EXPECT_EQ(ExplainSyntax(Status::NotFound("gone"), "{", true).message(), "gone");
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
