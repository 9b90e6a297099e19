// Conditions on items in a filter request: what is read, and the place of what is refused.

#include "wire/item_rules_json.h"

#include <string>

#include <gtest/gtest.h>

#include "wire/filter_json.h"
#include "wire/unit/padded.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

using test::Padded;

/// The members beside user and items.
Status Read(const std::string& members, FilterCall* call) {
  const Padded body(R"({"user":"u","items":["v"],)" + members + "}");
  JsonDocument document;
  return ParseFilter(body.view(), 10, &document, call);
}

std::string PlaceOf(const std::string& members) {
  FilterCall call;
  const Status status = Read(members, &call);
  if (status.ok()) return "taken";
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << members;
  return std::string(status.field());
}

TEST(ItemRulesJson, EveryOperatorIsRead) {
  FilterCall call;
  const Status status = Read(
      R"("where":[{"eq":"a\u0062","field":"t"},{"field":"n","ge":-5,"le":9223372036854775807},)"
      R"({"field":"f","ne":0.5,"exists":true},{"field":"b","in":[true,1,"x"]},)"
      R"({"field":"l","any_of":[],"eq":null}],"at_most":{"n":2,"field":"t"},"unknown":"drop",)"
      R"("fields":["t","n"])",
      &call);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::vector<ItemCondition>& where = call.rules.where;
  ASSERT_EQ(where.size(), 7u);
  const auto expect = [&](size_t at, size_t entry, const char* field, ItemOperator op,
                          const std::vector<ItemLiteral>& values) {
    EXPECT_EQ(where[at].entry, entry) << at;
    EXPECT_EQ(where[at].field, field) << at;
    EXPECT_EQ(where[at].op, op) << at;
    EXPECT_EQ(where[at].values, values) << at;
  };
  expect(0, 0, "t", ItemOperator::kEq, {std::string("ab")});
  expect(1, 1, "n", ItemOperator::kGe, {int64_t{-5}});
  expect(2, 1, "n", ItemOperator::kLe, {INT64_MAX});
  expect(3, 2, "f", ItemOperator::kNe, {0.5});
  expect(4, 2, "f", ItemOperator::kExists, {true});
  expect(5, 3, "b", ItemOperator::kIn, {true, int64_t{1}, std::string("x")});
  expect(6, 4, "l", ItemOperator::kAnyOf, {});
  EXPECT_EQ(call.rules.at_most.field, "t");
  EXPECT_EQ(call.rules.at_most.n, 2u);
  EXPECT_TRUE(call.rules.drop_unknown);
  EXPECT_EQ(call.fields, (std::vector<std::string>{"t", "n"}));
  EXPECT_TRUE(AsksItems(call));
}

TEST(ItemRulesJson, NothingIsAskedByEmptyLists) {
  FilterCall call;
  ASSERT_TRUE(Read(R"("where":[{"field":"a","eq":1}],"fields":["a"])", &call).ok());
  ASSERT_TRUE(Read(R"("where":[],"fields":[],"unknown":"keep","at_most":null)", &call).ok());
  EXPECT_FALSE(AsksItems(call)) << "nothing of the request before is left";
  EXPECT_EQ(call.request.judge, nullptr);
}

TEST(ItemRulesJson, ARefusalNamesItsPlace) {
  const std::string good = R"({"field":"a","eq":1},)";
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","gt":1}])"), "/where/1/gt");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a"}])"), "/where/1");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","ge":null}])"), "/where/1");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"eq":1}])"), "/where/1/field");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"","eq":1}])"), "/where/1/field");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":7,"eq":1}])"), "/where/1/field");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","ge":{}}])"), "/where/1/ge");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","ge":[1]}])"), "/where/1/ge");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","in":1}])"), "/where/1/in");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","in":[1,null]}])"), "/where/1/in/1");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","eq":1,"eq":2}])"), "/where/1/eq");
  EXPECT_EQ(PlaceOf("\"where\":[" + good + R"({"field":"a","eq":1e999}])"), "/where/1/eq");
  EXPECT_EQ(PlaceOf(R"("where":{"field":"a","eq":1})"), "/where");
  EXPECT_EQ(PlaceOf(R"("where":["a"])"), "/where/0");
  EXPECT_EQ(PlaceOf(R"("at_most":{"field":"a"})"), "/at_most/n");
  EXPECT_EQ(PlaceOf(R"("at_most":{"field":"a","n":0})"), "/at_most/n");
  EXPECT_EQ(PlaceOf(R"("at_most":{"field":"a","n":-1})"), "/at_most/n");
  EXPECT_EQ(PlaceOf(R"("at_most":{"n":1})"), "/at_most/field");
  EXPECT_EQ(PlaceOf(R"("at_most":{"field":"a","n":1,"m":1})"), "/at_most/m");
  EXPECT_EQ(PlaceOf(R"("at_most":2)"), "/at_most");
  EXPECT_EQ(PlaceOf(R"("unknown":"maybe")"), "/unknown");
  EXPECT_EQ(PlaceOf(R"("fields":["a",1])"), "/fields/1");
  std::string many = good, values = "1";
  for (int i = 1; i < 16; ++i) many += good;
  EXPECT_EQ(PlaceOf("\"where\":[" + many.substr(0, many.size() - 1) + "]"), "taken");
  EXPECT_EQ(PlaceOf("\"where\":[" + many + R"({"field":"a","eq":1}])"), "/where");
  for (int i = 1; i < 1'000; ++i) values += ",1";
  EXPECT_EQ(PlaceOf(R"("where":[{"field":"a","in":[)" + values + "]}]"), "taken");
  EXPECT_EQ(PlaceOf(R"("where":[{"field":"a","in":[)" + values + ",1]}]"), "/where/0/in");
}

TEST(ItemRulesJson, AnAnswerNamesTheRule) {
  const Padded body(std::string_view(
      R"({"user":"u","items":["a",2,"c","d"],"explain":true,"at_most":{"field":"x\"","n":1}})"));
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(body.view(), 10, &document, &call).ok());
  FilterResponse answer;
  answer.unseen = {3};
  answer.excluded = 3;
  answer.examined = 4;
  answer.reasons = {{.kind = ReasonKind::kJudged, .rule = 1},
                    {.kind = ReasonKind::kJudged, .rule = kItemUnknownRule},
                    {.kind = ReasonKind::kTooMany},
                    {}};
  struct NoJudge final : CandidateJudge {
    void Judge(std::span<const IdRef>, std::span<Judgement>) override {}
    uint32_t most_of_a_kind() const override { return 0; }
    Status status() const override { return {}; }
  } judge;
  call.request.judge = &judge;
  std::string out;
  AppendFilterAnswer(call, answer, Policy(), R"(,"fields":{})", &out);
  EXPECT_EQ(
      out,
      R"({"unseen":["d"],"seen":0,"excluded":3,"examined":4,"unseen_share":0.25,"degraded":false,)"
      R"("reasons":{"a":"where:0","2":"unknown","c":"at_most:x\""},"fields":{}})");
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
