// scenario/report.h: where the figures go: one JSON object a line, one line a round; perf/run makes
// medians, tables and plots of them.

#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace seendb::perf {

/// What varies within a scenario: names with numbers or words, in the order of the table.
using Case = std::vector<std::pair<std::string, std::string>>;

/// Whether a figure should grow or shrink; kNone: neither is better.
enum class Better { kLess, kMore, kNone };

/// One measured quantity. The unit is the end of `metric` ("latency_us", "plays_per_s").
struct Figure {
  std::string scenario;
  Case where;
  std::string peer;
  std::string metric;
  Better better = Better::kLess;
};

/// See the head of this file.
class Report {
 public:
  /// Appends to the file.
  explicit Report(const std::string& path);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// One round's value.
  void Add(const Figure& figure, double value);
  /// Something people must know to read a scenario's figures: what was left out or scaled down.
  void Note(const std::string& scenario, const std::string& text);

 private:
  std::FILE* file_;
};

/// "5000" or "0.5": without superfluous zeros.
std::string Number(double value);

}  // namespace seendb::perf
