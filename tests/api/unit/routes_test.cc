// The table of routes, and that the OpenAPI documents name the very same.

#include "api/routes.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/unit/openapi_testing.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using Json = nlohmann::json;

/// The role that the document asks for; "open" for none.
std::string_view RoleOf(RouteClass route_class) {
  switch (route_class) {
    case RouteClass::kOpen:
      return "open";
    case RouteClass::kRead:
      return "read";
    case RouteClass::kWrite:
      return "write";
    case RouteClass::kPeer:
      return "peer";
    case RouteClass::kFilters:
      return "filters";
    case RouteClass::kAdmin:
      break;
  }
  return "admin";
}

TEST(RoutesTest, FindsByPathAndMethod) {
  PathArguments arguments;
  std::string allow;
  const auto label = [&](Method method, std::string_view path) {
    const int route = FindRoute(method, path, &arguments, &allow);
    return route < 0 ? std::string() : RouteLabel(Routes()[static_cast<size_t>(route)]);
  };
  EXPECT_EQ(label(Method::kPost, "/filter"), "POST /filter");
  EXPECT_EQ(label(Method::kHead, "/healthz"), "GET /healthz");
  EXPECT_EQ(label(Method::kDelete, "/users/a%2Fb"), "DELETE /users/{user}");
  ASSERT_EQ(arguments.count, 1u);
  EXPECT_EQ(arguments.parts[0], "a%2Fb");
  EXPECT_EQ(label(Method::kGet, "/users/u/history"), "GET /users/{user}/history");
  EXPECT_EQ(label(Method::kGet, "/users/u/history/a%2Fb"), "GET /users/{user}/history/{item}");
  ASSERT_EQ(arguments.count, 2u);
  EXPECT_EQ(arguments.parts[0], "u");
  EXPECT_EQ(arguments.parts[1], "a%2Fb");
  EXPECT_EQ(label(Method::kGet, "/users/u/history/%6Cookup"), "GET /users/{user}/history/{item}");
  EXPECT_EQ(label(Method::kGet, "/users/u/history/lookup"), "");
  EXPECT_EQ(allow, "POST");
  EXPECT_EQ(label(Method::kPost, "/users/u/history/lookup"), "POST /users/{user}/history/lookup");
  EXPECT_EQ(label(Method::kPost, "/users/u/history/other"), "");
  EXPECT_EQ(allow, "GET, HEAD");
  EXPECT_EQ(label(Method::kGet, "/filter"), "");
  EXPECT_EQ(allow, "POST");
  EXPECT_EQ(label(Method::kPut, "/users/u"), "");
  EXPECT_EQ(allow, "GET, HEAD, DELETE");
  EXPECT_EQ(label(Method::kGet, "/"), "GET /");
  EXPECT_EQ(label(Method::kGet, "/console"), "GET /console");
  EXPECT_EQ(label(Method::kGet, "/console/app.js"), "GET /console/{file}");
  for (const char* path : {"//", "", "/filter/", "/filterx", "/users/", "/users/a/b", "/users",
                           "/users//history", "/users/u/history/", "/users/u/history/a/b"}) {
    EXPECT_EQ(label(Method::kGet, path), "") << path;
    EXPECT_EQ(allow, "") << path;
  }
}

TEST(RoutesTest, RunWhereTheyHarmNobody) {
  for (const Route& route : Routes()) {
    const std::string_view path = route.path;
    http::Executor expected = http::Executor::kInline;
    if (path == "/metrics") expected = http::Executor::kProbe;
    if (path.starts_with("/collections") || path.starts_with("/admin/")) {
      expected = route.method == Method::kGet ? http::Executor::kEngine : http::Executor::kSlow;
    }
    if (path.starts_with("/admin/migration/") && path != "/admin/migration/finish") {
      expected = http::Executor::kEngine;  // an import goes on beside work of minutes
    }
    if (path == "/admin/backup") expected = http::Executor::kEngine;  // small files
    if (path.starts_with("/admin/backup/shards/") && route.method == Method::kGet) {
      expected = http::Executor::kInline;  // answered by a thread of its own
    }
    if (path == "/admin/tail") expected = http::Executor::kProbe;      // when the workers are full
    if (path == "/admin/degrade") expected = http::Executor::kInline;  // when the workers are full
    if (path.starts_with("/internal/shards/") && route.method != Method::kGet) {
      expected = http::Executor::kSlow;  // a GET is answered by a thread of its own
    }
    if (path.starts_with("/items") || path == "/reserve") expected = http::Executor::kEngine;
    if (path == "/items/schema") {
      expected = route.method == Method::kGet ? http::Executor::kInline : http::Executor::kSlow;
    }
    if (path.starts_with("/sets")) {
      expected = route.method == Method::kGet ? http::Executor::kEngine : http::Executor::kSlow;
    }
    if (path.starts_with("/users/")) expected = http::Executor::kEngine;
    EXPECT_EQ(route.executor, expected) << RouteLabel(route);
  }
}

TEST(RoutesTest, OpenApiNamesTheSameRoutesAndRoles) {
  const Json document = WholeOpenApi();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  std::set<std::pair<std::string, std::string>> described, served;  // label, role
  for (const auto& [path, operations] : document.at("paths").items()) {
    for (const auto& [method, operation] : operations.items()) {
      std::string label = method + " " + path;
      std::transform(label.begin(), label.begin() + static_cast<long>(method.size()), label.begin(),
                     [](unsigned char c) { return std::toupper(c); });
      const bool open = !operation.contains("security");
      described.emplace(label, open ? Json("open") : operation.at("security")[1].at("token")[0]);
      const Json& responses = operation.at("responses");
      EXPECT_TRUE(responses.contains("200") || responses.contains("206")) << label;
    }
  }
  for (const Route& route : Routes()) served.emplace(RouteLabel(route), RoleOf(route.route_class));
  EXPECT_EQ(described, served);
}

TEST(RoutesTest, OpenApiSaysWhichBodiesAreRead) {
  const Json document = WholeOpenApi();
  for (const Route& route : Routes()) {
    std::string method(http::MethodName(route.method));
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const Json& operation = document.at("paths").at(std::string(route.path)).at(method);
    const bool has_body = operation.contains("requestBody");
    EXPECT_EQ(has_body, route.takes_json) << RouteLabel(route);
    EXPECT_EQ(operation.at("responses").contains("415"), route.takes_json) << RouteLabel(route);
    if (!has_body) continue;
    const Json& content = operation.at("requestBody").at("content");
    EXPECT_EQ(content.contains("application/x-ndjson"), route.stream != nullptr)
        << RouteLabel(route);
  }
}

TEST(RoutesTest, OpenApiReferencesResolve) {
  for (const OpenApiPart part : {OpenApiPart::kPublic, OpenApiPart::kAdmin}) {
    const Json document = Json::parse(OpenApiText(part));
    size_t references = 0;
    std::set<std::string> used;
    const std::function<void(const Json&)> visit = [&](const Json& node) {
      if (node.is_object() && node.contains("$ref")) {
        const std::string pointer = node.at("$ref").get<std::string>().substr(1);
        ++references;
        EXPECT_TRUE(document.contains(Json::json_pointer(pointer))) << pointer;
        used.insert(pointer);
      }
      if (node.is_structured()) {
        for (const Json& child : node) visit(child);
      }
    };
    visit(document);
    EXPECT_GT(references, 50u);
    EXPECT_GT(used.size(), 30u);
    for (const auto& [name, schema] : document.at("components").at("schemas").items()) {
      EXPECT_TRUE(used.contains("/components/schemas/" + name)) << "not used: " << name;
    }
  }
}

TEST(RoutesTest, CallersAndOperatorsHaveADocumentEach) {
  for (const OpenApiPart part : {OpenApiPart::kPublic, OpenApiPart::kAdmin}) {
    for (const std::string_view text : {OpenApiText(part), OpenApi30Text(part)}) {
      const Json document = Json::parse(text);
      for (const auto& [path, operations] : document.at("paths").items()) {
        const bool of_admin = path.starts_with("/admin/") || path.starts_with("/internal/") ||
                              path.starts_with("/console");
        EXPECT_EQ(of_admin, part == OpenApiPart::kAdmin) << path;
      }
    }
    EXPECT_EQ(Json::parse(OpenApiText(part)).at("openapi"), "3.1.0");
    EXPECT_EQ(Json::parse(OpenApi30Text(part)).at("openapi"), "3.0.3");
  }
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
