// Calls become requests of their routes, and answers of the routes become messages.

#include "connect/methods.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include <google/protobuf/message.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <seendb/v1/seendb.pb.h>

#include "connect/codec.h"
#include "connect/errors.h"

namespace seendb::connect::SEENDB_TEST_FILE {
namespace {

const Method& MethodNamed(std::string_view name) {
  return *std::find_if(Methods().begin(), Methods().end(),
                       [name](const Method& one) { return one.name == name; });
}

RouteRequest Routed(std::string_view name, const google::protobuf::Message& message,
                    int64_t left_ms = 0) {
  RouteRequest to;
  const Status status = MethodNamed(name).to_route(message, left_ms, &to);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return to;
}

Status Refusal(std::string_view name, const google::protobuf::Message& message) {
  RouteRequest to;
  return MethodNamed(name).to_route(message, 0, &to);
}

TEST(ConnectMethods, AFilterIsABinaryOne) {
  v1::FilterRequest request;
  request.set_user("a b&/+");
  request.add_item_numbers(1);
  request.add_item_numbers(258);
  request.add_exclude_numbers(3);
  request.set_limit(7);
  request.set_on_error(v1::ON_ERROR_FAIL);
  request.add_exclude_sets("x");
  request.add_exclude_sets("y");
  const RouteRequest to = Routed("Filter", request, 50);
  EXPECT_EQ(to.target,
            "/filter?user=a%20b%26%2F%2B&limit=7&on_error=fail&deadline_ms=50&exclude_sets=x%2Cy"
            "&exclude=1&ids=u64");
  ASSERT_EQ(to.body.size(), 24u);
  uint64_t second = 0;
  std::memcpy(&second, to.body.data() + 8, sizeof(second));
  EXPECT_EQ(second, 258u);
  // One list of texts makes all of them texts.
  request.clear_exclude_numbers();
  request.add_exclude("vv");
  EXPECT_EQ(Routed("Filter", request).body, std::string("\1\0\0\0001\3\0\0\000258\2\0\0\0vv", 18));
}

TEST(ConnectMethods, AFilterNamesWhatIsWrong) {
  v1::FilterRequest request;
  EXPECT_EQ(Refusal("Filter", request).field(), "/user");
  request.set_user_number(5);
  EXPECT_TRUE(Refusal("Filter", request).ok());
  request.add_items("a");
  request.add_items(std::string(256, 'x'));
  EXPECT_EQ(Refusal("Filter", request).field(), "/items/1");
  request.mutable_items()->RemoveLast();
  request.add_item_numbers(1);
  EXPECT_EQ(Refusal("Filter", request).field(), "/items");
  request.clear_item_numbers();
  request.add_exclude_sets("a,b");
  EXPECT_EQ(Refusal("Filter", request).field(), "/exclude_sets/0");
}

TEST(ConnectMethods, AFilterAnswersIdsOrTheBitmap) {
  v1::FilterRequest request;
  for (const char* item : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) request.add_items(item);
  http::Response response;
  response.body = "\x05\x01";
  response.headers =
      "\r\nSeenDB-Seen: 6\r\nSeenDB-Examined: 9\r\nSeenDB-Degraded: 2\r\nSeenDB-Recorded: false"
      "\r\nSeenDB-Missing: 2026-10, 2026-11";
  v1::FilterResponse answer;
  ASSERT_TRUE(MethodNamed("Filter").from_route(request, response, &answer).ok());
  std::string body;
  ASSERT_TRUE(Encode(Form::kJson, answer, &body).ok());
  EXPECT_EQ(nlohmann::json::parse(body),
            nlohmann::json::parse(R"({"unseen":["a","c","i"],"seen":6,"examined":9,"degraded":true,
                                      "missing":["2026-10","2026-11"],"recorded":false})"));
  request.set_answer(v1::ANSWER_FORM_BITMAP);
  answer.Clear();
  ASSERT_TRUE(MethodNamed("Filter").from_route(request, response, &answer).ok());
  EXPECT_EQ(answer.unseen_bitmap(), response.body);
  EXPECT_EQ(answer.unseen_size(), 0);
}

TEST(ConnectMethods, EventsAreJson) {
  v1::RecordPlaysRequest request;
  request.set_collection("c");
  v1::Play* const play = request.add_events();
  play->set_user("q\"uote");
  play->set_item_number(18'446'744'073'709'551'615u);
  play->set_at_ms(5);
  play->set_progress_s(-1);
  play->set_fields_json(R"({"a": 1})");
  play->add_of("channel:9");
  request.add_events();
  RouteRequest to = Routed("RecordPlays", request);
  EXPECT_EQ(to.target, "/plays");
  EXPECT_EQ(nlohmann::json::parse(to.body), nlohmann::json::parse(R"({"events":[
      {"user":"q\"uote","item":"18446744073709551615","at":5,"progress_s":-1,"of":["channel:9"],
       "fields":{"a":1}},{}],"collection":"c"})"));
  play->set_fields_json("{},\"item\":1");
  EXPECT_EQ(Refusal("RecordPlays", request).field(), "/events/0/fields_json");

  v1::RecordImpressionsRequest served;
  served.set_user_number(1);
  served.add_item_numbers(9'007'199'254'740'993u);
  to = Routed("RecordImpressions", served);
  EXPECT_EQ(to.body, R"({"user":"1","items":["9007199254740993"]})");

  v1::RecordExposuresRequest shown;
  shown.add_events()->set_surface("home");
  EXPECT_EQ(Routed("RecordExposures", shown).body, R"({"events":[{"surface":"home"}]})");
}

TEST(ConnectMethods, WhatBecameOfEventsIsRead) {
  http::Response response;
  response.body = R"({"accepted":1,"refused":1,"refusals":[{"index":1,"error":{"code":"c",
      "message":"m","field":"/at"}}],"refused_by":{"too_old":1},"day":"d","first_today":[0]})";
  v1::RecordResponse answer;
  const v1::RecordPlaysRequest request;
  ASSERT_TRUE(MethodNamed("RecordPlays").from_route(request, response, &answer).ok());
  EXPECT_EQ(answer.accepted(), 1u);
  EXPECT_EQ(answer.refusals(0).field(), "/at");
  EXPECT_EQ(answer.refused_by().at("too_old"), 1u);
  EXPECT_EQ(answer.first_today(0), 0u);
  response.body = "no JSON";
  EXPECT_FALSE(MethodNamed("RecordPlays").from_route(request, response, &answer).ok());
}

TEST(ConnectMethods, AHistoryIsAPath) {
  v1::HistoryRequest request;
  request.set_user("a/b?");
  request.add_collections("x");
  request.add_collections("y");
  request.set_limit(3);
  request.set_cursor("c=");
  EXPECT_EQ(Routed("History", request).target,
            "/users/a%2Fb%3F/history?collection=x%2Cy&limit=3&cursor=c%3D");
  request.clear_user();
  EXPECT_EQ(Refusal("History", request).field(), "/user");
}

TEST(ConnectCodec, ReadsNoMoreElementsThanItMay) {
  v1::FilterRequest request;
  for (uint32_t i = 0; i < kMostElements; ++i) request.add_items();
  std::string body;
  ASSERT_TRUE(Encode(Form::kProto, request, &body).ok());
  EXPECT_TRUE(Decode(Form::kProto, body, &request).ok());
  body += std::string("\x1a\0", 2);
  EXPECT_FALSE(Decode(Form::kProto, body, &request).ok());
  EXPECT_FALSE(Decode(Form::kJson, "{\"user\":\"a\",\"usr\":1}", &request).ok());
  EXPECT_FALSE(Decode(Form::kJson, std::string(100'000, '['), &request).ok());
}

TEST(ConnectCodec, KnowsItsTypes) {
  EXPECT_EQ(FormOf("application/proto"), Form::kProto);
  EXPECT_EQ(FormOf("Application/JSON ; charset=utf-8"), Form::kJson);
  EXPECT_FALSE(FormOf("application/connect+json"));
  EXPECT_FALSE(FormOf(""));
}

TEST(ConnectErrors, HaveConnectsCodesAndStatuses) {
  struct Row {
    unsigned status;
    std::string_view code, connect;
    unsigned as;
  };
  for (const Row& row :
       {Row{400, "invalid_argument", "invalid_argument", 400},
        Row{401, "unauthorized", "unauthenticated", 401},
        Row{403, "forbidden", "permission_denied", 403}, Row{404, "not_found", "not_found", 404},
        Row{404, "unimplemented", "unimplemented", 404},
        Row{405, "method_not_allowed", "unimplemented", 405},
        Row{409, "incompatible", "failed_precondition", 400},
        Row{413, "too_large", "resource_exhausted", 429},
        Row{415, "unsupported_media_type", "invalid_argument", 415},
        Row{429, "rate_limited", "resource_exhausted", 429},
        Row{500, "corruption", "data_loss", 500}, Row{503, "overloaded", "unavailable", 503},
        Row{503, "timeout", "deadline_exceeded", 504}}) {
    EXPECT_EQ(CodeOf(row.status, row.code), row.connect) << row.status;
    EXPECT_EQ(StatusOf(row.connect, row.status), row.as) << row.status;
  }
}

TEST(ConnectErrors, KeepWhatTheErrorSays) {
  http::Response response;
  response.status = 400;
  response.error_code = "invalid_argument";
  response.body = R"({"error":{"code":"invalid_argument","message":"a \"b\"","field":"/user"}})";
  ShapeError(&response);
  EXPECT_EQ(nlohmann::json::parse(response.body), nlohmann::json::parse(R"({
      "code":"invalid_argument","message":"a \"b\"","details":[{"type":"seendb.v1.Fault",
      "value":"ChBpbnZhbGlkX2FyZ3VtZW50EgUvdXNlcg",
      "debug":{"code":"invalid_argument","field":"/user"}}]})"));
}

}  // namespace
}  // namespace seendb::connect::SEENDB_TEST_FILE
