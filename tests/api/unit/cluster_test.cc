// The routes of a cluster: what a node answers, and a server that is none.

#include "api/unit/service_fixture.h"
#include "proof/proofs.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using test::Answer;
using test::ServiceTest;

class ClusterRoutesTest : public ServiceTest {
 protected:
  ClusterRoutesTest() {
    for (proof::Proofs* const one : {&own_, &other_}) one->SetSecrets({"a-secret-of-the-nodes"});
  }
  void Join() {
    context_->cluster = ClusterView{.report = [this]() -> Result<std::string> {
                                      if (!known_) return Status::Unavailable("not known yet");
                                      return std::string(R"({"name":"feed"})");
                                    },
                                    .status = [] { return std::string(R"({"node":"n1"})"); },
                                    .proofs = &own_,
                                    .why_not_ready = "not read yet"};
  }
  /// What the node "n2" sends.
  http::RequestHead HeadOfNode(Method method, std::string target, std::string_view body = "") {
    http::RequestHead head;
    head.method = method;
    head.target = std::move(target);
    Prove(&head, body);
    return head;
  }
  void Prove(http::RequestHead* head, std::string_view body = "") {
    proof::Question question{.method = http::MethodName(head->method), .target = head->target};
    head->routing.all.clear();
    const auto add = [&](const std::string& line) {
      head->routing.all.append(line).append("\n");
      question.headers.push_back(line);
    };
    if (head->routing.hop) add("seendb-hop:1");
    if (!head->routing.caller.empty()) add("seendb-caller:" + head->routing.caller);
    if (!body.empty()) {
      if (head->content_type.empty()) head->content_type = "application/json";
      head->content_length = body.size();
      question.headers.push_back("content-type:" + head->content_type);
    }
    head->routing.proof = other_.Make(question, proof::Sha256(body), "n1");
    const proof::Checked stale = own_.Check(head->routing.proof, question);  // takes it, if it fits
    static_cast<void>(other_.Learn(head->routing.proof, stale.challenge));
    head->routing.proof = other_.Make(question, proof::Sha256(body), "n1");
  }
  /// What a node is answered that passes a request on.
  Answer PassOn(Method method, std::string target, const std::string& caller,
                std::string_view body = "") {
    http::RequestHead head;
    head.method = method;
    head.target = std::move(target);
    head.routing.hop = true;
    head.routing.caller = caller;
    Prove(&head, body);
    return Ask(head, body);
  }
  Answer AskStatus() { return Ask(HeadOfNode(Method::kGet, "/internal/status"), ""); }

  bool known_ = true;
  proof::Proofs own_{"n1"}, other_{"n2"};
};

TEST_F(ClusterRoutesTest, AServerByItselfHasNoCluster) {
  EXPECT_EQ(Ask(Method::kGet, "/cluster").status, 404u);
  const Answer status = AskStatus();
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

TEST_F(ClusterRoutesTest, WhatIsBetweenNodesAsksForAProof) {
  Join();
  EXPECT_EQ(AskStatus().body, R"({"node":"n1"})");
  http::RequestHead head = HeadOfNode(Method::kGet, "/internal/status");
  const std::string proof = head.routing.proof;
  for (const std::string& wrong : {std::string(), proof + "x", proof.substr(1), "x" + proof}) {
    head.routing.proof = wrong;
    EXPECT_EQ(Ask(head, "").status, 403u) << wrong;
  }
  head.routing.proof = proof;
  head.authorization = "Bearer a-secret-of-the-nodes";
  EXPECT_EQ(Ask(head, "").status, 200u) << "it is looked at no more";
  EXPECT_EQ(Ask(head, "").status, 401u) << "it was taken before";
  const http::Plan plan = service_->Begin(head);
  EXPECT_TRUE(plan.refusal.challenge.starts_with("SeenDB-Proof ")) << plan.refusal.challenge;
  head.routing.proof = "";
  EXPECT_EQ(Ask(head, "").status, 403u);
}

TEST_F(ClusterRoutesTest, ABodyIsTheOneOfTheProof) {
  Join();
  const std::string filter = R"({"user":"u","items":["a"]})";
  EXPECT_EQ(PassOn(Method::kPost, "/filter", "anybody", filter).status, 200u);
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter";
  head.routing.hop = true;
  head.routing.caller = "anybody";
  Prove(&head, filter);
  const std::string other = R"({"user":"u","items":["b"]})";
  const Answer answer = Ask(head, other);
  EXPECT_EQ(answer.status, 403u);
  EXPECT_EQ(answer.json().at("error").at("message"), "the proof is of another body");
  head.content_type = "application/x-ndjson";
  Prove(&head, filter + "\n");
  EXPECT_EQ(Ask(head, filter + "\n").status, 403u) << "streams are of no proof";
}

TEST_F(ClusterRoutesTest, ANodeAsksForItselfWhatAListNames) {
  Join();
  context_->cluster->snapshots = [](Call& call) {
    call.response.body = "{}";
    return http::Task<>();
  };
  const std::string filter = R"({"user":"u","items":["a"]})";
  for (const std::string& target :
       {std::string("/collections/default"), std::string("/v1/internal/status"),
        std::string("/internal/shards/1/snapshot/id/CURRENT")}) {
    EXPECT_EQ(PassOn(Method::kGet, target, "").status, 200u) << target;
  }
  EXPECT_EQ(PassOn(Method::kPost, "/internal/append?partition=1", "", "{}").status, 404u)
      << "there is no router here";
  for (const char* const target :
       {"/users/u", "/users/u/export", "/collections", "/cluster", "/admin/stats", "/metrics"}) {
    EXPECT_EQ(PassOn(Method::kGet, target, "").status, 403u) << target;
  }
  EXPECT_EQ(PassOn(Method::kPost, "/filter", "", filter).status, 403u);
  EXPECT_EQ(PassOn(Method::kDelete, "/users/u", "").status, 403u);
  EXPECT_EQ(PassOn(Method::kPut, "/collections/default", "", "{}").status, 403u);
}

TEST_F(ClusterRoutesTest, ANodePassesOnReadsInSomebodysName) {
  Join();
  const auto caller = [](const std::string& role, const std::string& collections) {
    return R"({"name":"page","role":")" + role + R"(","collections":)" + collections + "}";
  };
  const std::string filter = R"({"user":"u","items":["a"]})";
  for (const std::string& may : {std::string("anybody"), caller("read", "[]")}) {
    EXPECT_EQ(PassOn(Method::kPost, "/filter", may, filter).status, 200u) << may;
    EXPECT_EQ(PassOn(Method::kGet, "/users/u/recording", may).status, 200u) << may;
  }
  const std::string video = caller("admin", R"(["video"])");
  EXPECT_EQ(PassOn(Method::kPost, "/filter", video, filter).status, 403u);
  EXPECT_EQ(PassOn(Method::kGet, "/users/u/recording", video).status, 403u) << "all collections";
  // Nodes append writes and policies to logs, and pass on neither them nor what is of one node.
  for (const std::string& anyone : {std::string("anybody"), caller("admin", "[]")}) {
    EXPECT_EQ(PassOn(Method::kGet, "/admin/stats", anyone).status, 403u) << anyone;
    EXPECT_EQ(PassOn(Method::kDelete, "/users/u", anyone).status, 403u) << anyone;
    EXPECT_EQ(PassOn(Method::kPut, "/collections/default", anyone, "{}").status, 403u) << anyone;
    EXPECT_EQ(PassOn(Method::kPost, "/plays", anyone, R"({"events":[]})").status, 403u) << anyone;
  }
}

TEST_F(ClusterRoutesTest, CopiesOfShardsAreForNodesAlone) {
  const std::pair<Method, std::string> routes[] = {
      {Method::kPost, "/internal/shards/3/snapshot"},
      {Method::kGet, "/internal/shards/3/snapshot/id/CURRENT"},
      {Method::kDelete, "/v1/internal/shards/3/snapshot/id"}};
  int calls = 0;
  const auto ask = [&](bool proves, unsigned status) {
    for (const auto& [method, target] : routes) {
      const std::string_view body = method == Method::kPost ? "{}" : "";
      http::RequestHead head = HeadOfNode(method, target, body);
      if (!proves) head.routing.proof.clear();
      EXPECT_EQ(Ask(head, body).status, status) << target << " " << proves;
    }
  };
  ask(true, 403);  // a server that is no node
  Join();
  ask(true, 503);  // a node that has none to give
  context_->cluster->snapshots = [&](Call& call) {
    ++calls;
    EXPECT_EQ(call.plan.arguments.at(0), "3");
    call.response.body = "{}";
    return http::Task<>();
  };
  ask(false, 403);
  EXPECT_EQ(calls, 0);
  ask(true, 200);
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
  EXPECT_EQ(AskStatus().status, 200u);
  health_.Set(ops::Phase::kStopping);
  EXPECT_EQ(Ask(Method::kGet, "/readyz").json().at("error").at("message"),
            "the server is shutting down");
}

// What one node alone has would be lost with it, and unknown to the others.
}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
