// seendb/metrics_text.h: Prometheus' text, as a server's /metrics has it, and what happened between
// two of them.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seendb::tool {

/// A line of the text: its labels, unescaped, and its value.
struct MetricSample {
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;

  /// The label's value; empty where it has none of this name.
  std::string_view Label(std::string_view name) const;
};

/// One look at the metrics of a process. Passed over: lines that are none of Prometheus', values
/// that no counter or gauge of a server reaches (not finite, or beyond 1e18), and what follows
/// kSamplesMost.
class MetricsText {
 public:
  static constexpr size_t kSamplesMost = 200'000;

  explicit MetricsText(std::string_view text);

  /// The samples of a name; none where there is none.
  const std::vector<MetricSample>& Of(std::string_view name) const;
  /// The sum over those whose label has this value; over all where `label` is empty.
  double Sum(std::string_view name, std::string_view label = {}, std::string_view value = {}) const;

 private:
  std::map<std::string, std::vector<MetricSample>, std::less<>> by_name_;
};

/// The counters' growth between two looks at one process.
class MetricsSpan {
 public:
  /// `before` and `now` are borrowed; `seconds` lie between them.
  MetricsSpan(const MetricsText& before, const MetricsText& now, double seconds)
      : before_(before), now_(now), seconds_(seconds) {}

  /// False where the process began between the two: its counters began at zero.
  bool OneProcess() const;
  double Grown(std::string_view name, std::string_view label = {},
               std::string_view value = {}) const;
  /// Growth by second.
  double Rate(std::string_view name, std::string_view label = {},
              std::string_view value = {}) const;
  /// The edge of a histogram's bucket below which this share of what was counted lies (infinity:
  /// above the last edge). Nothing: nothing was counted.
  std::optional<double> Quantile(double share, std::string_view family, std::string_view label,
                                 std::string_view value) const;

 private:
  const MetricsText& before_;
  const MetricsText& now_;
  double seconds_;
};

}  // namespace seendb::tool
