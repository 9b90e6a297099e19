// Items as JSON: every type there and back, and the numbers at the ends of their ranges.

#include "wire/items_json.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

const ItemTypes kTypes = {{"b", ItemFieldType::kBool},     {"i", ItemFieldType::kI64},
                          {"f", ItemFieldType::kF32},      {"t", ItemFieldType::kText},
                          {"li", ItemFieldType::kI64List}, {"lt", ItemFieldType::kTextList}};

std::string Padded(std::string text) {
  text.append(kPadding, '\0');
  return text;
}

Status Parse(const std::string& line, ItemUpdate* update) {
  const std::string padded = Padded(line);
  JsonDocument document;
  return ParseItemUpdate(std::string_view(padded).substr(0, line.size()), kTypes, &document,
                         update);
}

TEST(ItemsJson, ValuesComeBackAsTheyWere) {
  constexpr auto kLow = std::numeric_limits<int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<int64_t>::max();
  constexpr auto kMost = std::numeric_limits<float>::max();
  const std::vector<ItemFieldValue> values = {{"b", true},
                                              {"i", kLow},
                                              {"f", 0.1F},
                                              {"t", std::string("\"\\\n\xc3\xbc")},
                                              {"li", std::vector<int64_t>{kLow, 0, kHigh}},
                                              {"lt", std::vector<std::string>{"", "x"}}};
  for (const float real : {0.0F, -0.0F, 0.1F, 1e-45F, kMost, -kMost, 16'777'216.0F}) {
    std::vector<ItemFieldValue> set = values;
    set[2].value = real;
    std::string line = R"({"id":"v","version":3,"set":)";
    AppendItemFields(set, &line);
    line.push_back('}');
    ItemUpdate update;
    const Status status = Parse(line, &update);
    ASSERT_TRUE(status.ok()) << status.ToString() << line;
    EXPECT_EQ(update.set, set) << line;
  }
}

TEST(ItemsJson, ARefusalNamesItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"version":1})", "/id"},
      {R"({"id":"v"})", "/version"},
      {R"({"id":"v","version":9223372036854775808})", "/version"},
      {R"({"id":"v","version":1,"set":[]})", "/set"},
      {R"({"id":"v","version":1,"set":{"no":1}})", "/set/no"},
      {R"({"id":"v","version":1,"set":{"b":null}})", "/set/b"},
      {R"({"id":"v","version":1,"set":{"i":9223372036854775808}})", "/set/i"},
      {R"({"id":"v","version":1,"set":{"i":1.0}})", "/set/i"},
      {R"({"id":"v","version":1,"set":{"f":3.5e38}})", "/set/f"},
      {R"({"id":"v","version":1,"set":{"f":1e999}})", "/set/f"},
      {R"({"id":"v","version":1,"set":{"f":"1"}})", "/set/f"},
      {R"({"id":"v","version":1,"set":{"li":[1,"2"]}})", "/set/li/1"},
      {R"({"id":"v","version":1,"unset":["b",1]})", "/unset/1"},
      {R"({"id":"v","version":1,"expires_at":-1})", "/expires_at"}};
  for (const auto& [line, field] : cases) {
    ItemUpdate update;
    const Status status = Parse(line, &update);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << line;
    EXPECT_EQ(status.field(), field) << line << status.ToString();
  }
}

TEST(ItemsJson, ASchemaComesBackAsItWas) {
  const std::vector<ItemField> fields = {{"a\"b", ItemFieldType::kText, true},
                                         {"n", ItemFieldType::kI64List, false}};
  std::string body;
  AppendItemSchema(fields, &body);
  const std::string padded = Padded(body);
  std::vector<ItemField> read;
  ASSERT_TRUE(ParseItemSchema(std::string_view(padded).substr(0, body.size()), &read).ok());
  EXPECT_EQ(read, fields);
}

TEST(ItemsJson, IdsComeBackAsTheyWereWritten) {
  const std::string body = R"({"ids":["7",7,"gone","v"],"fields":["b"]})", padded = Padded(body);
  JsonDocument document;
  ItemsAsked asked;
  ASSERT_TRUE(
      ParseItemsAsked(std::string_view(padded).substr(0, body.size()), &document, &asked).ok());
  std::string answer;
  AppendItems(asked, {{"7", 1, {}}, {"7", 1, {}}, {"v", 2, {{"b", false}}}}, &answer);
  EXPECT_EQ(answer,
            R"({"items":[{"id":"7","version":1,"fields":{}},{"id":7,"version":1,"fields":{}},)"
            R"({"id":"v","version":2,"fields":{"b":false}}]})");
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
