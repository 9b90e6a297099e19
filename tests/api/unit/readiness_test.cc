// What probes are told, and when it was looked at.

#include "api/unit/service_fixture.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

using ReadinessTest = ServiceTest;

TEST_F(ReadinessTest, LeavingAnswersEverythingButReady) {
  health_.Set(ops::Phase::kLeaving);
  EXPECT_EQ(Ask(Method::kGet, "/readyz").code(), "unavailable");
  EXPECT_EQ(Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})").status, 200u);
  EXPECT_EQ(Ask(Method::kGet, "/healthz").status, 200u);
}

TEST_F(ReadinessTest, ReadyTellsOfTheLastLookWhereOneComesByItself) {
  context_->samples_in_background = true;
  engine_.degraded = true;
  EXPECT_EQ(Ask(Method::kGet, "/readyz").json().at("degraded"), false);
  context_->readiness.Look(&engine_, nullptr);
  EXPECT_EQ(Ask(Method::kGet, "/readyz").json().at("degraded"), true);
}

TEST_F(ReadinessTest, AScrapeIsToldToThoseThatCameWhileItWasMade) {
  using api::Scrape;
  const Scrape::Time start{std::chrono::seconds(100)};
  Scrape scrape;
  EXPECT_EQ(scrape.For(start, start), "");
  scrape.Keep("text", start + std::chrono::milliseconds(50));
  const auto at = [&](int came_ms, int now_ms) {
    return scrape.For(start + std::chrono::milliseconds(came_ms),
                      start + std::chrono::milliseconds(now_ms));
  };
  EXPECT_EQ(at(20, 60), "text");
  EXPECT_EQ(at(60, 70), "") << "it came later";
  EXPECT_EQ(at(20, 1'051), "") << "it is too old";
}

TEST_F(ReadinessTest, SaysHowManyShardsAreOpen) {
  context_->engine = nullptr;
  health_.Set(ops::Phase::kOpening);
  EXPECT_FALSE(Ask(Method::kGet, "/readyz").json().contains("of")) << "nobody knows yet";
  EXPECT_EQ(Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})").status, 503u);
  service_->EngineOpening(&engine_);
  engine_.shards_opening = 3;
  const Answer ready = Ask(Method::kGet, "/readyz");
  EXPECT_EQ(ready.status, 503u);
  EXPECT_EQ(ready.json().at("open"), 1);
  EXPECT_EQ(ready.json().at("of"), 4);
  EXPECT_EQ(Ask(Method::kPost, "/filter", R"({"user":"u","items":[1]})").status, 200u);
  const Answer unknown =
      Ask(Method::kPost, "/filter", R"({"user":"u","items":[1],"collection":"video"})");
  EXPECT_EQ(unknown.code(), "unavailable") << "a shard that is not open may know it";
  EXPECT_EQ(Ask(Method::kGet, "/collections").status, 503u) << "it is about all shards";
  EXPECT_EQ(Ask(Method::kPost, "/admin/drain").status, 503u);
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
