#include <string>

#include <gtest/gtest.h>

#include "seendb/policy.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(PolicyJson, WritesEveryFieldInOrder) {
  EXPECT_EQ(PolicyToJson(Policy()),
            R"({"bucket":"month","window":4,"retention":6,"fpr":0.01,"impressions":100,)"
            R"("served_is_seen":false,"representation":"bloom","max_filter_bytes":0,)"
            R"("durability":"interval","max_future":"24h","utc_offset":"+00:00"})");
}

TEST(PolicyJson, ReadsEveryField) {
  const Result<PolicyPatch> read = PolicyPatchFromJson(
      R"({"bucket":"days:10","window":3,"retention":5,"fpr":0.02,"impressions":50,)"
      R"("served_is_seen":true,"representation":"exact","max_filter_bytes":65536,)"
      R"("durability":"none","max_future":"90m","utc_offset":"-03:30"})");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const Policy expected{
      {BucketKind::kDays, 10}, 3,         5,   0.02, 50, true, Representation::kExact, 65536,
      Durability::kNone,       5'400'000, -210};
  EXPECT_EQ(ApplyPatch(Policy(), *read), expected);
}

TEST(PolicyJson, EmptyObjectChangesNothing) {
  const Result<PolicyPatch> read = PolicyPatchFromJson(" {} ");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(ApplyPatch(Policy(), *read), Policy());
  EXPECT_FALSE(read->window.has_value());
}

TEST(PolicyJson, WhatIsWrittenReadsBack) {
  Policy policy;
  for (const BucketSpec bucket : {BucketSpec{}, BucketSpec{BucketKind::kDays, 366}}) {
    for (const int64_t max_future_ms :
         {int64_t{0}, int64_t{1}, int64_t{1'500}, int64_t{30'000}, int64_t{5'400'000},
          int64_t{86'400'000}, int64_t{7 * 86'400'000}, int64_t{86'400'001}}) {
      for (const int32_t offset : {0, 480, -210, 840, -840, -1}) {
        for (const Durability durability :
             {Durability::kSync, Durability::kInterval, Durability::kNone}) {
          policy.bucket = bucket;
          policy.max_future_ms = max_future_ms;
          policy.utc_offset_minutes = offset;
          policy.durability = durability;
          policy.fpr = 1e-6 * (offset + 1'000);
          const std::string json = PolicyToJson(policy);
          const Result<PolicyPatch> read = PolicyPatchFromJson(json);
          ASSERT_TRUE(read.ok()) << json << read.status().ToString();
          ASSERT_EQ(ApplyPatch(Policy(), *read), policy) << json;
        }
      }
    }
  }
}

TEST(PolicyJson, NullIsAsIfAbsent) {
  const auto read = PolicyPatchFromJson(
      R"({"window":null,"fpr":null,"history":{"days":null,"enabled":true},"max_future":null})");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_FALSE(read->window || read->fpr || read->history.days || read->max_future_ms);
  EXPECT_EQ(read->history.enabled, true);
  EXPECT_TRUE(PolicyPatchFromJson(R"({"history":null})").ok());
}

TEST(PolicyJson, Durations) {
  const std::pair<const char*, int64_t> good[] = {
      {"0s", 0},      {"24h", 86'400'000}, {"90m", 5'400'000},      {"30s", 30'000},
      {"500ms", 500}, {"7d", 604'800'000}, {"366d", 31'622'400'000}};
  for (const auto& [text, ms] : good) {
    const auto read = PolicyPatchFromJson(std::string(R"({"max_future":")") + text + "\"}");
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(read->max_future_ms, ms);
  }
  for (const char* text : {"", "24", "h", "-1h", "+1h", "1.5h", "24 h", " 24h", "24H", "24hh", "1w",
                           "367d", "99999999999999999999h", "9223372036854775807d", "0x1h"}) {
    const auto read = PolicyPatchFromJson(std::string(R"({"max_future":")") + text + "\"}");
    EXPECT_EQ(read.status().field(), "/max_future") << text;
  }
}

TEST(PolicyJson, Offsets) {
  for (const char* text : {"+08:00", "-14:00", "+14:00", "+00:00", "-00:00", "+05:45"}) {
    EXPECT_TRUE(PolicyPatchFromJson(std::string(R"({"utc_offset":")") + text + "\"}").ok()) << text;
  }
  for (const char* text : {"", "Z", "08:00", "+8:00", "+0800", "+08", "+08:60", "+14:01", "-15:00",
                           "+08:0a", "+08:000", " +08:00", "+1a:00"}) {
    const auto read = PolicyPatchFromJson(std::string(R"({"utc_offset":")") + text + "\"}");
    EXPECT_EQ(read.status().field(), "/utc_offset") << text;
  }
}

struct Bad {
  const char* json;
  const char* field;
};

TEST(PolicyJson, RefusalsNameTheField) {
  const Bad bads[] = {
      {R"({"windows":4})", "/windows"},
      {R"({"a/b~c":4})", "/a~1b~0c"},
      {R"({"":4})", "/"},
      {R"({"Window":4})", "/Window"},
      {R"({"window":4,"window":4})", "/window"},
      {R"({"fpr":0.01,"window":4,"fpr":0.02})", "/fpr"},
      {R"({"window":"4"})", "/window"},
      {R"({"window":4.0})", "/window"},
      {R"({"window":4.5})", "/window"},
      {R"({"window":-1})", "/window"},
      {R"({"window":0})", "/window"},
      {R"({"window":129})", "/window"},
      {R"({"window":4294967297})", "/window"},
      {R"({"window":18446744073709551617})", "/window"},
      {R"({"window":null,"window":null})", "/window"},
      {R"({"windows":null})", "/windows"},
      {R"({"window":true})", "/window"},
      {R"({"window":[4]})", "/window"},
      {R"({"window":{"a":1}})", "/window"},
      {R"({"window":5,"retention":4})", "/window"},
      {R"({"retention":0})", "/retention"},
      {R"({"retention":129})", "/retention"},
      {R"({"fpr":0})", "/fpr"},
      {R"({"fpr":1})", "/fpr"},
      {R"({"fpr":-0.1})", "/fpr"},
      {R"({"fpr":1e999})", "/fpr"},
      {R"({"fpr":"0.01"})", "/fpr"},
      {R"({"impressions":10001})", "/impressions"},
      {R"({"served_is_seen":1})", "/served_is_seen"},
      {R"({"served_is_seen":"true"})", "/served_is_seen"},
      {R"({"first_of_day":1})", "/first_of_day"},
      {R"({"first_of_day":true,"first_of_day":true})", "/first_of_day"},
      {R"({"history":{"first_of_day":true}})", "/history/first_of_day"},
      {R"({"representation":"Bloom"})", "/representation"},
      {R"({"representation":0})", "/representation"},
      {R"({"max_filter_bytes":1})", "/max_filter_bytes"},
      {R"({"max_filter_bytes":-1})", "/max_filter_bytes"},
      {R"({"max_filter_bytes":18446744073709551615})", "/max_filter_bytes"},
      {R"({"durability":"always"})", "/durability"},
      {R"({"max_future":86400000})", "/max_future"},
      {R"({"bucket":"day"})", "/bucket"},
      {R"({"bucket":"days:"})", "/bucket"},
      {R"({"bucket":"days:0"})", "/bucket"},
      {R"({"bucket":"days:010"})", "/bucket"},
      {R"({"bucket":"days:-1"})", "/bucket"},
      {R"({"bucket":"days:367"})", "/bucket"},
      {R"({"bucket":"days:65537"})", "/bucket"},
      {R"({"bucket":"days:10 "})", "/bucket"},
      {R"({"bucket":10})", "/bucket"},
  };
  for (const Bad& bad : bads) {
    const Status status = PolicyPatchFromJson(bad.json).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad.json;
    EXPECT_EQ(status.field(), bad.field) << bad.json << " " << status.ToString();
    EXPECT_FALSE(status.message().empty()) << bad.json;
  }
}

TEST(PolicyJson, WhatIsNoObjectIsRefused) {
  for (const char* json : {"",
                           " ",
                           "null",
                           "4",
                           "\"x\"",
                           "[]",
                           "[{}]",
                           "true",
                           "{",
                           "{}}",
                           "{} {}",
                           "{\"window\":4,}",
                           "{window:4}",
                           "{\"window\"}",
                           "{'window':4}",
                           "{\"bucket\":\"\xFF\"}",
                           "{\"\xED\xA0\x80\":1}",
                           "nul",
                           "{\"window\":04}",
                           "{\"bucket\":\"\\ud800\"}"}) {
    const Status status = PolicyPatchFromJson(json).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << json;
    EXPECT_FALSE(status.message().empty()) << json;
  }
  EXPECT_FALSE(PolicyPatchFromJson(std::string(1'000'000, '[')).ok());
}

TEST(PolicyJson, AFieldAloneIsJudgedAlone) {
  // Whether window and retention fit each other is known only with the whole policy.
  EXPECT_TRUE(PolicyPatchFromJson(R"({"window":128})").ok());
  EXPECT_TRUE(PolicyPatchFromJson(R"({"retention":1})").ok());
}

TEST(PolicyJson, HistoryIsAnObjectOfItsOwn) {
  Policy policy;
  policy.history = {true, true, 30, 500, DeletedItems::kRecommendAgain, WhenPaused::kFilterIgnores};
  const std::string json = PolicyToJson(policy);
  EXPECT_NE(json.find(R"("history":{"enabled":true,"ids_only":true,"days":30,"max_entries":500,)"
                      R"("deleted_items":"recommend_again","when_paused":"filter_ignores"}})"),
            std::string::npos)
      << json;
  const Result<PolicyPatch> read = PolicyPatchFromJson(json);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(ApplyPatch({}, *read), policy);
  const Result<PolicyPatch> part = PolicyPatchFromJson(R"({"history":{"days":7},"window":3})");
  ASSERT_TRUE(part.ok()) << part.status().ToString();
  EXPECT_EQ(ApplyPatch(policy, *part).history.days, 7u);
  EXPECT_EQ(ApplyPatch(policy, *part).history.max_entries, 500u);
  EXPECT_EQ(ApplyPatch(policy, *part).window, 3u);
  EXPECT_EQ(PolicyToJson(Policy()).find("history"), std::string::npos) << "all defaults";
}

TEST(PolicyJson, WhatLoadMayCostIsAnObjectThatIsLeftOutByDefault) {
  const auto patch = PolicyPatchFromJson(R"({"on_load":{"min_share":0.5,"verify":"drop"}})");
  ASSERT_TRUE(patch.ok()) << patch.status().ToString();
  const Policy policy = ApplyPatch({}, *patch);
  EXPECT_EQ(policy.on_load, (LoadPolicy{0.5, VerifyOnLoad::kDrop}));
  EXPECT_NE(PolicyToJson(policy).find(R"("on_load":{"min_share":0.5,"verify":"drop"})"),
            std::string::npos);
  EXPECT_EQ(PolicyToJson(Policy()).find("on_load"), std::string::npos);
  EXPECT_EQ(PolicyPatchFromJson(R"({"on_load":{"min_share":0}})").status().field(),
            "/on_load/min_share");
  EXPECT_EQ(PolicyPatchFromJson(R"({"on_load":{"verify":"maybe"}})").status().message(),
            "on_load/verify must be \"keep\" or \"drop\"");
}

TEST(PolicyJson, FaultsOfHistoryNameTheirPlace) {
  const std::pair<const char*, const char*> faults[] = {
      {R"({"history":true})", "/history"},
      {R"({"history":[]})", "/history"},
      {R"({"history":{},"history":{}})", "/history"},
      {R"({"history":{"enabled":1}})", "/history/enabled"},
      {R"({"history":{"enabled":{}}})", "/history/enabled"},
      {R"({"history":{"days":"7"}})", "/history/days"},
      {R"({"history":{"days":0}})", "/history/days"},
      {R"({"history":{"days":3661}})", "/history/days"},
      {R"({"history":{"days":1.5}})", "/history/days"},
      {R"({"history":{"max_entries":-1}})", "/history/max_entries"},
      {R"({"history":{"max_entries":1000001}})", "/history/max_entries"},
      {R"({"history":{"deleted_items":"gone"}})", "/history/deleted_items"},
      {R"({"history":{"when_paused":"stop"}})", "/history/when_paused"},
      {R"({"history":{"window":3}})", "/history/window"},
      {R"({"history":{"a/b":3}})", "/history/a~1b"},
      {R"({"history/days":3})", "/history~1days"},
      {R"({"history":{"days":3,"days":4}})", "/history/days"},
      {R"({"days":3})", "/days"}};
  for (const auto& [json, field] : faults) {
    const Result<PolicyPatch> read = PolicyPatchFromJson(json);
    ASSERT_FALSE(read.ok()) << json;
    EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument) << json;
    EXPECT_EQ(read.status().field(), field) << json;
  }
}

TEST(PolicyJson, WhatIsKeptOfExposuresIsAnObjectOfItsOwn) {
  const auto patch =
      PolicyPatchFromJson(R"({"exposures":{"recent":50,"days":7},"exposed_is_seen":true})");
  ASSERT_TRUE(patch.ok()) << patch.status().ToString();
  const Policy policy = ApplyPatch(Policy(), *patch);
  EXPECT_EQ(policy.exposures, (ExposurePolicy{50, 7}));
  EXPECT_TRUE(policy.exposed_is_seen);
  const std::string json = PolicyToJson(policy);
  EXPECT_NE(json.find(R"("exposures":{"recent":50,"days":7},"exposed_is_seen":true)"),
            std::string::npos)
      << json;
  EXPECT_EQ(PolicyToJson(Policy()).find("expos"), std::string::npos) << "yesterday's bytes";
  EXPECT_EQ(PolicyPatchFromJson(R"({"exposures":{"recent":0}})").status().field(),
            "/exposures/recent");
  EXPECT_EQ(PolicyPatchFromJson(R"({"exposures":{"days":3661}})").status().field(),
            "/exposures/days");
}

TEST(PolicyJson, KindsAndCapsAreListsThatAreNamedWhole) {
  const auto patch = PolicyPatchFromJson(
      R"({"counts":{"item":"30d","author":"7d"},"caps":[{"within":"1d","n":2,"of":"author"},
          {"of":"item","fact":"exposed","n":1,"within":"90m"}]})");
  ASSERT_TRUE(patch.ok()) << patch.status().ToString();
  Policy policy = ApplyPatch(Policy(), *patch);
  EXPECT_TRUE(ValidatePolicy(policy).ok()) << ValidatePolicy(policy).ToString();
  const std::string lists =
      R"("counts":{"author":"7d","item":"30d"},"caps":[{"of":"author","fact":"served","n":2,)"
      R"("within":"24h"},{"of":"item","fact":"exposed","n":1,"within":"90m"}])";
  EXPECT_NE(PolicyToJson(policy).find(lists), std::string::npos) << PolicyToJson(policy);
  EXPECT_EQ(PolicyToJson(Policy()).find("caps"), std::string::npos) << "yesterday's bytes";
  EXPECT_EQ(PolicyToJson(Policy()).find("counts"), std::string::npos) << "yesterday's bytes";
  policy = ApplyPatch(policy, *PolicyPatchFromJson(R"({"counts":{"ad":"1d"},"caps":null})"));
  EXPECT_EQ(policy.counts, (std::vector<CountedKind>{{"ad", 86'400'000}}));
  EXPECT_EQ(policy.caps.size(), 2u);
  EXPECT_EQ(ValidatePolicy(policy).field(), "/caps/1/of") << "items are counted no more";
  policy = ApplyPatch(policy, *PolicyPatchFromJson(R"({"counts":{},"caps":[]})"));
  EXPECT_EQ(policy, Policy());
}

TEST(PolicyJson, FaultsOfKindsAndCapsNameTheirPlace) {
  const std::string cap = R"({"of":"author","n":2,"within":"1d"})";
  std::string nine = cap, kinds = R"("k0":"1d")";
  for (int i = 1; i < 9; ++i) nine += "," + cap;
  for (int i = 1; i < 17; ++i) kinds += ",\"k" + std::to_string(i) + R"(":"1d")";
  const std::pair<std::string, const char*> faults[] = {
      {R"({"counts":[]})", "/counts"},
      {R"({"counts":"7d"})", "/counts"},
      {"{\"counts\":{" + kinds + "}}", "/counts"},
      {R"({"counts":{"author":7}})", "/counts/author"},
      {R"({"counts":{"author":null}})", "/counts/author"},
      {R"({"counts":{"author":"59s"}})", "/counts/author"},
      {R"({"counts":{"author":"31d"}})", "/counts/author"},
      {R"({"counts":{"author":"soon"}})", "/counts/author"},
      {R"({"counts":{"author":{"days":7}}})", "/counts/author"},
      {R"({"counts":{"author:3":"7d"}})", "/counts/author:3"},
      {R"({"counts":{"":"7d"}})", "/counts/"},
      {R"({"counts":{"a":"7d","a":"7d"}})", "/counts"},
      {R"({"counts":{},"counts":{}})", "/counts"},
      {R"({"caps":{}})", "/caps"},
      {R"({"caps":1})", "/caps"},
      {"{\"caps\":[" + nine + "]}", "/caps"},
      {R"({"caps":[1]})", "/caps/0"},
      {R"({"caps":[[[[]]]]})", "/caps"},
      {R"({"caps":[{"n":2,"within":"1d"}]})", "/caps/0/of"},
      {R"({"caps":[{"of":"a","within":"1d"}]})", "/caps/0/n"},
      {R"({"caps":[{"of":"a","n":2}]})", "/caps/0/within"},
      {R"({"caps":[{"of":"","n":2,"within":"1d"}]})", "/caps/0/of"},
      {R"({"caps":[{"of":7,"n":2,"within":"1d"}]})", "/caps/0/of"},
      {R"({"caps":[{"of":"a","n":0,"within":"1d"}]})", "/caps/0/n"},
      {R"({"caps":[{"of":"a","n":256,"within":"1d"}]})", "/caps/0/n"},
      {R"({"caps":[{"of":"a","n":-1,"within":"1d"}]})", "/caps/0/n"},
      {R"({"caps":[{"of":"a","n":1.5,"within":"1d"}]})", "/caps/0/n"},
      {R"({"caps":[{"of":"a","n":2,"within":"31d"}]})", "/caps/0/within"},
      {R"({"caps":[{"of":"a","n":2,"within":60000}]})", "/caps/0/within"},
      {R"({"caps":[{"of":"a","fact":"liked","n":2,"within":"1d"}]})", "/caps/0/fact"},
      {R"({"caps":[{"of":"a","n":2,"within":"1d","x":1}]})", "/caps/0/x"},
      {R"({"caps":[{"of":"a","of":"a","n":2,"within":"1d"}]})", "/caps"}};
  for (const auto& [json, field] : faults) {
    const Result<PolicyPatch> read = PolicyPatchFromJson(json);
    ASSERT_FALSE(read.ok()) << json;
    EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument) << json;
    EXPECT_EQ(read.status().field(), field) << json;
  }
  EXPECT_EQ(PolicyPatchFromJson(R"({"caps":[{"of":"a","n":0,"within":"1d"}]})").status().message(),
            "caps/0/n must be from 1 to 255");
}

TEST(PolicyJson, ACapIsNotLongerThanItsKindIsCounted) {
  Policy policy;
  policy.counts = {{"author", 7 * 86'400'000LL}};
  policy.caps = {{"author", Fact::kServed, 2, 7 * 86'400'000LL}};
  EXPECT_TRUE(ValidatePolicy(policy).ok());
  policy.caps[0].within_ms += 1;
  EXPECT_EQ(ValidatePolicy(policy).field(), "/caps/0/within");
  policy.caps[0].of = "author:3";
  EXPECT_EQ(ValidatePolicy(policy).field(), "/caps/0/within");
  policy.caps[0].of = "authors";
  EXPECT_TRUE(ValidatePolicy(policy).ok());
  policy.caps[0].n = 0;
  EXPECT_EQ(ValidatePolicy(policy).field(), "/caps/0/n");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
