// The routes of a cluster: what a node answers, and a server that is none.

#include "api/unit/service_fixture.h"

namespace seendb::api {
namespace {

using http::Method;
using test::Answer;
using test::ServiceTest;

class ClusterRoutesTest : public ServiceTest {
 protected:
  void Join() {
    context_->cluster =
        ClusterView{.report = [this]() -> Result<std::string> {
                      if (!known_) return Status::Unavailable("not known yet");
                      return std::string(R"({"name":"feed"})");
                    },
                    .status = [] { return std::string(R"({"node":"n1"})"); },
                    .is_secret = [](std::string_view shown) { return shown == "secret"; },
                    .why_not_ready = "not read yet"};
  }
  Answer AskStatus(const std::string& authorization) {
    http::RequestHead head;
    head.method = Method::kGet;
    head.target = "/internal/status";
    head.authorization = authorization;
    return Ask(head, "");
  }

  bool known_ = true;
};

TEST_F(ClusterRoutesTest, AServerByItselfHasNoCluster) {
  EXPECT_EQ(Ask(Method::kGet, "/cluster").status, 404u);
  const Answer status = AskStatus("Bearer secret");
  EXPECT_EQ(status.status, 403u);
  EXPECT_EQ(status.code(), "forbidden");
}

TEST_F(ClusterRoutesTest, ANodeTellsOfItsCluster) {
  Join();
  EXPECT_EQ(Ask(Method::kGet, "/cluster").body, R"({"name":"feed"})");
  known_ = false;
  const Answer answer = Ask(Method::kGet, "/v1/cluster");
  EXPECT_EQ(answer.status, 503u);
  EXPECT_EQ(answer.code(), "unavailable");
}

TEST_F(ClusterRoutesTest, WhatIsBetweenNodesAsksForTheSecret) {
  Join();
  EXPECT_EQ(AskStatus("Bearer secret").body, R"({"node":"n1"})");
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer other", "Basic secret", "secret"}) {
    EXPECT_EQ(AskStatus(wrong).status, 403u) << wrong;
  }
}

TEST_F(ClusterRoutesTest, ANodeSaysWhyItIsNotReady) {
  Join();
  context_->engine = nullptr;
  health_.Set(ops::Phase::kOpening);
  for (const char* target : {"/users/u", "/readyz"}) {
    const Answer answer = Ask(Method::kGet, target);
    EXPECT_EQ(answer.status, 503u) << target;
    EXPECT_EQ(answer.json().at("error").at("message"), "not read yet") << target;
  }
  EXPECT_EQ(Ask(Method::kGet, "/cluster").status, 200u);
  EXPECT_EQ(AskStatus("Bearer secret").status, 200u);
  health_.Set(ops::Phase::kStopping);
  EXPECT_EQ(Ask(Method::kGet, "/readyz").json().at("error").at("message"),
            "the server is shutting down");
}

// What one node alone has would be lost with it, and unknown to the others.
}  // namespace
}  // namespace seendb::api
