// A schema on disk that is not one: every lie of tests/lies/table.py is refused as damage.

#include <gtest/gtest.h>

#include "items/schema.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

std::string Repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// A schema of one i64, with this in place of the field.
std::string WithField(const std::string& field) {
  return R"({"fields":[)" + field + R"(],"types":["i64"]})";
}

struct SchemaLie {
  const char* lie;
  std::string text;
};

std::vector<SchemaLie> SchemaLies() {
  const std::string sound = R"({"name":"a","number":0,"column":false})";
  const std::string long_name = R"({"name":")" + std::string(1 << 20, 'x');
  return {
      {"too_deep", Repeated("[", 1 << 20)},
      {"too_deep", WithField(Repeated("[", 1000) + Repeated("]", 1000))},
      {"too_long", WithField(long_name + R"(","number":0,"column":false})")},
      {"too_long", R"({"fields":[],"types":[)" + Repeated(R"("i64",)", 1024) + R"("i64"]})"},
      {"dense", R"({"fields":[)" + Repeated("0,", 3 << 20) + R"(0],"types":[]})"},
      {"wrong_type", "[]"},
      {"wrong_type", R"({"fields":{},"types":[]})"},
      {"wrong_type", R"({"fields":[],"types":["none"]})"},
      {"wrong_type", WithField("7")},
      {"wrong_type", WithField(R"({"name":7,"number":0,"column":false})")},
      {"wrong_type", WithField(R"({"name":"a","number":0,"column":0})")},
      {"negative_length", WithField(R"({"name":"a","number":-1,"column":false})")},
      {"huge_length", WithField(R"({"name":"a","number":1e300,"column":false})")},
      {"huge_length", WithField(R"({"name":"a","number":1,"column":false})")},
      {"cut", ""},
      {"cut", WithField(sound).substr(0, 40)},
      {"twice", WithField(sound + "," + sound)},
      {"twice", WithField(sound + R"(,{"name":"b","number":0,"column":false})")},
      {"noise", "\x80\xff\x01\x02 no schema"},
  };
}

TEST(ItemSchemaLies, AreRefusedAsDamage) {
  ASSERT_TRUE(Schema::FromJson(WithField(R"({"name":"a","number":0,"column":false})")).ok());
  for (const SchemaLie& told : SchemaLies()) {
    EXPECT_EQ(Schema::FromJson(told.text).status().code(), StatusCode::kCorruption)
        << told.lie << ": " << told.text.substr(0, 100);
  }
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
