// Refused events: an answer of 422 where nothing was taken, counters by reason, and a log at a
// bounded rate.

#include "api/refusals.h"

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using test::Json;
using test::Method;

class RefusalsTest : public test::ServiceTest {
 protected:
  static std::string Event(int64_t at_ms) {
    return R"({"user":"u","item":"v","at":)" + std::to_string(at_ms) + "}";
  }
  test::Answer Post(const std::string& events) {
    return Ask(Method::kPost, "/plays", "{\"events\":[" + events + "]}");
  }
  test::Answer PostLines(const std::string& lines) {
    return Ask(Method::kPost, "/plays", lines, "application/x-ndjson");
  }
  const int64_t future_ms_ = 1'900'000'000'000;
};

TEST_F(RefusalsTest, ACallOfWhichNothingIsTakenIs422WithTheSameBody) {
  for (const test::Answer& answer :
       {Post(Event(future_ms_)), PostLines(Event(future_ms_) + "\n"), PostLines("bad\n\n{}\n")}) {
    EXPECT_EQ(answer.status, 422u) << answer.body;
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.json().at("accepted"), 0);
    EXPECT_GT(answer.json().at("refused"), 0);
    EXPECT_FALSE(answer.json().contains("error"));
    EXPECT_EQ(answer.retry_after_s, 0);
  }
}

TEST_F(RefusalsTest, NoEventAndPartialRefusalsStay200) {
  const std::string both = Event(1'700'000'000'000) + "," + Event(future_ms_);
  EXPECT_EQ(Post(both).status, 200u);
  EXPECT_EQ(Post("").status, 200u);
  EXPECT_EQ(PostLines("").status, 200u);
  EXPECT_EQ(PostLines("\n\n").status, 200u);
  EXPECT_EQ(PostLines("bad\n" + Event(1'700'000'000'000) + "\n").status, 200u);
}

TEST_F(RefusalsTest, MetricsTellTheReasons) {
  Post(Event(future_ms_));
  PostLines("bad\n");
  const std::string text = Ask(Method::kGet, "/metrics").body;
  const std::string family = "seendb_plays_refused_by_reason_total{collection=\"default\",reason=";
  EXPECT_NE(text.find(family + "\"in_future\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find(family + "\"malformed\"} 1"), std::string::npos);
  EXPECT_NE(text.find(family + "\"seconds\"} 0"), std::string::npos)
      << "increase() needs the value before the first";
  EXPECT_NE(text.find("code=\"422\"} 2"), std::string::npos);
}

TEST(RefusalLog, HasOneLineOfAReasonInAPause) {
  RefusalLog log;
  RefusalLog::Line line;
  const RefusalLog::Time begin{std::chrono::hours(1)};
  EXPECT_TRUE(log.Note(EventKind::kPlays, 0, 3, begin, &line));
  EXPECT_EQ(line.refused, 3u);
  EXPECT_EQ(line.reason, "too_old");
  EXPECT_FALSE(log.Note(EventKind::kPlays, 0, 4, begin, &line));
  EXPECT_TRUE(log.Note(EventKind::kPlays, 1, 1, begin, &line)) << "another reason";
  EXPECT_TRUE(log.Note(EventKind::kImpressions, 0, 1, begin, &line)) << "another kind";
  EXPECT_TRUE(log.Note(EventKind::kPlays, 0, 1, begin + RefusalLog::kPause, &line));
  EXPECT_EQ(line.refused, 5u) << "those without a line are counted in the next";
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
