// `when_short` of a filter request, and what its answer says of it.

#include "wire/repeats_json.h"

#include <string>

#include <gtest/gtest.h>

#include "wire/filter_json.h"
#include "wire/unit/padded.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

using test::Padded;

Status Parse(const std::string& when_short, FilterCall* call) {
  const Padded padded(R"({"user":"u","items":["a",2,"c"],"when_short":)" + when_short + "}");
  JsonDocument document;
  return ParseFilter(padded.view(), 50, &document, call);
}

TEST(RepeatsJson, ARequestSaysWhenItIsShort) {
  FilterCall call;
  ASSERT_TRUE(Parse(R"({"max":2,"gap":"14d","reuse":"oldest","need":20})", &call).ok());
  ASSERT_NE(call.request.question, nullptr);
  ASSERT_TRUE(call.request.question->when_short);
  EXPECT_EQ(call.request.question->when_short->need, 20u);
  EXPECT_EQ(call.request.question->when_short->gap_ms, 14 * 86'400'000);
  EXPECT_EQ(call.request.question->when_short->max, 2u);
  ASSERT_TRUE(Parse(R"({"need":18446744073709551615,"gap":"1ms","max":4294967298})", &call).ok());
  EXPECT_EQ(call.when_short->need, UINT32_MAX) << "for the engine to refuse";
  EXPECT_EQ(call.when_short->max, UINT32_MAX);
  ASSERT_TRUE(Parse("null", &call).ok());
  EXPECT_EQ(call.request.question, nullptr) << "nothing of the request before is left";
}

TEST(RepeatsJson, WhatIsMalformedNamesItsMember) {
  const auto field = [](const std::string& when_short) {
    FilterCall call;
    const Status status = Parse(when_short, &call);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << when_short;
    return std::string(status.field());
  };
  EXPECT_EQ(field("7"), "/when_short");
  EXPECT_EQ(field("[]"), "/when_short");
  EXPECT_EQ(field("{}"), "/when_short/need");
  EXPECT_EQ(field(R"({"need":1,"max":1})"), "/when_short/gap");
  EXPECT_EQ(field(R"({"need":1,"gap":"1d","max":null})"), "/when_short/max");
  EXPECT_EQ(field(R"({"need":1.5,"gap":"1d","max":1})"), "/when_short/need");
  EXPECT_EQ(field(R"({"need":1,"gap":"1w","max":1})"), "/when_short/gap");
  EXPECT_EQ(field(R"({"need":1,"gap":"1d","max":1,"reuse":"newest"})"), "/when_short/reuse");
  EXPECT_EQ(field(R"({"need":1,"need":1})"), "/when_short/need");
}

TEST(RepeatsJson, AnAnswerHasRepeatsWhereTheyAreAskedFor) {
  FilterCall call;
  const Padded padded(std::string_view(R"({"user":"u","items":["\u0061",2,"c"],
      "when_short":{"need":9,"gap":"1d","max":9}})"));
  JsonDocument document;
  ASSERT_TRUE(ParseFilter(padded.view(), 50, &document, &call).ok());
  FilterResponse answer;
  answer.unseen = {2};
  answer.repeats = {1, 0};
  answer.seen = 2;
  answer.examined = 3;
  std::string out;
  AppendFilterAnswer(call, answer, Policy(), {}, &out);
  EXPECT_EQ(out, R"({"unseen":["c"],"repeats":[2,"\u0061"],"seen":2,"examined":3,)"
                 R"("unseen_share":0.3333333333333333,"degraded":false})");
  answer.repeats.clear();
  out.clear();
  AppendFilterAnswer(call, answer, Policy(), {}, &out);
  EXPECT_NE(out.find(R"("repeats":[],)"), std::string::npos);
}

TEST(RepeatsJson, AShareIsTheNearestDouble) {
  const auto share = [](size_t unseen, size_t examined) {
    std::string out;
    AppendUnseenShare(unseen, examined, &out);
    return out.substr(std::string(",\"unseen_share\":").size());
  };
  EXPECT_EQ(share(0, 0), "1");
  EXPECT_EQ(share(0, 7), "0");
  EXPECT_EQ(share(7, 7), "1");
  EXPECT_EQ(share(1, 4), "0.25");
  EXPECT_EQ(std::stod(share(1, 100'000)), 1 / 100'000.0);
  EXPECT_EQ(std::stod(share(99'999, 100'000)), 99'999 / 100'000.0);
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
