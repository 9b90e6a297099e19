#include "top_screen.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

constexpr const char* kBefore =
    "process_start_time_seconds 1000\n"
    "seendb_filter_requests_total{collection=\"a\"} 10\n"
    "seendb_filter_candidates_total{collection=\"a\"} 1000\n"
    "seendb_filter_seen_total{collection=\"a\"} 100\n";

constexpr const char* kNow =
    "process_start_time_seconds 1000\n"
    "seendb_build_info{version=\"0.1.0\",commit=\"c\"} 1\n"
    "seendb_filter_requests_total{collection=\"a\"} 30\n"
    "seendb_filter_candidates_total{collection=\"a\"} 3000\n"
    "seendb_filter_seen_total{collection=\"a\"} 600\n"
    "seendb_http_request_seconds_bucket{route=\"POST /filter\",le=\"0.001\"} 19\n"
    "seendb_http_request_seconds_bucket{route=\"POST /filter\",le=\"0.01\"} 20\n"
    "seendb_http_request_seconds_bucket{route=\"POST /filter\",le=\"+Inf\"} 20\n"
    "seendb_load_ratio{of=\"mean\"} 0.25\n"
    "seendb_load_ratio{of=\"max\"} 0.5\n"
    "process_cpu_seconds_total 3\n"
    "process_resident_memory_bytes 1048576\n";

class TopScreenTest : public testing::Test {
 protected:
  Json Numbers(bool admin) const {
    return TopNumbers({.before = &before_,
                       .now = &now_,
                       .seconds = 2,
                       .ready = &ready_,
                       .ring = admin ? &ring_ : nullptr,
                       .buckets = admin ? &buckets_ : nullptr,
                       .now_s = 8'200});
  }

  const MetricsText before_{kBefore}, now_{kNow};
  Json ready_ = Json::parse(R"({"degraded":true,"problems":["shard 0 \u001b[31m is read-only"]})");
  Json ring_ = Json::parse(R"({"slots":[
    {"shard":0,"slot":0,"state":"current","plays":3,"bytes":100,"opened_ms":1700000003000},
    {"shard":1,"slot":0,"state":"current","plays":4,"bytes":200,"opened_ms":1700000002000},
    {"shard":1,"slot":1,"state":"free","plays":0,"bytes":0,"opened_ms":0}]})");
  Json buckets_ = Json::parse(R"({"buckets":[
    {"collection":"a","bucket":"2026-10","state":"open","bytes":1},
    {"collection":"a","bucket":"2026-11","state":"open","bytes":2048},
    {"collection":"b","bucket":"2026-11","state":"sealed","bytes":2}]})");
};

TEST_F(TopScreenTest, SaysRatesOfTheTimeBetweenTwoLooks) {
  const Json numbers = Numbers(true);
  EXPECT_EQ(numbers.at("filters_per_s"), 10.0);
  EXPECT_EQ(numbers.at("candidates_per_s"), 1000.0);
  EXPECT_EQ(numbers.at("seen_share"), 0.25);
  EXPECT_EQ(numbers.at("degraded_share"), 0.0);
  EXPECT_EQ(numbers.at("filter_p50_s"), 0.001);
  EXPECT_EQ(numbers.at("filter_p99_s"), 0.01);
  EXPECT_EQ(numbers.at("load"), 0.25);
  EXPECT_EQ(numbers.at("up_s"), 7'200.0);
  EXPECT_EQ(numbers.at("memory_bytes"), 1u << 20);
}

TEST_F(TopScreenTest, KnowsNoRateOfAProcessThatBeganMeanwhile) {
  const MetricsText other("process_start_time_seconds 7\nseendb_filter_requests_total 9\n");
  const Json numbers =
      TopNumbers({.before = &other, .now = &now_, .seconds = 2, .ready = &ready_, .now_s = 1});
  EXPECT_TRUE(numbers.at("filters_per_s").is_null());
  EXPECT_TRUE(numbers.at("filter_p99_s").is_null());
  EXPECT_EQ(numbers.at("up_s"), 0.0);
  EXPECT_NE(TopText(numbers, 9).find("filters     -, half within -, 99% within -"),
            std::string::npos);
}

TEST_F(TopScreenTest, SumsSlotsByStateAndPutsLargeBucketsFirst) {
  const Json numbers = Numbers(true);
  EXPECT_EQ(numbers.at("slots").dump(),
            R"([{"state":"current","slots":2,"plays":7,"bytes":300,"oldest_ms":1700000002000}])");
  EXPECT_EQ(numbers.at("buckets")[0].at("bytes"), 2048);
  EXPECT_EQ(numbers.at("buckets").size(), 3u);
}

TEST_F(TopScreenTest, IsTextThatSteersNoTerminal) {
  const std::string text = TopText(Numbers(true), 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.substr(0, text.find('\n')), "SeenDB 0.1.0, up 2 h 0 min, degraded");
  EXPECT_NE(text.find("problem: shard 0 \\x1b[31m is read-only\n"), std::string::npos);
  EXPECT_NE(text.find("candidates  1,000/s, seen 25.0%\n"), std::string::npos);
  EXPECT_NE(text.find("and 1 smaller buckets\n"), std::string::npos);
}

TEST_F(TopScreenTest, SaysThatAnotherRoleSeesNoSlots) {
  const Json numbers = Numbers(false);
  EXPECT_FALSE(numbers.contains("slots"));
  EXPECT_NE(TopText(numbers, 9).find("shown to a token of the role admin"), std::string::npos);
}

TEST(Clipped, LeavesWhatFits) {
  EXPECT_EQ(Clipped("abc\nde\nf\n", 2, 2), "ab\nde");
  EXPECT_EQ(Clipped("\xC3\xA9\xC3\xA9\xC3\xA9", 1, 2), "\xC3\xA9\xC3\xA9");
  EXPECT_EQ(Clipped("", 5, 5), "");
  EXPECT_EQ(Clipped("a\nb", 5, 5), "a\nb");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
