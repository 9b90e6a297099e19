// The OpenAPI document names every field of a policy, with its type and limits, and no other.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/unit/openapi_testing.h"
#include "base/policy_fields.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using Json = nlohmann::json;

const Json& Schema(const Json& document, const std::string& name) {
  return document.at("components").at("schemas").at(name);
}

std::string_view TypeOf(PolicyField::Kind kind) {
  switch (kind) {
    case PolicyField::Kind::kBoolean:
      return "boolean";
    case PolicyField::Kind::kWhole:
      return "integer";
    case PolicyField::Kind::kFraction:
      return "number";
    case PolicyField::Kind::kText:
      return "string";
    case PolicyField::Kind::kObject:
      return "object";
    case PolicyField::Kind::kArray:
      return "array";
  }
  return "";
}

// By the object in a policy that they describe.
const std::map<std::string, std::string>& Schemas() {
  static const std::map<std::string, std::string> schemas = {{"", "PolicyPatch"},
                                                             {"history", "HistoryPolicy"},
                                                             {"on_load", "LoadPolicy"},
                                                             {"exposures", "ExposurePolicy"}};
  return schemas;
}

std::set<std::string> NamesOf(const Json& schema) {
  std::set<std::string> names;
  for (const auto& [name, value] : schema.at("properties").items()) names.insert(name);
  return names;
}

TEST(OpenApiPolicy, NamesEveryField) {
  const Json document = WholeOpenApi();
  std::map<std::string, std::set<std::string>> names;
  for (const PolicyField& field : PolicyFields()) {
    const size_t slash = field.name.find('/');
    const std::string object(slash == std::string_view::npos ? "" : field.name.substr(0, slash));
    const std::string name(field.name.substr(slash + 1));
    names[object].insert(name);
    if (!object.empty()) names[""].insert(object);
    ASSERT_TRUE(Schemas().contains(object)) << field.name;
    const Json& schema = Schema(document, Schemas().at(object));
    ASSERT_TRUE(schema.at("properties").contains(name)) << field.name;
    EXPECT_EQ(schema.at("properties").at(name).at("type"), TypeOf(field.kind)) << field.name;
  }
  for (const auto& [object, schema] : Schemas()) {
    EXPECT_EQ(NamesOf(Schema(document, schema)), names[object]) << schema;
  }
  std::set<std::string> policy = names[""];
  policy.insert("name");
  EXPECT_EQ(NamesOf(Schema(document, "Collection")), policy);
}

// A collection's answer always has the fields that are not omitted at their defaults.
TEST(OpenApiPolicy, RequiresWhatIsAlwaysWritten) {
  const Json document = WholeOpenApi();
  std::set<std::string> required = {"name"};
  for (const PolicyField& field : PolicyFields()) {
    if (!field.omitted_default) required.insert(std::string(field.name));
  }
  EXPECT_EQ(Schema(document, "Collection").at("required").get<std::set<std::string>>(), required);
}

TEST(OpenApiPolicy, HasTheLimitsOfTheRules) {
  const Json document = WholeOpenApi();
  for (const PolicyField& field : PolicyFields()) {
    if (field.kind != PolicyField::Kind::kWhole) continue;
    const size_t slash = field.name.find('/');
    const std::string object(slash == std::string_view::npos ? "" : field.name.substr(0, slash));
    const Json& schema = Schema(document, Schemas().at(object))
                             .at("properties")
                             .at(std::string(field.name.substr(slash + 1)));
    for (const char* limit : {"minimum", "maximum"}) {
      if (!schema.contains(limit)) continue;
      PolicyPatch patch;
      const auto value = schema.at(limit).get<uint64_t>();
      EXPECT_TRUE(field.read(value, &patch)) << field.name << " " << value;
      if (value == 0) continue;
      const uint64_t beyond = limit == std::string_view("minimum") ? value - 1 : value + 1;
      EXPECT_FALSE(field.read(beyond, &patch)) << field.name << " " << beyond;
    }
  }
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
