#include "metrics_text.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(MetricsText, ReadsSamplesWithAndWithoutLabels) {
  const MetricsText text(
      "# HELP a Something.\n"
      "a 1.5\n"
      "b{x=\"1\",y=\"z\"} 2\n"
      "b{x=\"2\"} 40\n"
      "last 7");
  EXPECT_EQ(text.Sum("a"), 1.5);
  EXPECT_EQ(text.Sum("b"), 42);
  EXPECT_EQ(text.Sum("b", "x", "1"), 2);
  EXPECT_EQ(text.Sum("b", "x", "3"), 0);
  EXPECT_EQ(text.Sum("last"), 7);
  EXPECT_EQ(text.Sum("none"), 0);
  ASSERT_EQ(text.Of("b").size(), 2u);
  EXPECT_EQ(text.Of("b")[0].Label("y"), "z");
  EXPECT_EQ(text.Of("b")[1].Label("y"), "");
}

TEST(MetricsText, UnescapesLabels) {
  const MetricsText text("a{x=\"say \\\"}, \\\\ and\\nthe next\"} 1\n");
  ASSERT_EQ(text.Of("a").size(), 1u);
  EXPECT_EQ(text.Of("a")[0].Label("x"), "say \"}, \\ and\nthe next");
}

TEST(MetricsText, PassesOverWhatIsNoSample) {
  const MetricsText text(
      "\n"
      "a\n"
      " 1\n"
      "{x=\"1\"} 1\n"
      "a{x=\"1} 1\n"
      "a{x} 1\n"
      "a{x=\"1\"}1\n"
      "a b\n"
      "a NaN\n"
      "a +Inf\n"
      "a 1e300\n"
      "a 3\n");
  ASSERT_EQ(text.Of("a").size(), 1u);
  EXPECT_EQ(text.Sum("a"), 3);
}

TEST(MetricsText, TakesNoMoreThanItsMost) {
  std::string many;
  for (size_t i = 0; i < MetricsText::kSamplesMost + 10; ++i) many += "a 1\n";
  EXPECT_EQ(MetricsText(many).Of("a").size(), MetricsText::kSamplesMost);
}

TEST(MetricsSpan, TellsRatesOfOneProcess) {
  const MetricsText before("process_start_time_seconds 5\nc{k=\"x\"} 10\nc{k=\"y\"} 1\n");
  const MetricsText now("process_start_time_seconds 5\nc{k=\"x\"} 30\nc{k=\"y\"} 2\n");
  const MetricsSpan span(before, now, 2);
  EXPECT_TRUE(span.OneProcess());
  EXPECT_EQ(span.Rate("c"), 10.5);
  EXPECT_EQ(span.Grown("c", "k", "x"), 20);
  const MetricsText other("process_start_time_seconds 6\nc{k=\"x\"} 3\n");
  EXPECT_FALSE(MetricsSpan(now, other, 2).OneProcess());
  EXPECT_EQ(MetricsSpan(now, other, 2).Grown("c"), 0);
}

TEST(MetricsSpan, TellsTheEdgeBelowWhichAShareLies) {
  const auto text = [](int first, int second, int all) {
    return "h_bucket{r=\"f\",le=\"0.1\"} " + std::to_string(first) +
           "\nh_bucket{r=\"f\",le=\"1\"} " + std::to_string(second) +
           "\nh_bucket{r=\"f\",le=\"+Inf\"} " + std::to_string(all) +
           "\nh_bucket{r=\"g\",le=\"0.1\"} 1000\nh_bucket{r=\"g\",le=\"+Inf\"} 1000\n";
  };
  const MetricsText before(text(5, 5, 5));
  const MetricsText now(text(5 + 50, 5 + 99, 5 + 100));
  const MetricsSpan span(before, now, 1);
  EXPECT_EQ(span.Quantile(0.5, "h", "r", "f"), 0.1);
  EXPECT_EQ(span.Quantile(0.51, "h", "r", "f"), 1);
  EXPECT_TRUE(std::isinf(span.Quantile(1, "h", "r", "f").value_or(0)));
  EXPECT_EQ(span.Quantile(0.5, "h", "r", "g"), std::nullopt);  // nothing was counted meanwhile
  EXPECT_EQ(span.Quantile(0.5, "none", "r", "f"), std::nullopt);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
