// Which requests have a line in the log, and what is in it.

#include "api/request_log.h"

#include <functional>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/routes.h"
#include "http/service.h"
#include "ops/log.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;
using Json = nlohmann::json;
using Mode = ops::AccessLogMode;

constexpr const char* kKey = "000102030405060708090a0b0c0d0e0f";

class RequestLogTest : public testing::Test {
 protected:
  void SetUp() override { ops::StartLog("info"); }
  void TearDown() override { ops::StartLog("info"); }

  http::Outcome Of(milliseconds worked, unsigned status = 200) {
    return {.head = head_,
            .plan = plan_,
            .status = status,
            .at = std::chrono::steady_clock::time_point(std::chrono::seconds(50)),
            .took = worked + milliseconds(5),
            .worked = worked};
  }
  // The lines that `calls` write.
  static std::vector<Json> LinesOf(const std::function<void()>& calls) {
    testing::internal::CaptureStderr();
    calls();
    std::istringstream all(testing::internal::GetCapturedStderr());
    std::vector<Json> lines;
    for (std::string line; std::getline(all, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  size_t CountOf(RequestLog* log, const http::Outcome& outcome, int times = 1) {
    return LinesOf([&] {
             for (int i = 0; i < times; ++i) log->Note(outcome);
           })
        .size();
  }
  static int RouteOf(std::string_view label) {
    for (size_t i = 0; i < Routes().size(); ++i) {
      if (RouteLabel(Routes()[i]) == label) return static_cast<int>(i);
    }
    return -1;
  }

  http::RequestHead head_;
  http::Plan plan_;
};

TEST_F(RequestLogTest, TheModeSaysWhich) {
  const auto lines = [&](Mode mode, milliseconds worked, double sample = 0) {
    RequestLog log({.mode = mode, .sample = sample, .slow_ms = 100});
    return CountOf(&log, Of(worked));
  };
  for (const milliseconds worked : {milliseconds(1), milliseconds(100)}) {
    const bool slow = worked >= milliseconds(100);
    EXPECT_EQ(lines(Mode::kOff, worked), 0u);
    EXPECT_EQ(lines(Mode::kSlow, worked), slow ? 1u : 0u);
    EXPECT_EQ(lines(Mode::kSampled, worked), slow ? 1u : 0u);
    EXPECT_EQ(lines(Mode::kSampled, worked, 1), 1u);
    EXPECT_EQ(lines(Mode::kAll, worked), 1u);
  }
}

TEST_F(RequestLogTest, WhatDestroysSomethingHasALineInEveryMode) {
  for (const char* const route :
       {"DELETE /users/{user}", "POST /users/{user}/history/clear", "POST /admin/drain",
        "POST /users/{user}/history/delete", "PUT /users/{user}/recording",
        "DELETE /collections/{name}", "PUT /collections/{name}", "POST /admin/checkpoint"}) {
    plan_ = {};
    plan_.route = RouteOf(route);
    plan_.arguments = {"u1"};
    RequestLog log({.mode = Mode::kOff, .lines_per_s = 1, .user_key = kKey});
    http::Outcome outcome = Of(milliseconds(1), 404);
    outcome.peer = "10.0.0.7";
    const std::vector<Json> lines = LinesOf([&] {
      log.Note(outcome);
      log.Note(outcome);
    });
    ASSERT_EQ(lines.size(), 2u) << route;
    EXPECT_EQ(lines[0].at("event"), "admin_request");
    EXPECT_EQ(lines[0].at("level"), "info");
    EXPECT_EQ(lines[0].at("route"), route);
    EXPECT_EQ(lines[0].at("status"), 404);
    EXPECT_EQ(lines[0].at("peer"), "10.0.0.7");
    EXPECT_EQ(lines[0].contains("user"),
              std::string_view(route).find("{user}") != std::string::npos);
    EXPECT_EQ(lines[0].dump().find("u1"), std::string::npos);
  }
  for (const char* const route : {"POST /filter", "POST /plays", "GET /metrics"}) {
    plan_.route = RouteOf(route);
    RequestLog log({.mode = Mode::kOff});
    EXPECT_EQ(CountOf(&log, Of(milliseconds(1))), 0u) << route;
  }
}

TEST_F(RequestLogTest, WhoMayNotHasALineInEveryModeUpToALimit) {
  for (const unsigned status : {401u, 403u}) {
    for (const char* const route : {"POST /filter", "POST /admin/drain"}) {
      plan_ = {};
      plan_.route = RouteOf(route);
      files::Token token;
      token.name = "page";
      plan_.caller = std::make_shared<const files::Token>(token);
      RequestLog log({.mode = Mode::kOff, .lines_per_s = 2});
      const http::Outcome outcome = Of(milliseconds(1), status);
      const std::vector<Json> lines = LinesOf([&] {
        for (int i = 0; i < 5; ++i) log.Note(outcome);
      });
      ASSERT_EQ(lines.size(), 2u) << route;
      EXPECT_EQ(lines[0].at("event"),
                std::string_view(route) == "POST /filter" ? "access_refused" : "admin_request");
      EXPECT_EQ(lines[0].at("level"), "warn");
      EXPECT_EQ(lines[0].at("token"), "page");
    }
  }
}

TEST_F(RequestLogTest, ASampleIsAShare) {
  RequestLog log({.mode = Mode::kSampled, .sample = 0.5, .lines_per_s = 100'000});
  const size_t lines = CountOf(&log, Of(milliseconds(1)), 2'000);
  EXPECT_GT(lines, 700u);
  EXPECT_LT(lines, 1'300u);
}

TEST_F(RequestLogTest, SlowIsWhatTheServerTook) {
  RequestLog log({.mode = Mode::kSlow, .slow_ms = 100});
  http::Outcome outcome = Of(milliseconds(10));
  outcome.took = std::chrono::hours(1);  // the client's body came slowly
  EXPECT_EQ(CountOf(&log, outcome), 0u);
  outcome.waited = milliseconds(90);
  const std::vector<Json> lines = LinesOf([&] { log.Note(outcome); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].at("event"), "slow_request");
  EXPECT_EQ(lines[0].at("level"), "warn");
  EXPECT_EQ(lines[0].at("waited_us"), 90'000);
  EXPECT_EQ(lines[0].at("worked_us"), 10'000);
}

TEST_F(RequestLogTest, ALineSaysAllButWhoAndWhat) {
  RequestLog log({.mode = Mode::kAll, .user_key = kKey});
  head_.method = http::Method::kHead;
  head_.target = "/users/anna?collection=secret";
  head_.request_id = "id-1";
  plan_.route = RouteOf("GET /users/{user}");
  plan_.arguments = {"anna"};
  http::Outcome outcome = Of(milliseconds(2), 404);
  outcome.error_code = "not_found";
  outcome.bytes_in = 70;
  outcome.bytes_out = 80;
  const std::vector<Json> lines = LinesOf([&] { log.Note(outcome); });
  ASSERT_EQ(lines.size(), 1u);
  Json line = lines[0];
  EXPECT_EQ(line.at("user").get<std::string>().size(), 16u);
  line.erase("ts");
  line.erase("user");
  EXPECT_EQ(line, Json::parse(R"({"level": "info", "event": "request", "method": "HEAD",
      "route": "GET /users/{user}", "status": 404, "error": "not_found", "took_us": 7000,
      "waited_us": 0, "worked_us": 2000, "bytes_in": 70, "bytes_out": 80,
      "request_id": "id-1"})"));
}

TEST_F(RequestLogTest, ALookThatTakesItsTimeIsNotSlow) {
  RequestLog log({.mode = Mode::kSlow, .slow_ms = 1});
  plan_.route = RouteOf("GET /admin/tail");
  ASSERT_GE(plan_.route, 0);
  EXPECT_EQ(CountOf(&log, Of(std::chrono::hours(1))), 0u);
  plan_.route = RouteOf("GET /admin/stats");
  EXPECT_EQ(CountOf(&log, Of(std::chrono::hours(1))), 1u);
}

TEST_F(RequestLogTest, ALineSaysTheTrace) {
  RequestLog log({.mode = Mode::kAll});
  EXPECT_FALSE(LinesOf([&] { log.Note(Of(milliseconds(1))); }).at(0).contains("trace_id"));
  ASSERT_TRUE(head_.trace.Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  const Json line = LinesOf([&] { log.Note(Of(milliseconds(1))); }).at(0);
  EXPECT_EQ(line.at("trace_id"), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(line.at("parent_id"), "00f067aa0ba902b7");
  EXPECT_EQ(line.at("span_id"), head_.trace.span_id);
}

TEST_F(RequestLogTest, AUserHasOneHashWhereverItIsNamed) {
  RequestLog log({.mode = Mode::kAll, .user_key = kKey});
  RequestLog other({.mode = Mode::kAll});
  plan_.route = RouteOf("GET /users/{user}");
  plan_.arguments = {"42"};
  const auto user_of = [&](RequestLog* of, const http::Outcome& outcome) {
    return LinesOf([&] { of->Note(outcome); }).at(0).at("user").get<std::string>();
  };
  const std::string in_path = user_of(&log, Of(milliseconds(1)));
  EXPECT_NE(in_path, user_of(&other, Of(milliseconds(1)))) << "a random key";
  plan_.route = RouteOf("POST /filter");
  plan_.arguments.clear();
  http::Outcome in_body = Of(milliseconds(1));
  in_body.log_tag = log.TagOf(IdRef(uint64_t{42}));
  EXPECT_EQ(user_of(&log, in_body), in_path);
  in_body.log_tag = 0;
  EXPECT_FALSE(LinesOf([&] { log.Note(in_body); }).at(0).contains("user"));
}

TEST_F(RequestLogTest, TooManyLinesAreLeftOutCountedAndTold) {
  RequestLog log({.mode = Mode::kAll, .lines_per_s = 3});
  http::Outcome outcome = Of(milliseconds(1));
  EXPECT_EQ(CountOf(&log, outcome, 10), 3u);
  EXPECT_EQ(log.written(), 3u);
  EXPECT_EQ(log.left_out(), 7u);
  outcome.at += std::chrono::seconds(1);
  const std::vector<Json> lines = LinesOf([&] { log.Note(outcome); });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("event"), "requests_not_logged");
  EXPECT_EQ(lines[0].at("lines"), 7);
  EXPECT_EQ(lines[1].at("event"), "request");
}

TEST_F(RequestLogTest, TheLevelStandsAboveTheMode) {
  ops::StartLog("warn");
  RequestLog log({.mode = Mode::kAll, .slow_ms = 100, .lines_per_s = 1});
  EXPECT_EQ(CountOf(&log, Of(milliseconds(1))), 0u);
  EXPECT_EQ(log.written(), 0u);
  EXPECT_EQ(CountOf(&log, Of(milliseconds(100))), 1u);
  ops::StartLog("debug");
  EXPECT_EQ(CountOf(&log, Of(milliseconds(1)), 5), 5u) << "at debug each has one";
}

TEST_F(RequestLogTest, FaultsAreToldInEveryModeOncePerSecond) {
  RequestLog log({.mode = Mode::kOff});
  EXPECT_EQ(CountOf(&log, Of(milliseconds(1), 500), 3), 1u);
  EXPECT_EQ(CountOf(&log, Of(milliseconds(1), 503)), 0u);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
