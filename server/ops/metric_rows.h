// server/ops/metric_rows.h: metrics as rows: a name, a help text, and how its value is read.

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ops/metric_family.h"

namespace seendb::ops {

inline constexpr auto kCounter = prometheus::MetricType::Counter;
inline constexpr auto kGauge = prometheus::MetricType::Gauge;

/// One metric of a `From`.
template <typename From>
struct MetricRow {
  const char* name;
  const char* help;
  prometheus::MetricType type;
  std::optional<double> (*value)(const From&);  ///< nothing: there is no value
};

/// The value of a member: a number, or 1 for true.
template <auto kMember, typename From>
std::optional<double> MemberValue(const From& from) {
  return static_cast<double>(from.*kMember);
}

/// The value of a member in milliseconds, as seconds.
template <auto kMember, typename From>
std::optional<double> MemberSeconds(const From& from) {
  return static_cast<double>(from.*kMember) * 1e-3;
}

/// The value of a member that may be unset.
template <auto kMember, typename From>
std::optional<double> MemberIfKnown(const From& from) {
  if (!(from.*kMember)) return {};
  return static_cast<double>(*(from.*kMember));
}

/// Adds the family of each row whose value is known.
template <typename From, size_t kRows>
void AddRows(const MetricRow<From> (&rows)[kRows], const From& from,
             std::vector<prometheus::MetricFamily>* families) {
  for (const MetricRow<From>& row : rows) {
    const std::optional<double> value = row.value(from);
    if (!value) continue;
    AddValue(&families->emplace_back(MakeFamily(row.name, row.help, row.type)), {}, *value);
  }
}

/// Adds a family for each row, with a value for each of `all`, which are labels with what the
/// values are read from.
template <typename From, size_t kRows>
void AddRows(const MetricRow<From> (&rows)[kRows],
             const std::vector<std::pair<Labels, const From*>>& all,
             std::vector<prometheus::MetricFamily>* families) {
  for (const MetricRow<From>& row : rows) {
    prometheus::MetricFamily family = MakeFamily(row.name, row.help, row.type);
    for (const auto& [labels, from] : all) {
      if (const auto value = row.value(*from)) AddValue(&family, labels, *value);
    }
    families->push_back(std::move(family));
  }
}

}  // namespace seendb::ops
