// Which bodies are decoded and which answers are compressed, by the table of routes.

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Coding;
using http::Method;
using test::ServiceTest;

class CompressTest : public ServiceTest {
 protected:
  /// The plan for a request of `route` with a body in `encoding`.
  http::Plan PlanOf(const Route& route, const std::string& encoding = "") {
    http::RequestHead head;
    head.method = route.method;
    for (bool varies = false; const char c : route.path) {
      if (c == '{') head.target += "default";
      varies = c == '{' || (varies && c != '}');
      if (!varies && c != '}') head.target += c;
    }
    head.content_encoding = encoding;
    head.content_length = 2;
    return service_->Begin(head);
  }
};

TEST_F(CompressTest, EveryRouteThatTakesABodyTakesItCompressed) {
  for (const Route& route : Routes()) {
    if (!route.takes_json || route.route_class == RouteClass::kPeer) continue;
    for (const auto& [name, coding] : {std::pair{"gzip", Coding::kGzip},
                                       {"x-gzip", Coding::kGzip},
                                       {"zstd", Coding::kZstd},
                                       {"identity", Coding::kIdentity},
                                       {"", Coding::kIdentity}}) {
      const http::Plan plan = PlanOf(route, name);
      EXPECT_TRUE(!plan.refused || plan.refusal.status != 415) << route.path << name;
      EXPECT_EQ(plan.coding, coding) << route.path << name;
    }
    for (const char* const name : {"br", "gzip, gzip", "deflate"}) {
      const http::Plan plan = PlanOf(route, name);
      ASSERT_TRUE(plan.refused);
      EXPECT_EQ(plan.refusal.status, 415u);
      EXPECT_EQ(plan.refusal.message, "Content-Encoding must be one of gzip, zstd and identity");
    }
  }
}

TEST_F(CompressTest, AnswersOfGetAreCompressedAndOfFiltersBySetting) {
  for (const bool setting : {false, true}) {
    context_->compress_filter = setting;
    for (const Route& route : Routes()) {
      if (route.route_class == RouteClass::kPeer) continue;  // refused before that
      const bool expected = route.method == Method::kGet ||
                            route.path == "/users/{user}/history/lookup" ||
                            route.path == "/items/get" || (setting && route.path == "/filter");
      EXPECT_EQ(PlanOf(route).compress, expected) << RouteLabel(route);
    }
  }
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
