// server/ops/metric_family.h: short forms for making prometheus-cpp families.

#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "admission/wait_histogram.h"

namespace seendb::ops {

using Labels = std::vector<prometheus::ClientMetric::Label>;

/// An empty family.
inline prometheus::MetricFamily MakeFamily(std::string name, std::string help,
                                           prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

/// Adds a counter's or a gauge's value.
inline void AddValue(prometheus::MetricFamily* family, Labels labels, double value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  if (family->type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family->metric.push_back(std::move(metric));
}

/// Adds a histogram of waits.
inline void AddWaits(prometheus::MetricFamily* family, Labels labels,
                     const admission::WaitHistogram::Snapshot& waits) {
  constexpr auto& kBounds = admission::WaitHistogram::kBounds;
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < waits.counts.size(); ++i) {
    cumulative += waits.counts[i];
    const double bound = i < kBounds.size() ? kBounds[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({cumulative, bound});
  }
  metric.histogram.sample_count = cumulative;
  metric.histogram.sample_sum = static_cast<double>(waits.total_ns) * 1e-9;
  family->metric.push_back(std::move(metric));
}

}  // namespace seendb::ops
