// The outcome of a record between nodes of one version, and of two.

#include "wire/appended.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster_doc.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

using Json = nlohmann::json;

Appended Sample() {
  Appended appended;
  appended.offset = 12;
  appended.applied = true;
  appended.verdict = Status::NotFound("no collection", "/collection");
  RecordResult& recorded = appended.recorded;
  recorded.accepted = 1;
  recorded.refused = 1;
  recorded.refused_by[static_cast<size_t>(RefusalReason::kSeconds)] = 1;
  recorded.refusals.push_back(
      {1, Status::InvalidArgument("in seconds?", "/at"), RefusalReason::kSeconds});
  recorded.outside_window = 4;
  recorded.beyond_cap = 5;
  recorded.day = "2026-11-20";
  recorded.first_today = {0};
  appended.erasure = {true, true, 99};
  appended.user_set = {{}, 2, 5, 9};
  return appended;
}

/// The sample, changed, as it is read.
Result<Appended> Changed(const std::function<void(Json*)>& change) {
  Json json = Json::parse(AppendedToJson(Sample()));
  change(&json);
  return AppendedFromJson(json.dump());
}

TEST(AppendedTest, IsAsThePageHasIt) {
  const std::vector<std::string> page = cluster::test::DocumentBlocks("json append");
  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(AppendedToJson(Sample()), page[0]);
  const Result<Appended> read = AppendedFromJson(page[0]);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(AppendedToJson(*read), page[0]);
  EXPECT_EQ(read->recorded.refusals[0].reason, RefusalReason::kSeconds);
  EXPECT_EQ(read->verdict.code(), StatusCode::kNotFound);
}

TEST(AppendedTest, AReasonOfANewerNodeIsARefusalUnderNoReason) {
  const Result<Appended> read = Changed([](Json* json) {
    Json& recorded = (*json)["recorded"];
    recorded["refused"] = 3;
    recorded["refused_by"]["on_the_moon"] = 2;
    recorded["refusals"].push_back(
        {{"index", 2}, {"reason", "on_the_moon"}, {"error", {{"code", "moonstruck"}}}});
  });
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->recorded.refused, 3u);
  EXPECT_EQ(read->recorded.refused_by, Sample().recorded.refused_by);
  ASSERT_EQ(read->recorded.refusals.size(), 2u);
  EXPECT_EQ(read->recorded.refusals[1].status.code(), StatusCode::kInvalidArgument);
}

TEST(AppendedTest, AFailureOfANewerNodeIsUnavailable) {
  const Result<Appended> read =
      Changed([](Json* json) { (*json)["verdict"]["code"] = "moonstruck"; });
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->verdict.code(), StatusCode::kUnavailable);
  EXPECT_EQ(read->verdict.message(), "no collection");
}

TEST(AppendedTest, WhatANewerNodeAddsIsPassedOverAndWhatIsMissingIsItsDefault) {
  const Result<Appended> more = Changed([](Json* json) {
    (*json)["more"] = {1, {2}};
    (*json)["recorded"]["more"] = "x";
    (*json)["version"] = 9;
  });
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(AppendedToJson(*more), AppendedToJson(Sample()));
  const Result<Appended> bare = AppendedFromJson(R"({"offset":3})");
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare->offset, 3);
  EXPECT_FALSE(bare->applied);
  EXPECT_TRUE(bare->verdict.ok());
}

TEST(AppendedTest, AnythingElseLeavesTheOutcomeOpen) {
  for (const char* text :
       {"", "[]", "{}", R"({"applied":true})", R"({"offset":"1"})", R"({"offset":1,"applied":1})",
        R"({"offset":1,"recorded":[]})", R"({"offset":1,"recorded":{"refusals":[1]}})",
        R"({"offset":1,"recorded":{"refused_by":{"too_old":"1"}}})"}) {
    EXPECT_EQ(AppendedFromJson(text).status().code(), StatusCode::kUnavailable) << text;
  }
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
