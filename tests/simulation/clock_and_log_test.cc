// Short scripts about logs and about a clock that was ahead: an engine that is right keeps its
// promises in them, and of those in tests/mutants each breaks one. One test asks the model alone
// what it expects after such a clock.

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "simulation/model.h"
#include "simulation/simulator.h"

namespace seendb::simulation::SEENDB_TEST_FILE {
namespace {

constexpr char kHead[] = "options shards=1 ring_slots=2 options_files=0\n";
// Three days, and forty.
constexpr char kAhead[] = "set-clock 259200000\n", kBack[] = "set-clock -259200000\n";
constexpr char kFarAhead[] = "set-clock 3456000000\n", kFarBack[] = "set-clock -3456000000\n";

Outcome RunText(const std::string& text) {
  std::string error;
  const std::optional<Script> script = Parse(kHead + text, &error);
  EXPECT_TRUE(script) << error;
  return script ? Simulate(*script) : Outcome{};
}

// Wherever the log of the shard fails while a batch is ingested.
TEST(ShortScriptsTest, OffsetsAndPlaysAreOfOneMoment) {
  for (const std::string trouble : {"fail", "crash", "cut"}) {
    for (const std::string error : {"eio", "short"}) {
      for (int skip = 0; skip < 6; ++skip) {
        const Outcome outcome = RunText(
            "clock 1600000000000\npublish default.p 0 u1:v1@now u2:v2@now\n" + trouble +
            " kinds=1 part=shard-0000*.log skip=" + std::to_string(skip) + " error=" + error +
            " seed=7\ningest default.p limit=0 behind=0\ningest default.p limit=0 behind=1\n");
        EXPECT_FALSE(outcome.failed)
            << trouble << " " << error << " " << skip << ": " << outcome.what;
      }
    }
  }
}

// A play from a clock that is an hour ahead is deleted. One of that hour, which the deletion would
// hide, comes right behind it.
TEST(ShortScriptsTest, PlaysThatADeletionWouldHideAreInTheList) {
  for (const std::string again : {"0", "1"}) {
    const Outcome outcome = RunText(
        "clock 1600000000000\nput video history=1 again=" + again +
        "\nplay video u1:v1@1600003600000 u1:v2@now\ndelete video u1 items=v1,v2\n"
        "clock 1600001800000\nplay video u1:v1@now u1:v2@now u1:v1@1600003600000 u2:v1@now\n"
        "lookup video u1 items=v1,v2\ndrain\nreopen 0\nplay video u1:v1@now\n"
        "lookup video u1 items=v1,v2\n"
        "filter video u1 facts=3 limit=0 explain=1 record=0 strict=0 late=0 items=v1,v2\n");
    EXPECT_FALSE(outcome.failed) << outcome.what;
    EXPECT_EQ(outcome.tally.lookups, 4U);
  }
}

TEST(ShortScriptsTest, ABucketThatAClockDroppedIsMissing) {
  const Outcome outcome = RunText(
      std::string("clock 1600000000000\nput article bucket=1 window=2 retention=2 fpr=0.01\n") +
      "play article u1:v1@now\ndrain\n" + kAhead + "drop\n" + kBack +
      "filter article u1 facts=3 limit=0 explain=1 record=0 strict=0 late=0 items=v1\n");
  EXPECT_FALSE(outcome.failed) << outcome.what;
  EXPECT_GT(outcome.tally.degraded, 0U);
}

// The bucket's history is gone, its filter is not.
TEST(ShortScriptsTest, HistoryThatAClockDroppedRefutesNothing) {
  std::string plays = "play article";
  for (int i = 0; i < 12; ++i) plays += " u1:v" + std::to_string(i) + "@now";
  const Outcome outcome =
      RunText(std::string("clock 1590000000000\n") +
              "put article bucket=30 window=4 retention=5 fpr=0.01 history=1 days=10\n" +
              "clock 1600000000000\n" + plays + "\ndrain\n" + kFarAhead + "seal-closed\ndrop\n" +
              kFarBack + "filter article u1 facts=3 limit=0 explain=1 record=0 strict=0 late=0 " +
              "items=v1 verify=1\n");
  EXPECT_FALSE(outcome.failed) << outcome.what;
  EXPECT_GT(outcome.tally.verified, 0U);
}

// Under a clock that is ahead a merge drops only entries that it reads: older ones may outlive
// newer ones.
TEST(ModelTest, WhatAClockAheadMayHaveDroppedPushesNothingOut) {
  constexpr int64_t kNowMs = 1'600'000'000'000, kFarMs = 3'456'000'000;
  const std::string video = "video", user = "u1";
  Model model(1, [](const std::string&) { return 0U; });
  Policy policy;
  policy.exposures.recent = 1;
  model.SetTime(kNowMs);
  model.SetPolicy(video, policy);
  model.Expose(video, {{user, "v1", kNowMs - 1}}, {}, true);
  model.Expose(video, {{user, "v2", kNowMs}}, {}, true);
  const auto exposed = [&] {
    Expected expected;
    model.ExpectExposed(video, user, INT64_MIN, {}, &expected);
    return std::pair(expected.exposed_sure, expected.exposed_maybe);
  };
  const std::set<std::string> newest{"v2"}, both{"v1", "v2"}, none;
  EXPECT_EQ(exposed(), std::pair(newest, newest));
  model.SetTime(kNowMs + kFarMs);
  model.SetTime(kNowMs);
  EXPECT_EQ(exposed(), std::pair(none, both));
}

}  // namespace
}  // namespace seendb::simulation::SEENDB_TEST_FILE
