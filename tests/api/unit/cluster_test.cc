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

TEST_F(ClusterRoutesTest, CopiesOfShardsAreForNodesAlone) {
  const std::pair<Method, std::string> routes[] = {
      {Method::kPost, "/internal/shards/3/snapshot"},
      {Method::kGet, "/internal/shards/3/snapshot/id/CURRENT"},
      {Method::kDelete, "/v1/internal/shards/3/snapshot/id"}};
  int calls = 0;
  const auto ask = [&](const std::string& authorization, unsigned status) {
    for (const auto& [method, target] : routes) {
      http::RequestHead head;
      head.method = method;
      head.target = target;
      head.authorization = authorization;
      EXPECT_EQ(Ask(head, "").status, status) << target << " " << authorization;
    }
  };
  ask("Bearer secret", 403);  // a server that is no node
  Join();
  ask("Bearer secret", 503);  // a node that has none to give
  context_->cluster->snapshots = [&](Call& call) {
    ++calls;
    EXPECT_EQ(call.plan.arguments.at(0), "3");
    call.response.body = "{}";
  };
  ask("Bearer other", 403);
  ask("", 403);
  EXPECT_EQ(calls, 0);
  ask("Bearer secret", 200);
  EXPECT_EQ(calls, 3);
}

TEST_F(ClusterRoutesTest, AShardBeginsEmptyOnlyForWhoeverRepeatsItsNumber) {
  EXPECT_EQ(Ask(Method::kPost, "/admin/shards/3/begin-empty?confirm=3").status, 404u);
  Join();
  std::vector<uint32_t> begun;
  Status answer;
  context_->cluster->begin_empty = [&](uint32_t partition) {
    begun.push_back(partition);
    return answer;
  };
  for (const char* target : {"/admin/shards/3/begin-empty", "/admin/shards/3/begin-empty?confirm=4",
                             "/admin/shards/03/begin-empty?confirm=3"}) {
    const Answer refused = Ask(Method::kPost, target);
    EXPECT_EQ(refused.status, 409u) << target;
    EXPECT_EQ(refused.json().at("error").at("field"), "/confirm") << target;
  }
  for (const char* number : {"-1", "x", "3x", "99999999999"}) {
    const std::string target = std::string("/admin/shards/") + number;
    EXPECT_EQ(Ask(Method::kPost, target + "/begin-empty?confirm=" + number).status, 400u) << number;
  }
  EXPECT_TRUE(begun.empty());
  EXPECT_EQ(Ask(Method::kPost, "/admin/shards/3/begin-empty?confirm=3").body, R"({"partition":3})");
  answer = Status::Incompatible("n1 has it");
  EXPECT_EQ(Ask(Method::kPost, "/admin/shards/4/begin-empty?confirm=4").status, 409u);
  EXPECT_EQ(begun, (std::vector<uint32_t>{3, 4}));
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
