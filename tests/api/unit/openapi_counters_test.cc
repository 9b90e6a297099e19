// The OpenAPI document has every counter of an engine in the schema of /admin/stats, and the
// engine's JSON has them, too.

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/unit/openapi_testing.h"
#include "seendb/report.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using Json = nlohmann::json;

constexpr const char* kCounters[] = {
#define SEENDB_COUNTER(name, metric, help) #name,
#include "seendb/counters.def"
#undef SEENDB_COUNTER
};

TEST(OpenApiCounters, AreInTheSchemaOfStats) {
  const Json document = WholeOpenApi();
  const Json& schema = document.at("components").at("schemas").at("Stats");
  const Json& required = schema.at("required");
  for (const char* name : kCounters) {
    EXPECT_TRUE(schema.at("properties").contains(name)) << name;
    EXPECT_NE(std::find(required.begin(), required.end(), name), required.end()) << name;
  }
}

TEST(OpenApiCounters, EveryMemberOfTheReportIsInTheSchema) {
  const Json document = WholeOpenApi();
  const Json& properties = document.at("components").at("schemas").at("Stats").at("properties");
  EngineStats stats;
  uint64_t next = 0;
#define SEENDB_COUNTER(name, metric, help) stats.name = ++next;
#include "seendb/counters.def"
#undef SEENDB_COUNTER
  const Json report = Json::parse(ReportToJson(stats));
  uint64_t expected = 0;
  for (const char* name : kCounters) EXPECT_EQ(report.at(name), ++expected) << name;
  for (const auto& [name, value] : report.items()) {
    EXPECT_TRUE(properties.contains(name)) << name;
  }
  for (const auto& [name, value] : properties.items()) {
    EXPECT_TRUE(report.contains(name)) << name;
  }
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
