// Whole requests through the service, without sockets, over an in-memory engine.

#include "api/service.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"
#include "wire/unit/padded.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using test::Answer;
using test::Json;
using test::ServiceTest;

TEST_F(ServiceTest, PlaysAreSeenAndExplained) {
  Answer answer = Ask(Method::kPost, "/plays", R"({"events":[{"user":"u1","item":"v1"}]})");
  EXPECT_EQ(answer.body, R"({"accepted":1,"refused":0,"refusals":[]})");
  const char* const filter = R"({"user":"u1","items":["v1",2,"v3"],"explain":true})";
  EXPECT_EQ(Ask(Method::kPost, "/filter", filter).body,
            R"({"unseen":[2,"v3"],"seen":1,"examined":3,"unseen_share":0.6666666666666666,)"
            R"("degraded":false,"reasons":{"v1":"ring"}})");
  EXPECT_EQ(Ask(Method::kPost, "/admin/drain").json().at("drained_plays"), 1);
  EXPECT_EQ(Ask(Method::kPost, "/v1/filter", filter).json().at("reasons").at("v1"), "play:2023-11");
}

TEST_F(ServiceTest, ImpressionsAndRecordHideItems) {
  EXPECT_EQ(Ask(Method::kPost, "/impressions", R"({"user":"u","items":["a"]})").status, 200u);
  const char* const record = R"({"user":"u","items":["a","b","c"],"limit":1,"record":true})";
  EXPECT_EQ(Ask(Method::kPost, "/filter", record).body,
            R"({"unseen":["b"],"seen":1,"examined":2,"unseen_share":0.5,"degraded":false})");
  EXPECT_EQ(Ask(Method::kPost, "/filter", record).json().at("unseen"), Json({"c"}));
  const char* const plays = R"({"user":"u","items":["a"],"facts":["plays"]})";
  EXPECT_EQ(Ask(Method::kPost, "/filter", plays).json().at("unseen"), Json({"a"}));
}

TEST_F(ServiceTest, EveryStatusHasItsHttpStatus) {
  const struct {
    Status status;
    unsigned http;
    const char* code;
  } cases[] = {
      {Status::InvalidArgument("m", "/f"), 400, "invalid_argument"},
      {Status::NotFound("m", "/f"), 404, "not_found"},
      {Status::Incompatible("m", "/f"), 409, "incompatible"},
      {Status::Corruption("m"), 500, "corruption"},
      {Status::Busy("m"), 503, "busy"},
      {Status::IOError("m"), 503, "io_error"},
      {Status::Unavailable("m"), 503, "unavailable"},
      {Status::Closed("m"), 503, "closed"},
  };
  for (const auto& c : cases) {
    engine_.fail = c.status;
    for (const Answer& answer : {
             Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})"),
             Ask(Method::kPost, "/plays", R"({"events":[{"user":"u","item":1}]})"),
             Ask(Method::kPost, "/plays", "{\"user\":\"u\",\"item\":1}\n", "application/x-ndjson"),
             Ask(Method::kPost, "/impressions", R"({"user":"u","items":[1]})"),
             Ask(Method::kGet, "/users/u"),
             Ask(Method::kDelete, "/users/u"),
             Ask(Method::kPut, "/collections/c", "{}"),
             Ask(Method::kPost, "/admin/drain"),
             Ask(Method::kPost, "/admin/seal"),
             Ask(Method::kPost, "/admin/compact"),
             Ask(Method::kPost, "/admin/drop-expired"),
         }) {
      EXPECT_EQ(answer.status, c.http) << answer.body;
      EXPECT_EQ(answer.code(), c.code);
      EXPECT_EQ(answer.retry_after_s > 0, c.http == 503);
    }
  }
}

TEST_F(ServiceTest, UnknownCollectionsAreNamed) {
  const Answer answers[] = {
      Ask(Method::kPost, "/filter", R"({"user":"u","items":[1],"collection":"nope"})"),
      Ask(Method::kPost, "/plays", R"({"events":[],"collection":"nope"})"),
      Ask(Method::kPost, "/plays?collection=nope", "{}\n", "application/x-ndjson"),
      Ask(Method::kPost, "/impressions", R"({"user":"u","items":[1],"collection":"nope"})"),
      Ask(Method::kGet, "/users/u?collection=nope"),
      Ask(Method::kPost, "/admin/seal", R"({"collection":"nope","bucket":"2023-11"})"),
  };
  for (const Answer& answer : answers) {
    EXPECT_EQ(answer.status, 404u) << answer.body;
    EXPECT_EQ(answer.field(), "/collection");
  }
}

TEST_F(ServiceTest, QueryNamesTheCollection) {
  ASSERT_EQ(Ask(Method::kPut, "/collections/video", "").status, 200u);
  const char* const event = R"({"events":[{"user":"u","item":"v"}]})";
  EXPECT_EQ(Ask(Method::kPost, "/plays?collection=video", event).status, 200u);
  const char* const filter = R"({"user":"u","items":["v"],"collection":"video"})";
  EXPECT_EQ(Ask(Method::kPost, "/filter", filter).json().at("seen"), 1);
  const char* const other = R"({"events":[],"collection":"default"})";
  EXPECT_EQ(Ask(Method::kPost, "/plays?collection=video", other).field(), "/collection");
  EXPECT_EQ(Ask(Method::kPost, "/filter?collection=video", filter).field(), "/collection");
  EXPECT_EQ(Ask(Method::kGet, "/users/u?colection=video").field(), "/colection");
  EXPECT_EQ(Ask(Method::kGet, "/users/u?collection=a&collection=b").field(), "/collection");
}

TEST_F(ServiceTest, RefusesBeforeTheBody) {
  EXPECT_EQ(Ask(Method::kGet, "/nope").status, 404u);
  EXPECT_EQ(Ask(Method::kGet, "/v1/v1/filter").status, 404u);
  const Answer wrong = Ask(Method::kPost, "/healthz");
  EXPECT_EQ(wrong.status, 405u);
  EXPECT_EQ(wrong.allow, "GET, HEAD");
  EXPECT_EQ(Ask(Method::kPost, "/filter", "x", "text/plain").status, 415u);
  EXPECT_EQ(Ask(Method::kPost, "/admin/drain", "x", "application/x-ndjson").status, 415u);
  EXPECT_EQ(Ask(Method::kPost, "/admin/drain", "", "text/plain").status, 415u);
  EXPECT_EQ(Ask(Method::kGet, "/users/%zz").status, 400u);
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter";
  head.content_length = 2;
  head.content_encoding = "br";
  EXPECT_EQ(Ask(head, "{}").status, 415u);
  head.content_encoding = "identity";
  EXPECT_EQ(Ask(head, "{}").field(), "/user");
}

TEST_F(ServiceTest, PhasesDecideWhatIsAnswered) {
  for (const ops::Phase phase : {ops::Phase::kOpening, ops::Phase::kStopping}) {
    health_.Set(phase);
    context_->engine = phase == ops::Phase::kOpening ? nullptr : &engine_;
    for (const char* target : {"/users/u", "/collections", "/admin/stats", "/readyz"}) {
      const Answer answer = Ask(Method::kGet, target);
      EXPECT_EQ(answer.status, 503u) << target;
      EXPECT_EQ(answer.code(), "unavailable");
      EXPECT_EQ(answer.retry_after_s, 1);
    }
    EXPECT_EQ(Ask(Method::kPost, "/filter", "{}").status, 503u);
    for (const char* target : {"/", "/healthz", "/metrics", "/openapi.json"}) {
      EXPECT_EQ(Ask(Method::kGet, target).status, 200u) << target;
    }
  }
}

TEST_F(ServiceTest, ReadySaysDegraded) {
  EXPECT_EQ(Ask(Method::kGet, "/readyz").json().at("degraded"), false);
  engine_.degraded = true;
  const Answer ready = Ask(Method::kGet, "/readyz");
  EXPECT_EQ(ready.status, 200u);
  EXPECT_EQ(ready.json().at("degraded"), true);
  const Answer filter = Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})");
  EXPECT_EQ(filter.json().at("missing"), Json({"2023-11"}));
}

TEST_F(ServiceTest, ReadyNamesProblemsOfTheConsumption) {
  EXPECT_EQ(Ask(Method::kGet, "/readyz").json().at("problems"), Json::array());
  context_->ingest_problems = [] { return std::vector<std::string>{"first plays wait"}; };
  const Answer ready = Ask(Method::kGet, "/readyz");
  EXPECT_EQ(ready.status, 200u);
  EXPECT_EQ(ready.json().at("problems"), Json({"first plays wait"}));
  EXPECT_EQ(ready.json().at("degraded"), false);
}

TEST_F(ServiceTest, JsonPlaysAreAllOrNothing) {
  const char* const bad = R"({"events":[{"user":"u","item":"v1"},{"user":"u","item":""}]})";
  EXPECT_EQ(Ask(Method::kPost, "/plays", bad).field(), "/events/1/item");
  EXPECT_EQ(engine_.batches, 0u);
  const char* const future =
      R"({"events":[{"user":"u","item":"v1"},{"user":"u","item":"v2","at":9000000000000}]})";
  const Json json = Ask(Method::kPost, "/plays", future).json();
  EXPECT_EQ(json.at("accepted"), 1);
  EXPECT_EQ(json.at("refused"), 1);
  EXPECT_EQ(json.at("refusals").at(0).at("index"), 1);
  EXPECT_EQ(json.at("refusals").at(0).at("error").at("code"), "invalid_argument");
}

TEST_F(ServiceTest, NdjsonPlaysTakeTheGoodLines) {
  std::string body = "\n{\"user\":\"u\",\"item\":\"v1\"}\r\nbad\n";
  body += "{\"user\":\"u\",\"item\":\"v2\",\"at\":9000000000000}\n";
  body += "{\"user\":\"u\",\"item\":\"" + std::string(300, 'x') + "\"}\n";
  body += "{\"user\":\"u\",\"item\":\"v3\"}";
  for (const size_t piece : {size_t{1}, size_t{7}, body.size()}) {
    const Json json = Ask(Method::kPost, "/plays", body, "application/x-ndjson", piece).json();
    EXPECT_EQ(json.at("accepted"), 2);
    EXPECT_EQ(json.at("refused"), 3);
    std::vector<int> lines;
    for (const Json& refusal : json.at("refusals")) lines.push_back(refusal.at("index"));
    EXPECT_EQ(lines, (std::vector<int>{2, 3, 4}));
  }
  const char* const filter = R"({"user":"u","items":["v1","v2","v3"]})";
  EXPECT_EQ(Ask(Method::kPost, "/filter", filter).json().at("unseen"), Json({"v2"}));
}

TEST_F(ServiceTest, NdjsonPlaysAreBatchedAndRefusalsCapped) {
  std::string body;
  for (int i = 0; i < 20'000; ++i) {
    body += i % 10 == 0 ? "{}\n" : "{\"user\":\"u" + std::to_string(i) + "\",\"item\":1}\n";
  }
  const Json json = Ask(Method::kPost, "/plays", body, "application/x-ndjson", 9'999).json();
  EXPECT_EQ(json.at("accepted"), 18'000);
  EXPECT_EQ(json.at("refused"), 2'000);
  ASSERT_EQ(json.at("refusals").size(), 100u);
  EXPECT_EQ(json.at("refusals").at(99).at("index"), 990);
  EXPECT_GE(engine_.batches, 4u);
  EXPECT_LE(engine_.largest_batch, 4'096u);
}

TEST_F(ServiceTest, NdjsonImpressionsAndFiltersGoLineByLine) {
  EXPECT_EQ(Ask(Method::kPost, "/impressions", "{\"user\":\"u\",\"item\":\"a\",\"at\":5}\n",
                "application/x-ndjson")
                .json()
                .at("accepted"),
            1);
  const std::string body =
      "{\"user\":\"u\",\"items\":[\"a\",\"b\"]}\n\n{\"user\":\"u\"}\n{\"user\":\"w\",\"items\":[1]"
      "}";
  for (const size_t piece : {size_t{1}, size_t{10}, body.size()}) {
    EXPECT_EQ(
        Ask(Method::kPost, "/filter", body, "application/x-ndjson", piece).body,
        "{\"unseen\":[\"b\"],\"seen\":1,\"examined\":2,\"unseen_share\":0.5,\"degraded\":false}\n"
        "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"missing field\","
        "\"field\":\"/items\"}}\n"
        "{\"unseen\":[1],\"seen\":0,\"examined\":1,\"unseen_share\":1,\"degraded\":false}\n");
  }
  EXPECT_EQ(Ask(Method::kPost, "/filter", "", "application/x-ndjson").body, "");
}

TEST_F(ServiceTest, UsersAreInspectedAndErased) {
  Ask(Method::kPost, "/plays", R"({"events":[{"user":"a/b é","item":"v"}]})");
  Ask(Method::kPost, "/admin/drain");
  const Json report = Ask(Method::kGet, "/users/a%2Fb%20%C3%A9").json();
  EXPECT_EQ(report.at("user"), "a/b é");
  EXPECT_EQ(report.at("buckets").at(0).at("form"), "list");
  EXPECT_EQ(report.at("buckets").at(0).at("layers").at(0).at("fill"), 0.5);
  EXPECT_EQ(Ask(Method::kDelete, "/users/a%2Fb%20%C3%A9").body,
            R"({"erased":true,"known":true,"until_ms":1700000000000})");
  EXPECT_TRUE(Ask(Method::kGet, "/users/a%2Fb%20%C3%A9").json().at("buckets").empty());
  EXPECT_EQ(Ask(Method::kGet, "/users/%FF").field(), "/user");
  EXPECT_EQ(Ask(Method::kGet, "/users/" + std::string(256, 'u')).field(), "/user");
}

TEST_F(ServiceTest, CollectionsAreMadeChangedAndListed) {
  Answer answer = Ask(Method::kPut, "/collections/video",
                      R"({"bucket":"days:10","window":4,"retention":4,"durability":"sync"})");
  ASSERT_EQ(answer.status, 200u) << answer.body;
  EXPECT_EQ(answer.json().at("name"), "video");
  EXPECT_EQ(answer.json().at("bucket"), "days:10");
  EXPECT_EQ(answer.json().at("impressions"), 100);
  answer = Ask(Method::kPut, "/collections/video", R"({"impressions":5})");
  EXPECT_EQ(answer.json().at("impressions"), 5);
  EXPECT_EQ(answer.json().at("window"), 4);
  EXPECT_EQ(Ask(Method::kPut, "/collections/video", R"({"fpr":0.02})").status, 409u);
  EXPECT_EQ(Ask(Method::kPut, "/collections/x", R"({"window":0})").field(), "/window");
  EXPECT_EQ(Ask(Method::kPut, "/collections/x", R"({"windows":1})").field(), "/windows");
  EXPECT_EQ(Ask(Method::kPut, "/collections/x", "{").status, 400u);
  EXPECT_EQ(Ask(Method::kPut, "/collections/Video", "{}").field(), "/name");
  const Json list = Ask(Method::kGet, "/collections").json().at("collections");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(1).at("name"), "video");

  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/plays";
  head.content_length = 2;
  EXPECT_EQ(service_->Begin(head).executor, http::Executor::kEngine) << "some collection syncs";
}

TEST_F(ServiceTest, AdminCallsTakeEmptyBodiesAndRefuseOthers) {
  for (const char* target : {"/admin/drain", "/admin/compact", "/admin/drop-expired"}) {
    EXPECT_EQ(Ask(Method::kPost, target, "").json().at("ok"), true) << target;
    EXPECT_EQ(Ask(Method::kPost, target, " {} ").json().at("ok"), true) << target;
    EXPECT_EQ(Ask(Method::kPost, target, R"({"now":1})").field(), "/now") << target;
    EXPECT_EQ(Ask(Method::kPost, target, "[]").status, 400u) << target;
  }
  EXPECT_EQ(Ask(Method::kPost, "/admin/drop-expired").json().at("buckets_dropped"), 3);
  EXPECT_EQ(Ask(Method::kPost, "/admin/seal").json().at("buckets_sealed"), 2);
  EXPECT_EQ(
      Ask(Method::kPost, "/admin/seal", R"({"bucket":"2023-11"})").json().at("buckets_sealed"), 1);
  EXPECT_EQ(Ask(Method::kPost, "/admin/seal", R"({"collection":"default"})").field(), "/bucket");
  EXPECT_EQ(Ask(Method::kPost, "/admin/seal", R"({"bucket":"1999-01"})").status, 404u);
  EXPECT_EQ(Ask(Method::kPost, "/admin/seal", R"({"bucket":7})").field(), "/bucket");
  EXPECT_EQ(Ask(Method::kGet, "/admin/ring").json().at("slots").at(0).at("plays"), 7);
  EXPECT_EQ(Ask(Method::kGet, "/admin/buckets").json().at("buckets").at(0).at("state"), "open");
  EXPECT_EQ(Ask(Method::kGet, "/admin/stats").json().at("buckets_dropped"), 9);
}

TEST_F(ServiceTest, CheckpointsAreRefusedWithoutAFolder) {
  const Answer answer = Ask(Method::kPost, "/admin/checkpoint", R"({"name":"a"})");
  EXPECT_EQ(answer.status, 404u);
  EXPECT_NE(answer.json().at("error").at("message").get<std::string>().find("\"checkpoints\""),
            std::string::npos);
  EXPECT_TRUE(engine_.checkpoints.empty());
}

TEST_F(ServiceTest, CheckpointsGoIntoTheFolderByName) {
  context_->checkpoints = "/nowhere/checkpoints";
  Answer answer = Ask(Method::kPost, "/admin/checkpoint", R"({"name":"Mon-1_a.b"})");
  ASSERT_EQ(answer.status, 200u) << answer.body;
  Json json = answer.json();
  EXPECT_TRUE(json.at("took_ms").is_number_unsigned());
  json.erase("took_ms");
  EXPECT_EQ(json, Json::parse(R"({"ok":true,"name":"Mon-1_a.b","shards":2,"files_linked":3,
                                  "files_copied":4,"bytes":500,"bytes_copied":60})"));
  EXPECT_EQ(engine_.checkpoints, std::vector<std::string>{"/nowhere/checkpoints/Mon-1_a.b"});

  engine_.fail = Status::IOError("full");
  EXPECT_EQ(Ask(Method::kPost, "/admin/checkpoint", R"({"name":"b"})").status, 503u);
}

TEST_F(ServiceTest, CheckpointNamesStayInTheFolder) {
  context_->checkpoints = testing::TempDir();
  const std::string longest(64, 'x');
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string(".a"), std::string("a/b"),
        std::string("../a"), std::string("a b"), std::string("\\u0000"), std::string("\xC3\xA9"),
        std::string("a.tmp"), longest + "x"}) {
    const Answer answer = Ask(Method::kPost, "/admin/checkpoint", R"({"name":")" + name + R"("})");
    EXPECT_EQ(answer.status, 400u) << name;
    EXPECT_EQ(answer.field(), "/name") << name;
  }
  for (const char* body : {"", "{}", "[]", R"({"name":7})", R"({"name":"a","name":"a"})",
                           R"({"name":"a","to":"b"})", R"({"name":"a"} x)"}) {
    EXPECT_EQ(Ask(Method::kPost, "/admin/checkpoint", body).status, 400u) << body;
  }
  EXPECT_TRUE(engine_.checkpoints.empty());
  EXPECT_EQ(Ask(Method::kPost, "/admin/checkpoint", R"({"name":")" + longest + R"("})").status,
            200u);
}

TEST_F(ServiceTest, TheClockIsConfirmed) {
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock/confirm").body,
            R"({"confirmed":true,"now_ms":1700000000000})");
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock/confirm", R"({"now_ms":5})").status, 400u);
}

TEST_F(ServiceTest, ManualClockMovesForwardOnly) {
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", R"({"now_ms":5})").status, 404u);
  Open(/*manual_clock=*/true);
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", R"({"now_ms":2000})").body, R"({"now_ms":2000})");
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", R"({"now_ms":2000})").status, 200u);
  EXPECT_EQ(engine_.ticks, 2u);
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", R"({"now_ms":1999})").field(), "/now_ms");
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", "{}").field(), "/now_ms");
  const char* const beyond = R"({"now_ms":253370764800000})";
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", beyond).field(), "/now_ms");
  EXPECT_EQ(Ask(Method::kPost, "/admin/clock", "").status, 400u);
  EXPECT_EQ(clock_->NowMs(), 2'000);
  EXPECT_EQ(engine_.ticks, 2u);
}

TEST_F(ServiceTest, MetricsCountWhatPassed) {
  Ask(Method::kPost, "/plays",
      R"({"events":[{"user":"secret","item":"v"},{"user":"secret","item":"w","at":9000000000000}]})");
  Ask(Method::kPost, "/admin/drain");
  Ask(Method::kPost, "/filter", R"({"user":"secret","items":["v","w","x"]})");
  Ask(Method::kPost, "/filter", "{}");
  Ask(Method::kGet, "/nope");
  const Answer answer = Ask(Method::kGet, "/metrics");
  EXPECT_EQ(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line : {
           "seendb_http_requests_total{route=\"POST /filter\",code=\"200\"} 1\n",
           "seendb_http_requests_total{route=\"POST /filter\",code=\"400\"} 1\n",
           "seendb_http_requests_total{route=\"none\",code=\"404\"} 1\n",
           "seendb_http_request_seconds_count{route=\"POST /filter\"} 2\n",
           "seendb_http_request_seconds_bucket{route=\"POST /filter\",le=\"0.0025\"} 0\n",
           "seendb_http_request_seconds_bucket{route=\"POST /filter\",le=\"0.005\"} 2\n",
           "seendb_filter_candidates_total{collection=\"default\"} 3\n",
           "seendb_filter_seen_total{collection=\"default\"} 1\n",
           "seendb_plays_accepted_total{collection=\"default\"} 1\n",
           "seendb_plays_refused_total{collection=\"default\"} 1\n",
           "seendb_ring_bytes{shard=\"1\"} 700\n",
           "seendb_ring_age_seconds{shard=\"1\"} 5\n",
           "seendb_collection_bytes{collection=\"default\"} 1234\n",
           "seendb_drained_plays_total 1\n",
       }) {
    EXPECT_NE(answer.body.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(answer.body.find("secret"), std::string::npos) << "no user in a label";
}

TEST_F(ServiceTest, MetricsEstimateFalsePositives) {
  Ask(Method::kPost, "/plays", R"({"events":[{"user":"u","item":"v"}]})");
  Ask(Method::kPost, "/admin/drain");
  for (int i = 0; i < 300; ++i) Ask(Method::kPost, "/filter", R"({"user":"u","items":["v"]})");
  const std::string text = Ask(Method::kGet, "/metrics").body;
  EXPECT_NE(text.find("seendb_filter_fpr_estimate{collection=\"default\"} 0.25\n"),
            std::string::npos);
  EXPECT_NE(text.find("seendb_filter_fill_ratio{collection=\"default\"} 0.5\n"), std::string::npos);
}

TEST_F(ServiceTest, MetricsShowWhatTheBackgroundFound) {
  context_->samples_in_background = true;
  Ask(Method::kPost, "/plays", R"({"events":[{"user":"u","item":"v"}]})");
  Ask(Method::kPost, "/admin/drain");
  for (int i = 0; i < 300; ++i) Ask(Method::kPost, "/filter", R"({"user":"u","items":["v"]})");
  const char* const line = "seendb_filter_fpr_estimate{collection=\"default\"} 0.25\n";
  EXPECT_EQ(Ask(Method::kGet, "/metrics").body.find(line), std::string::npos);
  context_->sampler.Sample(&engine_);
  EXPECT_NE(Ask(Method::kGet, "/metrics").body.find(line), std::string::npos);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
