// Watchers of requests: each is shown what it asks for, loses what it does not read, and is told
// so.

#include "api/tail.h"

#include <algorithm>
#include <sstream>
#include <thread>

#include "api/unit/service_fixture.h"
#include "ops/user_hash.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Method;
using test::Answer;
using test::ServiceTest;
using Json = nlohmann::json;

TailRow RowOf(int route, unsigned status, int64_t at_ms = 1'000) {
  return {.at_ms = at_ms, .route = route, .status = status};
}

TEST(TailTest, NobodyWatches) {
  Tail tail;
  EXPECT_FALSE(tail.watched());
  tail.Note(RowOf(1, 200));
  {
    auto watch = tail.Begin({});
    ASSERT_TRUE(watch.ok());
    EXPECT_TRUE(tail.watched());
    EXPECT_TRUE(watch->Take().rows.empty()) << "what was before is not shown";
  }
  EXPECT_FALSE(tail.watched());
}

TEST(TailTest, EachIsShownWhatItAsksFor) {
  Tail tail;
  auto all = tail.Begin({}), route = tail.Begin({.route = 2}), none = tail.Begin({.route = -1}),
       faults = tail.Begin({.status_least = 500, .status_most = 599});
  for (const auto& [at, status] :
       {std::pair(1, 200u), std::pair(2, 200u), std::pair(2, 503u), std::pair(-1, 404u)}) {
    tail.Note(RowOf(at, status));
  }
  const auto told = [](auto* watch) {
    std::vector<std::pair<int, unsigned>> rows;
    const Tail::Heard heard = (*watch)->Take();
    for (const TailRow& row : heard.rows) rows.emplace_back(row.route, row.status);
    EXPECT_EQ(heard.matched, rows.size());
    EXPECT_EQ(heard.lost, 0u);
    return rows;
  };
  using Rows = std::vector<std::pair<int, unsigned>>;
  EXPECT_EQ(told(&all), (Rows{{1, 200}, {2, 200}, {2, 503}, {-1, 404}}));
  EXPECT_EQ(told(&route), (Rows{{2, 200}, {2, 503}}));
  EXPECT_EQ(told(&none), (Rows{{-1, 404}}));
  EXPECT_EQ(told(&faults), (Rows{{2, 503}}));
  EXPECT_TRUE(told(&all).empty()) << "each is shown once";
}

TEST(TailTest, ASampleIsAShare) {
  Tail tail;
  auto watch = tail.Begin({.sample = 0.25});
  size_t shown = 0;
  constexpr int kSeconds = 100, kPerSecond = 400;
  for (int second = 0; second < kSeconds; ++second) {
    for (int i = 0; i < kPerSecond; ++i) tail.Note(RowOf(1, 200, 1'000 * second));
    const Tail::Heard heard = watch->Take();
    EXPECT_EQ(heard.matched, static_cast<uint64_t>(kPerSecond));
    EXPECT_EQ(heard.lost, 0u);
    shown += heard.rows.size();
  }
  EXPECT_NEAR(static_cast<double>(shown), 0.25 * kSeconds * kPerSecond, 1'000) << "11 deviations";
}

TEST(TailTest, WhoDoesNotKeepUpLosesRowsAndOthersDoNot) {
  Tail tail;
  auto slow = tail.Begin({}), quick = tail.Begin({});
  size_t shown = 0;
  constexpr int kSeconds = 5, kPerSecond = 700;
  for (int second = 1; second <= kSeconds; ++second) {
    for (int i = 0; i < kPerSecond; ++i) tail.Note(RowOf(1, 200, 1'000 * second));
    const Tail::Heard heard = quick->Take();
    EXPECT_EQ(heard.lost, 0u);
    shown += heard.rows.size();
  }
  EXPECT_EQ(shown, static_cast<size_t>(kSeconds * kPerSecond));
  const Tail::Heard heard = slow->Take();
  EXPECT_EQ(heard.rows.size(), Tail::kRowsMost);
  EXPECT_EQ(heard.matched, static_cast<uint64_t>(kSeconds * kPerSecond));
  EXPECT_EQ(heard.lost, heard.matched - Tail::kRowsMost);
  tail.Note(RowOf(1, 200, 9'000));
  EXPECT_EQ(slow->Take().rows.size(), 1u) << "there is room again";
}

TEST(TailTest, ASecondHasALimitHoweverOftenOneLooks) {
  Tail tail;
  auto watch = tail.Begin({});
  size_t shown = 0, lost = 0;
  for (size_t i = 0; i < 3 * Tail::kRowsMost; ++i) {
    tail.Note(RowOf(1, 200, 5'000));
    const Tail::Heard heard = watch->Take();
    shown += heard.rows.size();
    lost += heard.lost;
  }
  EXPECT_EQ(shown, Tail::kRowsMost);
  EXPECT_EQ(lost, 2 * Tail::kRowsMost);
  tail.Note(RowOf(1, 200, 6'000));
  EXPECT_EQ(watch->Take().rows.size(), 1u);
}

TEST(TailTest, SoManyWatchAtMost) {
  Tail tail;
  std::vector<Tail::Watch> watches;
  for (size_t i = 0; i < Tail::kWatchersMost; ++i) {
    auto watch = tail.Begin({});
    ASSERT_TRUE(watch.ok());
    watches.push_back(std::move(watch).value());
  }
  EXPECT_EQ(tail.Begin({}).status().code(), StatusCode::kBusy);
  tail.Note(RowOf(1, 200));
  watches.pop_back();
  auto another = tail.Begin({});
  ASSERT_TRUE(another.ok());
  EXPECT_TRUE(another->Take().rows.empty()) << "nothing of who was there before";
  watches.clear();
  EXPECT_TRUE(tail.watched());
}

TEST(TailTest, AWatchMayOutliveWhatItWatches) {
  auto tail = std::make_unique<Tail>();
  auto watch = tail->Begin({});
  tail.reset();
  EXPECT_TRUE(watch->Take().rows.empty());
}

/// The stream, as a connection drives it, without its waits.
class TailStreamTest : public ServiceTest {
 protected:
  http::Plan Begin(const std::string& query) {
    http::RequestHead head;
    head.method = Method::kGet;
    head.target = "/admin/tail" + query;
    return service_->Begin(head);
  }
  /// Its words until it waits.
  static std::string Said(const http::Plan& plan) {
    std::string out;
    const test::Padded none("");
    for (int64_t later_us = 0; !plan.stream->Later(&later_us) && plan.stream->HasMore();) {
      plan.stream->Take(none.view(), /*last=*/true, &out);
      if (plan.stream->Failed()) break;
    }
    return out;
  }
  static std::vector<Json> LinesIn(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  /// The lines about requests, once there are as many.
  static std::vector<Json> RowsOf(const http::Plan& plan, size_t count) {
    std::vector<Json> rows;
    const test::Padded none("");
    while (rows.size() < count && plan.stream->HasMore()) {
      std::string out;
      plan.stream->Take(none.view(), /*last=*/true, &out);
      for (Json& line : LinesIn(out)) {
        if (line.contains("route")) rows.push_back(std::move(line));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return rows;
  }
};

TEST_F(TailStreamTest, ItSaysAtOnceThatItWatches) {
  const http::Plan plan = Begin("");
  ASSERT_FALSE(plan.refused);
  EXPECT_FALSE(context_->tail.watched()) << "not before it is admitted and audited";
  const std::vector<Json> lines = LinesIn(Said(plan));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].at("matched"), 0);
  EXPECT_EQ(lines[0].at("lost"), 0);
  EXPECT_TRUE(context_->tail.watched());
}

TEST_F(TailStreamTest, ALineSaysWhatALineOfTheLogSays) {
  const http::Plan plan = Begin("?seconds=3600");
  Said(plan);
  Ask(Method::kPost, "/filter", R"({"user":"anna","items":[1]})");
  Ask(Method::kGet, "/users/anna");
  Ask(Method::kPost, "/filter", R"({"user":"anna"})");
  Ask(Method::kGet, "/users-of/anna");
  std::vector<Json> rows = RowsOf(plan, 4);
  ASSERT_EQ(rows.size(), 4u);
  const std::string user = ops::HashText(context_->requests.TagOf(IdRef("anna")));
  for (Json& row : rows) {
    EXPECT_EQ(row.dump().find("anna"), std::string::npos);
    EXPECT_EQ(row.at("ts").get<std::string>().size(), 24u);
    row.erase("ts");
  }
  const Json rest = Json::parse(R"({"took_us":3000,"waited_us":0,"worked_us":2000,"bytes_in":0,
                                    "bytes_out":0})");
  const auto row_of = [&](Json row) {
    row.update(rest);
    return row;
  };
  EXPECT_EQ(rows[0], row_of({{"route", "POST /filter"}, {"status", 200}, {"user", user}}));
  EXPECT_EQ(rows[1], row_of({{"route", "GET /users/{user}"}, {"status", 200}, {"user", user}}));
  EXPECT_EQ(rows[2],
            row_of({{"route", "POST /filter"}, {"status", 400}, {"reason", "invalid_argument"}}));
  EXPECT_EQ(rows[3], row_of({{"route", ""}, {"status", 404}, {"reason", "not_found"}}));
}

TEST_F(TailStreamTest, ItShowsWhatItWasAskedFor) {
  const http::Plan filters = Begin("?route=POST%20%2Ffilter&seconds=3600"),
                   refused = Begin("?status=4xx&seconds=3600"),
                   one = Begin("?status=404&seconds=3600"), none = Begin("?route=&seconds=3600");
  for (const http::Plan* plan : {&filters, &refused, &one, &none}) Said(*plan);
  Ask(Method::kGet, "/collections");
  Ask(Method::kGet, "/nope");
  Ask(Method::kPost, "/filter", R"({"user":"anna"})");
  Ask(Method::kPost, "/filter", R"({"user":"anna","items":[1]})");
  const auto told = [](const http::Plan& plan, size_t count) {
    std::string all;
    for (const Json& row : RowsOf(plan, count)) {
      all += row.at("route").get<std::string>() + std::to_string(row.at("status").get<int>()) + ";";
    }
    return all;
  };
  EXPECT_EQ(told(filters, 2), "POST /filter400;POST /filter200;");
  EXPECT_EQ(told(refused, 2), "404;POST /filter400;");
  EXPECT_EQ(told(one, 1), "404;");
  EXPECT_EQ(told(none, 1), "404;");
}

TEST_F(TailStreamTest, ItEndsWithItsTimeAndWatchesNoMore) {
  const http::Plan plan = Begin("?seconds=1");
  const auto began = std::chrono::steady_clock::now();
  std::string out;
  const test::Padded none("");
  while (plan.stream->HasMore()) {
    plan.stream->Take(none.view(), /*last=*/true, &out);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  EXPECT_FALSE(context_->tail.watched());
  EXPECT_GE(LinesIn(out).size(), 2u);
}

TEST_F(TailStreamTest, ItEndsWithTheServer) {
  for (const ops::Phase phase : {ops::Phase::kLeaving, ops::Phase::kStopping}) {
    health_.Set(ops::Phase::kReady);
    const http::Plan plan = Begin("?seconds=3600");
    Said(plan);
    health_.Set(phase);
    std::string out;
    const test::Padded none("");
    plan.stream->Take(none.view(), /*last=*/true, &out);
    EXPECT_FALSE(plan.stream->HasMore());
    EXPECT_FALSE(context_->tail.watched());
  }
}

TEST_F(TailStreamTest, TooManyAreRefused) {
  std::vector<http::Plan> plans;
  for (size_t i = 0; i <= Tail::kWatchersMost; ++i) {
    plans.push_back(Begin("?seconds=3600"));
    Said(plans.back());
    EXPECT_EQ(plans.back().stream->Failed(), i == Tail::kWatchersMost);
  }
  http::Response response;
  plans.back().stream->Finish(&response);
  EXPECT_EQ(response.status, 503u);
  EXPECT_EQ(Json::parse(response.body).at("error").at("code"), "busy");
}

TEST_F(TailStreamTest, WhatItRefuses) {
  for (const auto& [query, field] :
       {std::pair("?route=/filter", "/route"), std::pair("?route=GET%20/nope", "/route"),
        std::pair("?status=", "/status"), std::pair("?status=99", "/status"),
        std::pair("?status=600", "/status"), std::pair("?status=6xx", "/status"),
        std::pair("?status=0xx", "/status"), std::pair("?status=x", "/status"),
        std::pair("?status=200x", "/status"), std::pair("?sample=0", "/sample"),
        std::pair("?sample=-1", "/sample"), std::pair("?sample=1.1", "/sample"),
        std::pair("?sample=nan", "/sample"), std::pair("?sample=", "/sample"),
        std::pair("?seconds=0", "/seconds"), std::pair("?seconds=3601", "/seconds"),
        std::pair("?seconds=1.5", "/seconds"), std::pair("?seconds=1&seconds=2", "/seconds"),
        std::pair("?user=anna", "/user")}) {
    const Answer answer = Ask(Method::kGet, std::string("/admin/tail") + query);
    EXPECT_EQ(answer.status, 400u) << query;
    EXPECT_EQ(answer.field(), field) << query;
  }
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
