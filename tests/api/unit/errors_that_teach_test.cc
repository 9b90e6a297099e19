// What a newcomer's mistakes are answered.

#include <string>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using test::Answer;
using test::ServiceTest;

class TeachingTest : public ServiceTest {
 protected:
  /// The message of a refusal of `status` 400.
  std::string Message(Method method, std::string target, std::string_view body,
                      std::string type = "") {
    const Answer answer = Ask(method, std::move(target), body, std::move(type));
    EXPECT_EQ(answer.status, 400u) << answer.body;
    EXPECT_EQ(answer.code(), "invalid_argument");
    field_ = answer.field();
    return answer.json().at("error").at("message");
  }

  std::string field_;
};

TEST_F(TeachingTest, UnknownFieldsNameTheNearestAndTheKnown) {
  EXPECT_EQ(Message(Method::kPost, "/filter", R"({"usr":"u"})"),
            "unknown field; did you mean `user`? Known: user, items, collection, facts, limit, "
            "exclude, explain, on_error, deadline_ms, record, verify, invalid, not, when_short, "
            "where, at_most, unknown, fields, caps, exclude_sets, collections");
  EXPECT_EQ(field_, "/usr");
  EXPECT_EQ(Message(Method::kPost, "/plays", R"({"events":[{"user":1,"itme":2}]})"),
            "unknown field; did you mean `item`? Known: user, item, at, progress_s, duration_s, "
            "device, fields, day, of, same_as");
  EXPECT_EQ(field_, "/events/0/itme");
  EXPECT_EQ(Message(Method::kPut, "/collections/c", R"({"windwo":4})").substr(0, 65),
            "windwo is not a field of a policy; did you mean `window`? Known: ");
  EXPECT_EQ(field_, "/windwo");
  EXPECT_EQ(Message(Method::kPut, "/collections/c", R"({"history":{"day":4}})").substr(0, 66),
            "history/day is not a field of a policy; did you mean `days`? Known");
}

TEST_F(TeachingTest, UnknownRoutesNameTheNearest) {
  const std::pair<const char*, const char*> cases[] = {
      {"/play", "no such route: /play; did you mean `/plays`?"},
      {"/v1/play", "no such route: /play; did you mean `/plays`?"},
      {"/Plays", "no such route: /Plays; did you mean `/plays`?"},
      {"/plays/", "no such route: /plays/; it is told without the slash at its end"},
      {"/user/u1", "no such route: /user/u1; did you mean `/users/{user}`?"},
      {"/admin/drian", "no such route: /admin/drian; did you mean `/admin/drain`?"},
      {"/stats", "no such route: /stats; did you mean `/admin/stats`?"},
      {"/nothing/of/the/kind",
       "no such route: /nothing/of/the/kind; GET /openapi.json and /openapi-admin.json list the "
       "routes"},
  };
  for (const auto& [path, message] : cases) {
    const Answer answer = Ask(Method::kPost, path, "{}");
    EXPECT_EQ(answer.status, 404u) << path;
    EXPECT_EQ(answer.json().at("error").at("message"), message);
  }
}

TEST_F(TeachingTest, UnknownCollectionsNameTheNearest) {
  const Answer answer =
      Ask(Method::kPost, "/filter", R"({"user":"u","items":[1],"collection":"defualt"})");
  EXPECT_EQ(answer.status, 404u);
  EXPECT_EQ(answer.field(), "/collection");
  EXPECT_EQ(answer.json().at("error").at("message"),
            R"(no collection "defualt"; did you mean "default"?)");
  const Answer cut = Ask(Method::kGet, "/users/u?collection=" + std::string(10'000, 'n'), "");
  EXPECT_LT(cut.body.size(), 300u);
}

TEST_F(TeachingTest, AMethodThatTheRouteDoesNotTakeNamesThoseItTakes) {
  const Answer answer = Ask(Method::kDelete, "/collections");
  EXPECT_EQ(answer.status, 405u);
  EXPECT_EQ(answer.json().at("error").at("message"), "/collections takes GET, HEAD");
}

TEST_F(TeachingTest, AContentTypeThatIsNotTakenIsNamed) {
  const Answer answer = Ask(Method::kPost, "/plays", "user=u", "application/x-www-form-urlencoded");
  EXPECT_EQ(answer.status, 415u);
  EXPECT_EQ(answer.json().at("error").at("message"),
            "Content-Type must be application/json or application/x-ndjson or "
            "application/octet-stream, not application/x-www-form-urlencoded");
}

TEST_F(TeachingTest, AnEventWithoutItsArrayIsToldWhereItGoes) {
  const std::string_view where =
      R"(; an event goes into {"events":[...]}, or alone into a line of application/x-ndjson)";
  const std::string message = Message(Method::kPost, "/plays", R"({"user":"u1","item":"v1"})");
  EXPECT_TRUE(message.ends_with(where)) << message;
  EXPECT_EQ(field_, "/user");
  EXPECT_FALSE(Message(Method::kPost, "/plays", R"({"evnts":[]})").ends_with(where));
}

TEST_F(TeachingTest, AValueOfAnotherTypeIsToldTheRule) {
  EXPECT_EQ(Message(Method::kPut, "/collections/c", R"({"window":"4 months"})"),
            "window must be from 1 to 128, not a string");
  EXPECT_EQ(Message(Method::kPut, "/collections/c", R"({"history":true})"),
            "history must be an object, not a boolean");
  EXPECT_EQ(field_, "/history");
}

TEST_F(TeachingTest, AnEmptyBodyIsCalledSo) {
  EXPECT_EQ(Message(Method::kPost, "/filter", ""), "the body is empty; must be JSON");
}

TEST_F(TeachingTest, UnknownNamesAreCut) {
  const std::string name(100'000, 'n');
  EXPECT_LT(Message(Method::kPost, "/filter", R"({")" + name + R"(":1})").size(), 300u);
  EXPECT_EQ(field_, "/" + name.substr(0, 64));
  EXPECT_LT(Message(Method::kPut, "/collections/c", R"({")" + name + R"(":1})").size(), 500u);
  EXPECT_EQ(field_, "/" + name.substr(0, 64));
}

TEST_F(TeachingTest, UnknownQueryParametersToo) {
  EXPECT_EQ(Message(Method::kGet, "/users/u?colection=x", ""),
            "unknown query parameter; did you mean `collection`? Known: collection");
  EXPECT_EQ(field_, "/colection");
}

TEST_F(TeachingTest, LinesSentAsJsonAreToldTheirContentType) {
  const std::string told =
      "a second value; one value per line needs Content-Type: application/x-ndjson";
  const char* const plays = "{\"user\":1,\"item\":2}\n{\"user\":1,\"item\":3}\n";
  for (const char* type : {"", "application/json"}) {
    EXPECT_EQ(Message(Method::kPost, "/plays", plays, type),
              "JSON syntax error at byte 20: " + told);
  }
  const char* const filters = "{\"user\":1,\"items\":[]}\n{\"user\":1,\"items\":[3]}\n";
  EXPECT_EQ(Message(Method::kPost, "/filter", filters), "JSON syntax error at byte 22: " + told);
  EXPECT_EQ(Message(Method::kPost, "/users/u/history/clear", "{}\n{}\n"),
            "JSON syntax error at byte 3: a second value")
      << "a route that takes no lines";
}

TEST_F(TeachingTest, SyntaxErrorsAreCalledThat) {
  EXPECT_EQ(Message(Method::kPost, "/filter", R"({"user":tru,"items":[]})"),
            "JSON syntax error at byte 11: unexpected `,\"items\":[]}`");
  EXPECT_EQ(field_, "/user");
  const Answer lines =
      Ask(Method::kPost, "/plays", "{\"user\":1,\"item\":2]\n", "application/x-ndjson");
  EXPECT_EQ(lines.json().at("refusals").at(0).at("error").at("message"),
            "JSON syntax error at byte 18: unexpected `]`");
  EXPECT_EQ(Ask(Method::kPost, "/filter", "{\"user\":\n", "application/x-ndjson").body,
            "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"JSON syntax error at byte 8: "
            "the document ends too early\",\"field\":\"\"}}\n");
}

TEST_F(TeachingTest, TheRootSaysWhatThisIs) {
  const Answer answer = Ask(Method::kGet, "/");
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.json().at("product"), "SeenDB");
  EXPECT_FALSE(answer.json().at("version").get<std::string>().empty());
  for (const char* const link :
       {"openapi", "openapi_3_0", "openapi_admin", "health", "ready", "metrics"}) {
    const std::string path = answer.json().at("links").at(link);
    EXPECT_EQ(Ask(Method::kGet, path).status, 200u) << path;
  }
  health_.Set(ops::Phase::kOpening);
  EXPECT_EQ(Ask(Method::kGet, "/").status, 200u);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
