#include <gtest/gtest.h>

#include "redis/keys.h"

namespace seendb::redis::SEENDB_TEST_FILE {
namespace {

KeyTemplate Of(std::string_view text) { return KeyTemplate::Parse(text, "/key").value(); }

std::string Guessed(const std::vector<std::string>& keys) {
  const auto guess = GuessTemplate(keys);
  return guess ? guess->ToText() : "none";
}

TEST(KeyTemplate, FindsTheUser) {
  EXPECT_EQ(Of("watched:{user}").UserOf("watched:42"), "42");
  EXPECT_EQ(Of("{user}:watched").UserOf("42:watched"), "42");
  EXPECT_EQ(Of("w:{user}:v2").UserOf("w:a:b:v2"), "a:b");
  EXPECT_EQ(Of("watched:{{user}}").UserOf("watched:{42}"), "42");
  EXPECT_EQ(Of("watched:{{user}}").KeyOf("42"), "watched:{42}");
  EXPECT_EQ(Of("watched:{user}").UserOf("watched:"), std::nullopt);
  EXPECT_EQ(Of("watched:{user}").UserOf("seen:42"), std::nullopt);
  EXPECT_EQ(Of("ab{user}ba").UserOf("aba"), std::nullopt) << "both ends share a letter";
}

TEST(KeyTemplate, IsAPatternOfScan) {
  EXPECT_EQ(Of("watched:{user}").Pattern(), "watched:*");
  EXPECT_EQ(Of("w[1]*{user}?").Pattern(), "w\\[1\\]\\**\\?");
}

TEST(KeyTemplate, NeedsTheUserOnce) {
  EXPECT_FALSE(KeyTemplate::Parse("watched", "/key").ok());
  EXPECT_FALSE(KeyTemplate::Parse("{user}:{user}", "/key").ok());
  EXPECT_FALSE(KeyTemplate::Parse("", "/key").ok());
}

TEST(KeyTemplate, IsGuessedAtSeparators) {
  EXPECT_EQ(Guessed({"watched:1001", "watched:1002", "watched:17"}), "watched:{user}");
  EXPECT_EQ(Guessed({"watched:1001", "watched:1002"}), "watched:{user}");
  EXPECT_EQ(Guessed({"u/17/seen", "u/18/seen"}), "u/{user}/seen");
  EXPECT_EQ(Guessed({"w:{1}", "w:{22}"}), "w:{{user}}");
  EXPECT_EQ(Guessed({"a1", "b2"}), "none");
  EXPECT_EQ(Guessed({}), "none");
}

TEST(ScoreUnit, IsGuessedByTheSize) {
  EXPECT_EQ(GuessScoreUnit(1'700'000'000), ScoreUnit::kSeconds);
  EXPECT_EQ(GuessScoreUnit(1'700'000'000'000), ScoreUnit::kMillis);
  EXPECT_EQ(GuessScoreUnit(1'700'000'000'000'000), ScoreUnit::kMicros);
  for (const double score : {0.0, -1.0, 17.0, 1e18, 20231114.0}) {
    EXPECT_EQ(GuessScoreUnit(score), ScoreUnit::kNone) << score;
  }
}

TEST(ScoreUnit, MakesMilliseconds) {
  EXPECT_EQ(ScoreToMs(1'700'000'000.5, ScoreUnit::kSeconds), 1'700'000'000'500);
  EXPECT_EQ(ScoreToMs(1'700'000'000.123, ScoreUnit::kSeconds), 1'700'000'000'123);
  EXPECT_EQ(ScoreToMs(1'700'000'000'123, ScoreUnit::kMillis), 1'700'000'000'123);
  EXPECT_EQ(ScoreToMs(1'700'000'000'123'456, ScoreUnit::kMicros), 1'700'000'000'123);
  EXPECT_EQ(ScoreToMs(-1, ScoreUnit::kSeconds), std::nullopt);
  EXPECT_EQ(ScoreToMs(1e300, ScoreUnit::kSeconds), std::nullopt);
  EXPECT_EQ(ScoreToMs(1, ScoreUnit::kNone), std::nullopt);
  EXPECT_EQ(ScoreToMs(ParseScore("inf").value_or(0), ScoreUnit::kSeconds), std::nullopt);
  EXPECT_EQ(ParseScore("1.7e+09"), 1.7e9);
  EXPECT_EQ(ParseScore("soon"), std::nullopt);
  EXPECT_EQ(ParseScore(""), std::nullopt);
}

}  // namespace
}  // namespace seendb::redis::SEENDB_TEST_FILE
