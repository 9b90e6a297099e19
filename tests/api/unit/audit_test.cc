// The audit: which calls have a line, what is in it, and what happens where none can be written.

#include "api/audit.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "api/access.h"
#include "api/unit/service_fixture.h"
#include "http/wait.h"
#include "proof/proofs.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using test::Answer;
using test::ServiceTest;
using Json = nlohmann::json;

constexpr const char* kKey = "000102030405060708090a0b0c0d0e0f";

/// Counts what it was told to erase.
class ErasingEngine final : public test::FakeEngine {
 public:
  Status EraseUser(IdRef user, const EraseOptions& options, Erasure* erasure) override {
    ++erased;
    return FakeEngine::EraseUser(user, options, erasure);
  }
  int erased = 0;
};

class AuditTest : public ServiceTest {
 protected:
  AuditTest() {
    std::string name = testing::TempDir() + "audit-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/audit.log";
  }
  ~AuditTest() override {
    service_.reset();
    context_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start(ops::AuditConfig config = {}) {
    config.file = path_;
    context_ = std::make_unique<Context>(limits_, 100, &health_, &metrics_, nullptr,
                                         ops::AccessLogConfig{.user_key = kKey});
    ASSERT_TRUE(OpenAudit(config, context_.get()));
    service_ = std::make_unique<ApiService>(context_.get());
    service_->EngineOpened(&erasing_);
  }
  /// The lines so far; of a file that can't be read, none.
  std::vector<Json> Lines() const {
    std::vector<Json> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  /// The same, once there are that many: the last ones are written while nobody waits.
  std::vector<Json> Lines(size_t count) const {
    for (int i = 0; i < 3'000 && Lines().size() < count; ++i) usleep(10'000);
    EXPECT_EQ(Lines().size(), count);
    return Lines();
  }
  static http::RequestHead HeadOf(Method method, std::string target) {
    http::RequestHead head;
    head.method = method;
    head.target = std::move(target);
    return head;
  }

  std::string folder_, path_;
  ErasingEngine erasing_;
};

TEST_F(AuditTest, AReadHasALineAndAChangeTwo) {
  Start();
  EXPECT_EQ(Ask(Method::kGet, "/users/anna").status, 200u);
  EXPECT_EQ(Ask(Method::kDelete, "/users/anna").status, 200u);
  const std::vector<Json> lines = Lines(3);
  EXPECT_EQ(lines[0].at("event"), "read");
  EXPECT_EQ(lines[0].at("route"), "GET /users/{user}");
  EXPECT_EQ(lines[0].at("user"), lines[1].at("user"));
  EXPECT_EQ(lines[0].at("user"), ops::HashText(ops::HashUser(*ParseHashKey(kKey), IdRef("anna"))));
  EXPECT_EQ(lines[0].at("token"), "");
  EXPECT_EQ(lines[0].at("role"), "");
  EXPECT_EQ(lines[1].at("event"), "change");
  EXPECT_EQ(lines[1].at("route"), "DELETE /users/{user}");
  EXPECT_NE(lines[0].at("id"), lines[1].at("id"));
  EXPECT_EQ(lines[2].at("event"), "answered");
  EXPECT_EQ(lines[2].at("id"), lines[1].at("id"));
  EXPECT_EQ(lines[2].at("status"), 200);
  EXPECT_LE(lines[1].at("ms").get<int64_t>(), lines[2].at("ms").get<int64_t>());
  EXPECT_EQ(context_->audit->Counts().lines, 3u);
}

TEST_F(AuditTest, WhatTheHotPathAsksHasNone) {
  Start();
  Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})");
  Ask(Method::kPost, "/plays", R"({"events":[{"user":"u","item":1}]})");
  Ask(Method::kPost, "/impressions", R"({"user":"u","items":[1]})");
  for (const char* path : {"/collections", "/metrics", "/healthz", "/readyz", "/", "/nope"}) {
    Ask(Method::kGet, path);
  }
  EXPECT_EQ(Ask(Method::kPut, "/users/u", "{}").status, 405u);
  EXPECT_TRUE(Lines().empty());
}

TEST_F(AuditTest, EveryRouteOfPeopleAndAdministratorsIsAudited) {
  for (const Route& route : Routes()) {
    const bool is_of_person = route.path.starts_with("/users/");
    const bool is_piece = route.path.ends_with("/{file}");  // of a copy, which has its line
    const bool is_of_admin =
        (route.route_class == RouteClass::kAdmin || route.route_class == RouteClass::kFilters) &&
        !is_piece;
    EXPECT_EQ(route.audited != Audited::kNo, is_of_person || is_of_admin) << RouteLabel(route);
    if (route.audited == Audited::kNo) continue;
    const bool only_looks = route.method == Method::kGet || route.path.ends_with("/lookup");
    EXPECT_EQ(route.audited == Audited::kRead, only_looks) << RouteLabel(route);
    EXPECT_LE(std::count(route.path.begin(), route.path.end(), '{'), 2) << RouteLabel(route);
  }
}

TEST_F(AuditTest, WhatACallNames) {
  Start();
  const std::pair<std::string, std::string> calls[] = {
      {"/users/u/history/delete", R"({"items":[1,{"a":2}],"collection":"video"})"},
      {"/users/u/history/clear", R"({"filter":true,"collections":["video","a\"\n"]})"},
      {"/users/u/history/clear", R"({"collections":[1]})"},
      {"/users/u/history/clear", R"({"coll)"},
      {"/admin/shards/3/begin-empty", ""}};
  for (const auto& [path, body] : calls) Ask(Method::kPost, path, body);
  Ask(Method::kDelete, "/collections/video");
  Ask(Method::kGet, "/users/u/history?collection=video,text");
  Ask(Method::kGet, "/users/u/history/secret-item?collection=video");
  std::vector<Json> firsts;
  for (const Json& line : Lines(14)) {
    if (line.at("event") != "answered") firsts.push_back(line);
  }
  ASSERT_EQ(firsts.size(), 8u);
  EXPECT_EQ(firsts[0].at("collection"), "video");
  EXPECT_EQ(firsts[1].at("collection"), "video,a\"\n");
  EXPECT_FALSE(firsts[2].contains("collection"));
  EXPECT_FALSE(firsts[3].contains("collection"));
  EXPECT_EQ(firsts[4].at("partition"), "3");
  EXPECT_FALSE(firsts[4].contains("user"));
  EXPECT_EQ(firsts[5].at("collection"), "video");
  EXPECT_EQ(firsts[6].at("collection"), "video,text");
  EXPECT_EQ(firsts[7].at("collection"), "video");
  EXPECT_FALSE(firsts[7].contains("item")) << "what somebody watched";
}

TEST_F(AuditTest, UsersInClearAreEscaped) {
  Start({.clear_users = true});
  Ask(Method::kGet, "/users/a%0a%22%1b%5b31m%e2%80%ae%c3%a4");
  Ask(Method::kGet, "/users/%c3");  // no UTF-8, and no user
  Ask(Method::kGet, "/users/007");
  const std::vector<Json> lines = Lines(3);
  EXPECT_EQ(lines[0].at("user"), "a\n\"\x1b[31m\u202e\u00e4");
  EXPECT_EQ(lines[1].at("user"), "\ufffd");
  EXPECT_EQ(lines[2].at("user"), "007");
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }))
        << line;
  }
}

TEST_F(AuditTest, WhoAsks) {
  Start();
  const auto tokens =
      files::ReadTokens(R"([{"name":"support","role":"admin","sha256":)"
                        R"("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}])");
  ASSERT_TRUE(tokens.ok());
  context_->access.Set(*tokens, /*once=*/false);
  http::Connection connection;
  connection.peer = "10.0.0.7";
  http::RequestHead head = HeadOf(Method::kHead, "/v1/users/u");
  head.authorization = "Bearer abc";
  head.request_id = "a1";
  head.connection = &connection;
  EXPECT_EQ(Ask(head, "").status, 200u);
  head.authorization = "Bearer wrong";
  EXPECT_EQ(Ask(head, "").status, 401u);
  const std::vector<Json> lines = Lines(1);  // who may not has read nothing
  EXPECT_EQ(lines[0].at("method"), "HEAD");
  EXPECT_EQ(lines[0].at("token"), "support");
  EXPECT_EQ(lines[0].at("role"), "admin");
  EXPECT_EQ(lines[0].at("address"), "10.0.0.7");
  EXPECT_EQ(lines[0].at("request_id"), "a1");
}

TEST_F(AuditTest, TheNodeThatTheCallerReachedWritesTheLine) {
  Start();
  proof::Proofs own("n1"), other("n2");
  for (proof::Proofs* const one : {&own, &other}) one->SetSecrets({"a-secret-of-the-nodes"});
  context_->cluster = ClusterView{.report = [] { return std::string("{}"); },
                                  .status = [] { return std::string("{}"); },
                                  .proofs = &own,
                                  .why_not_ready = ""};
  http::RequestHead head = HeadOf(Method::kGet, "/users/u");
  EXPECT_EQ(Ask(head, "").status, 200u);
  head.routing.hop = true;
  head.routing.caller = CallerToHeader(nullptr);
  const proof::Question question{.method = http::MethodName(head.method), .target = head.target};
  const std::string first = other.Make(question, proof::Sha256(""), "n1");
  ASSERT_TRUE(other.Learn(first, own.Check(first, question).challenge));
  head.routing.proof = other.Make(question, proof::Sha256(""), "n1");
  EXPECT_EQ(Ask(head, "").status, 200u);
  EXPECT_EQ(Lines().size(), 1u) << "that one has written it";
}

TEST_F(AuditTest, AnExportWritesItsLineOnceBeforeItsFirstByte) {
  Start();
  http::RequestHead head = HeadOf(Method::kGet, "/users/u/export");
  const http::Plan plan = service_->Begin(head);
  ASSERT_NE(plan.stream, nullptr);
  EXPECT_TRUE(Lines().empty());
  std::string out;
  plan.stream->Take("", true, &out);
  EXPECT_NE(out, "");
  EXPECT_EQ(Lines().size(), 1u);
  plan.stream->Take("", true, &out);
  EXPECT_EQ(Lines().size(), 1u);
  EXPECT_EQ(Lines()[0].at("route"), "GET /users/{user}/export");
}

TEST_F(AuditTest, WithoutALineNothingIsDone) {
  std::filesystem::create_symlink("/dev/full", path_);
  Start();
  for (const char* path : {"/users/u", "/users/u/export", "/users/u/history"}) {
    const Answer answer = Ask(Method::kGet, path);
    EXPECT_EQ(answer.status, 503u) << path;
    EXPECT_EQ(answer.code(), "unavailable");
    EXPECT_NE(answer.body.find("the audit can't be written, so nothing was done: No space left"),
              std::string::npos)
        << answer.body;
  }
  EXPECT_EQ(Ask(Method::kDelete, "/users/u").status, 503u);
  EXPECT_EQ(erasing_.erased, 0);
  EXPECT_EQ(Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})").status, 200u);
  const Json ready = Ask(Method::kGet, "/readyz").json();
  EXPECT_EQ(ready.at("problems"), Json({"the audit can't be written: No space left on device"}));
  const std::string metrics = Ask(Method::kGet, "/metrics").body;
  EXPECT_NE(metrics.find("\nseendb_audit_lines_total 0\n"), std::string::npos);
  EXPECT_NE(metrics.find("\nseendb_audit_failures_total 4\n"), std::string::npos);
}

TEST_F(AuditTest, ACallThatWaitsComesAgainUntilItsTimeIsOver) {
  std::filesystem::create_symlink("/dev/full", path_);
  Start({.waits = true});
  http::RequestHead head = HeadOf(Method::kDelete, "/users/u");
  const http::Plan plan = service_->Begin(head);
  http::Response response;
  const http::Request request{head, ""};
  http::TaskRun run(nullptr);
  run.Begin(service_->Handle(plan, request, &response));
  run.GoOn();
  ASSERT_NE(run.wait(), nullptr);
  EXPECT_EQ(run.wait()->what, http::Wait::For::kGiven);
  EXPECT_GT(run.wait()->limit_us, 0);
  EXPECT_EQ(erasing_.erased, 0);
  std::filesystem::remove(path_);
  context_->audit->Reopen();
  for (int i = 0; i < 2'000 && run; ++i) run.GoOn();
  EXPECT_FALSE(run);
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(erasing_.erased, 1);
  EXPECT_EQ(Lines().size(), 1u);

  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/full", path_);
  context_->audit->Reopen();
  head.timeout_ms = 1;
  EXPECT_EQ(Ask(head, "").status, 503u);
  EXPECT_EQ(erasing_.erased, 1);
}

TEST_F(AuditTest, AStreamThatWaitsTakesNothing) {
  std::filesystem::create_symlink("/dev/full", path_);
  Start({.waits = true});
  const http::RequestHead head = HeadOf(Method::kGet, "/users/u/export");
  const http::Plan plan = service_->Begin(head);
  std::string out;
  int64_t later_us = 0;
  EXPECT_EQ(plan.stream->Take("body", false, &out), 0u);
  EXPECT_TRUE(plan.stream->Later(&later_us));
  EXPECT_GT(later_us, 0);
  EXPECT_FALSE(plan.stream->Failed());
  std::filesystem::remove(path_);
  std::ofstream(path_).close();
  context_->audit->Reopen();
  for (int i = 0; i < 1'000 && out.empty(); ++i) plan.stream->Take("", true, &out);
  EXPECT_NE(out, "");
  EXPECT_FALSE(plan.stream->Later(&later_us));
}

TEST_F(AuditTest, AChangeWhoseClientHasLeftSaysThatItsStatusIsNotKnown) {
  Start();
  {
    const http::RequestHead head = HeadOf(Method::kDelete, "/users/u");
    const http::Plan plan = service_->Begin(head);
    http::Response response;
    test::RunHere(service_->Handle(plan, {head, ""}, &response));
  }
  const std::vector<Json> lines = Lines(2);
  EXPECT_EQ(lines[1].at("event"), "answered");
  EXPECT_FALSE(lines[1].contains("status"));
}

TEST_F(AuditTest, CallsWaitForTheDiskOnNoThreadOfADoor) {
  const auto executor_of = [this](Method method, const char* path) {
    http::RequestHead head = HeadOf(method, path);
    head.content_type = "application/json";
    return service_->Begin(head).executor;
  };
  EXPECT_EQ(executor_of(Method::kPost, "/admin/degrade"), http::Executor::kInline);
  Start();
  // The workers of others may be held when it is needed.
  EXPECT_EQ(executor_of(Method::kPost, "/admin/degrade"), http::Executor::kProbe);
  EXPECT_EQ(executor_of(Method::kGet, "/users/u"), http::Executor::kEngine);
  EXPECT_EQ(executor_of(Method::kPost, "/filter"), http::Executor::kInline);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
