// server/ops/metric_family.h: short forms for making prometheus-cpp families.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

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

}  // namespace seendb::ops
