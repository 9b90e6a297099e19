#include "base/policy_fields.h"

#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// A JSON text of another value than the default that the rule allows.
std::string OtherValue(const PolicyField& field) {
  const nlohmann::ordered_json value = field.write(Policy());
  switch (field.kind) {
    case PolicyField::Kind::kBoolean:
      return value.get<bool>() ? "false" : "true";
    case PolicyField::Kind::kWhole:
      return value == 0 ? "65536" : std::to_string(value.get<uint64_t>() + 1);
    case PolicyField::Kind::kFraction:
      return "0.25";
    case PolicyField::Kind::kObject:
      return R"({"author":"7d"})";
    case PolicyField::Kind::kArray:
      return R"([{"of":"author","n":2,"within":"7d"}])";
    case PolicyField::Kind::kText:
      break;
  }
  for (const char* text :
       {"days:10", "exact", "sync", "90m", "+08:00", "recommend_again", "filter_ignores", "drop"}) {
    PolicyPatch patch;
    if (field.read(std::string_view(text), &patch)) return "\"" + std::string(text) + "\"";
  }
  return "null";
}

/// {"window":5}, or {"history":{"days":91}}.
std::string ObjectWith(std::string_view field, const std::string& value) {
  const size_t slash = field.find('/');
  const std::string member = "{\"" + std::string(field.substr(slash + 1)) + "\":" + value + "}";
  if (slash == std::string_view::npos) return member;
  return "{\"" + std::string(field.substr(0, slash)) + "\":" + member + "}";
}

TEST(PolicyFields, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const PolicyField& field : PolicyFields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
  }
}

TEST(PolicyFields, DefaultsFollowTheRules) {
  for (const PolicyField& field : PolicyFields()) {
    EXPECT_TRUE(field.valid(Policy())) << field.name << " " << field.rule();
    EXPECT_TRUE(field.is_default(Policy())) << field.name;
    EXPECT_FALSE(field.changes(PolicyPatch(), Policy())) << field.name;
  }
}

// Each row reads, applies, compares and writes the member that it names, and no other.
TEST(PolicyFields, EachChangesItselfAlone) {
  for (const PolicyField& field : PolicyFields()) {
    const std::string json = ObjectWith(field.name, OtherValue(field));
    const auto patch = PolicyPatchFromJson(json);
    ASSERT_TRUE(patch.ok()) << json << " " << patch.status().ToString();
    const Policy changed = ApplyPatch(Policy(), *patch);
    for (const PolicyField& other : PolicyFields()) {
      EXPECT_EQ(other.is_default(changed), other.name != field.name) << json << " " << other.name;
      EXPECT_EQ(other.changes(*patch, Policy()), other.name == field.name) << json;
      EXPECT_EQ(other.write(changed) == other.write(Policy()), other.name != field.name) << json;
    }
    const auto read_back = PolicyPatchFromJson(PolicyToJson(changed));
    ASSERT_TRUE(read_back.ok()) << PolicyToJson(changed);
    EXPECT_EQ(ApplyPatch(Policy(), *read_back), changed) << json;
    EXPECT_EQ(CheckFixedFields(Policy(), *patch).ok(), !field.fixed) << json;
  }
}

TEST(PolicyFields, ARefusalSaysTheRule) {
  const auto refused = PolicyPatchFromJson(R"({"durability":"always"})");
  EXPECT_EQ(refused.status().message(), "durability must be \"sync\", \"interval\" or \"none\"");
  EXPECT_EQ(PolicyPatchFromJson(R"({"history":{"days":3661}})").status().message(),
            "history/days must be from 1 to 3660");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
