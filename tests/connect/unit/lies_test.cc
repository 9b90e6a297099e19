// Bodies of calls that lie: each lie of tests/lies/table.py is refused, by protobuf and by JSON.

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <seendb/v1/seendb.pb.h>

#include "connect/codec.h"

namespace seendb::connect::SEENDB_TEST_FILE {
namespace {

std::string Times(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

struct BodyLie {
  const char* lie;
  Form form;
  std::string body;
};

std::vector<BodyLie> BodyLies() {
  return {
      {"too_deep", Form::kJson, Times("[", 1 << 20)},
      {"too_deep", Form::kJson, R"({"items":)" + Times("[", 5'000) + Times("]", 5'000) + "}"},
      {"too_deep", Form::kProto, Times("\x0b", 1 << 20)},  // groups within groups
      {"too_long", Form::kProto, Times(std::string("\x1a\0", 2), kMostElements + 1)},
      {"too_long", Form::kJson, R"({"items":[)" + Times("\"\",", kMostElements) + "\"\"]}"},
      {"dense", Form::kJson, R"({"items":[)" + Times("0,", 3 << 20) + "0]}"},
      {"wrong_type", Form::kJson, "7"},
      {"wrong_type", Form::kJson, "[]"},
      {"wrong_type", Form::kJson, R"({"items":{"a":1}})"},
      {"wrong_type", Form::kJson, R"({"itemNumbers":["x"]})"},
      {"wrong_type", Form::kProto, R"({"user":"a"})"},
      {"negative_length", Form::kJson, R"({"limit":-1})"},
      {"negative_length", Form::kProto, "\x0a" + Times("\xff", 9) + "\x01"},
      {"huge_length", Form::kJson, R"({"limit":4294967296})"},
      {"huge_length", Form::kJson, R"({"itemNumbers":[1e300]})"},
      {"huge_length", Form::kProto, "\x0a\xff\xff\xff\xff\x07"},
      {"huge_length", Form::kProto, "\x22\x07" + Times("\1", 7)},  // no whole number of fixed64
      {"cut", Form::kJson, ""},
      {"cut", Form::kJson, R"({"user":"a","items":["v")"},
      {"cut", Form::kProto,
       "\x0a\x05"
       "ab"},
      {"cut", Form::kProto, "\x0a"},
      {"noise", Form::kJson, "\x80\xff\x01\x02 no message"},
      {"noise", Form::kProto, "\x80\xff\x01\x02 no message"},
      {"noise", Form::kProto, "\x0a\x02\xff\xfe"},  // no UTF-8
      {"noise", Form::kJson, "{\"user\":\"\xff\xfe\"}"},
  };
}

TEST(ConnectLies, AreRefused) {
  SilenceProtobuf();
  v1::FilterRequest request;
  ASSERT_TRUE(Decode(Form::kJson, R"({"user":"a","items":["v"]})", &request).ok());
  for (const BodyLie& told : BodyLies()) {
    request.Clear();
    EXPECT_EQ(Decode(told.form, told.body, &request).code(), StatusCode::kInvalidArgument)
        << told.lie << ": " << told.body.substr(0, 60);
  }
}

}  // namespace
}  // namespace seendb::connect::SEENDB_TEST_FILE
