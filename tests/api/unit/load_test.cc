// What load takes from answers: by level, priority and the collection's policy, and no more.

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using admission::Priority;
using http::Method;
using test::Answer;
using test::Json;

class LoadTest : public test::ServiceTest {
 protected:
  void SetUp() override {
    Open();
    const char* const may = R"({"on_load":{"min_share":0.5,"verify":"drop"}})";
    ASSERT_EQ(Ask(Method::kPut, "/collections/may", may).status, 200u);
  }
  void SetLevel(int level) {
    const std::string body = R"({"level":)" + std::to_string(level) + "}";
    ASSERT_EQ(Ask(Method::kPost, "/admin/degrade", body).status, 200u);
  }
  Answer Filter(const std::string& more, const std::string& priority = "") {
    http::RequestHead head;
    head.method = Method::kPost;
    head.target = "/filter";
    head.priority = priority;
    const std::string body = R"({"user":"u","items":[0,1,2,3,4,5,6,7,8,9])" + more + "}";
    head.content_length = body.size();
    return test::ServiceTest::Ask(head, body);
  }
};

constexpr const char* kMay = R"(,"collection":"may")";

TEST_F(LoadTest, TheFirstCandidatesAreExaminedAndTheAnswerSaysSo) {
  SetLevel(3);
  EXPECT_EQ(Filter(kMay).body,
            R"({"unseen":[0,1,2,3,4,5,6],"seen":0,"examined":7,"unseen_share":1,"degraded":true,)"
            R"("missing":["load"]})");
  EXPECT_EQ(Filter(kMay, "high").json().at("examined"), 9);
  EXPECT_EQ(Filter(kMay, "low").json().at("examined"), 5);
  EXPECT_EQ(context_->admission.degraded(), 3u);
  SetLevel(0);
  EXPECT_EQ(Filter(kMay).json().at("degraded"), false);
}

TEST_F(LoadTest, WithoutAPolicyForItAnswersAreWhole) {
  SetLevel(5);
  for (const char* priority : {"high", "normal", "low"}) {
    const Json whole = Filter(R"(,"verify":true)", priority).json();
    EXPECT_EQ(whole.at("examined"), 10);
    EXPECT_EQ(whole.at("degraded"), false);
  }
  EXPECT_EQ(context_->admission.degraded(), 0u);
}

TEST_F(LoadTest, WhoeverAsksToFailIsNotDegraded) {
  SetLevel(5);
  const Json whole = Filter(std::string(kMay) + R"(,"on_error":"fail")", "low").json();
  EXPECT_EQ(whole.at("examined"), 10);
  EXPECT_EQ(whole.at("degraded"), false);
}

TEST_F(LoadTest, ThePolicysLeastShareIsKept) {
  const char* const most = R"({"on_load":{"min_share":0.9}})";
  ASSERT_EQ(Ask(Method::kPut, "/collections/most", most).status, 200u);
  SetLevel(5);
  const Json answer = Filter(R"(,"collection":"most","verify":true)").json();
  EXPECT_EQ(answer.at("examined"), 9);
  EXPECT_TRUE(answer.contains("refuted"));
}

TEST_F(LoadTest, VerifyingIsLeftOutWhereItMayBe) {
  engine_.refuted = 3;
  const char* const keeps = R"({"on_load":{"min_share":0.5,"verify":"keep"}})";
  ASSERT_EQ(Ask(Method::kPut, "/collections/keeps", keeps).status, 200u);
  SetLevel(2);
  const std::string verify = R"(,"verify":true)";
  EXPECT_EQ(Filter(kMay + verify).json().at("refuted"), 0);
  EXPECT_EQ(Filter(kMay + verify).json().at("missing"), Json({"load"}));
  EXPECT_EQ(Filter(R"(,"collection":"keeps")" + verify).json().at("refuted"), 3);
  SetLevel(1);
  EXPECT_EQ(Filter(kMay + verify).json().at("refuted"), 3);
  EXPECT_EQ(Filter(kMay + verify, "low").json().at("refuted"), 0);
}

TEST_F(LoadTest, TheLeastImportantAreAnsweredFromTheShortTermMemory) {
  const char* const play = R"({"events":[{"user":"u","item":0},{"user":"u","item":1}]})";
  ASSERT_EQ(Ask(Method::kPost, "/plays?collection=may", play).status, 200u);
  ASSERT_EQ(Ask(Method::kPost, "/admin/drain").status, 200u);
  SetLevel(4);
  EXPECT_EQ(Filter(kMay).json().at("seen"), 2);
  const Json answer = Filter(kMay, "low").json();
  EXPECT_EQ(answer.at("seen"), 0) << "the fake engine has no short-term store";
  EXPECT_EQ(answer.at("missing"), Json({"load"}));
}

TEST_F(LoadTest, ALimitThatIsReachedLeavesNothingOut) {
  SetLevel(5);
  const Json answer = Filter(std::string(kMay) + R"(,"limit":4)").json();
  EXPECT_EQ(answer.at("unseen").size(), 4u);
  EXPECT_EQ(answer.at("degraded"), false);
  EXPECT_EQ(Filter(std::string(kMay) + R"(,"limit":6)").json().at("degraded"), true);
}

TEST_F(LoadTest, ABitmapHasABitForEachItemAndNoneForWhatWasNotExamined) {
  SetLevel(5);
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter?user=u&ids=u64&collection=may";
  head.content_type = "application/octet-stream";
  std::string body(size_t{20} * 8, '\0');
  for (size_t i = 0; i < 20; ++i) body[i * 8] = static_cast<char>(i);
  head.content_length = body.size();
  const Answer answer = test::ServiceTest::Ask(head, body);
  EXPECT_EQ(answer.body, std::string("\xFF\x03\x00", 3));
}

TEST_F(LoadTest, LinesAreDegradedByThePriorityOfTheirRequest) {
  SetLevel(3);
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter";
  head.content_type = "application/x-ndjson";
  head.priority = "low";
  const std::string line = R"({"user":"u","collection":"may","items":[0,1,2,3,4,5,6,7,8,9]})";
  head.content_length = line.size();
  EXPECT_EQ(Json::parse(test::ServiceTest::Ask(head, line).body).at("examined"), 5);
}

TEST_F(LoadTest, AnOrderIsChecked) {
  EXPECT_EQ(Ask(Method::kPost, "/admin/degrade", R"({"level":3,"refuse":["low"],"for_s":60})").body,
            R"({"level":3,"by_hand":true,"refuse":["low"],"for_s":60})");
  EXPECT_TRUE(context_->admission.degrade().Refuses(Priority::kLow));
  EXPECT_EQ(Ask(Method::kPost, "/admin/degrade", R"({"level":"auto"})").json().at("by_hand"),
            false);
  EXPECT_FALSE(context_->admission.degrade().Refuses(Priority::kLow));
  const std::pair<const char*, const char*> faults[] = {
      {"{}", "/level"},
      {R"({"level":6})", "/level"},
      {R"({"level":-1})", "/level"},
      {R"({"level":"high"})", "/level"},
      {R"({"level":true})", "/level"},
      {R"({"level":1,"refuse":["urgent"]})", "/refuse/0"},
      {R"({"level":1,"refuse":"low"})", "/refuse"},
      {R"({"level":1,"for_s":0})", "/for_s"},
      {R"({"level":1,"for_s":604801})", "/for_s"},
      {R"({"level":1,"forever":true})", "/forever"}};
  for (const auto& [body, field] : faults) {
    const Answer answer = Ask(Method::kPost, "/admin/degrade", body);
    EXPECT_EQ(answer.status, 400u) << body;
    EXPECT_EQ(answer.field(), field) << body;
  }
}

class TicketTest : public test::ServiceTest {
 protected:
  admission::Ticket TicketOf(Method method, const std::string& target,
                             const std::string& priority = "") {
    http::RequestHead head;
    head.method = method;
    head.target = target;
    head.priority = priority;
    http::Connection connection;
    connection.peer = "10.0.0.1";
    head.connection = &connection;
    return service_->Begin(head).ticket;
  }
};

TEST_F(TicketTest, SaysWhatTheRouteIs) {
  using admission::Class;
  EXPECT_EQ(TicketOf(Method::kGet, "/healthz").cls, Class::kProbe);
  EXPECT_EQ(TicketOf(Method::kPost, "/filter").cls, Class::kRead);
  EXPECT_EQ(TicketOf(Method::kPost, "/plays").cls, Class::kWrite);
  EXPECT_EQ(TicketOf(Method::kPost, "/admin/drain").cls, Class::kAdmin);
  EXPECT_EQ(TicketOf(Method::kPost, "/filter").priority, Priority::kNormal);
  EXPECT_EQ(TicketOf(Method::kDelete, "/users/u").priority, Priority::kHigh);
  EXPECT_EQ(TicketOf(Method::kGet, "/users/u/export").priority, Priority::kLow);
  EXPECT_EQ(TicketOf(Method::kGet, "/users/u/export", "high").priority, Priority::kHigh);
  EXPECT_EQ(TicketOf(Method::kPost, "/filter").tenant_key, admission::KeyOfPeer("10.0.0.1"));
  EXPECT_NE(TicketOf(Method::kPost, "/plays").route, TicketOf(Method::kPost, "/filter").route);
}

TEST_F(TicketTest, ThePriorityMustBeOne) {
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter";
  head.priority = "urgent";
  const Answer answer = Ask(head, "{}");
  EXPECT_EQ(answer.status, 400u);
  EXPECT_EQ(answer.json().at("error").at("message"), "SeenDB-Priority must be high, normal or low");
}

TEST_F(TicketTest, ATokenHasItsTenantAndItsCap) {
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const auto tokens = files::ReadTokens(
      R"([{"name":"a","sha256":")" + abc + R"(","role":"write","priority":"low","share":3}])",
      &context_->admission.tenants());
  ASSERT_TRUE(tokens.ok());
  context_->access.Set(*tokens, false);
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter";
  head.authorization = "Bearer abc";
  head.priority = "high";
  const admission::Ticket ticket = service_->Begin(head).ticket;
  EXPECT_EQ(ticket.priority, Priority::kLow);
  ASSERT_NE(ticket.tenant, nullptr);
  EXPECT_EQ(ticket.tenant->name(), "a");
  EXPECT_EQ(ticket.tenant->weight(), 3);
  EXPECT_EQ(ticket.tenant_key, ticket.tenant->key());
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
