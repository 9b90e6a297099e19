#include "metrics_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace seendb::tool {
namespace {

constexpr double kValueMost = 1e18;

std::optional<double> NumberAt(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  return number;
}

/// Reads `name="value",...` up to the closing brace; the rest of the line is left in `line`. False:
/// it has another form.
bool ReadLabels(std::string_view* line, MetricSample* sample) {
  for (;;) {
    if (line->starts_with('}')) {
      line->remove_prefix(1);
      return true;
    }
    const size_t equals = line->find("=\"");
    if (equals == line->npos) return false;
    const std::string name(line->substr(0, equals));
    line->remove_prefix(equals + 2);
    std::string value;
    for (;;) {
      if (line->empty()) return false;
      char letter = line->front();
      line->remove_prefix(1);
      if (letter == '"') break;
      if (letter == '\\' && !line->empty()) {
        letter = line->front() == 'n' ? '\n' : line->front();
        line->remove_prefix(1);
      }
      value += letter;
    }
    sample->labels.emplace(name, std::move(value));
    if (line->starts_with(',')) line->remove_prefix(1);
  }
}

}  // namespace

std::string_view MetricSample::Label(std::string_view name) const {
  const auto at = labels.find(name);
  return at == labels.end() ? std::string_view() : std::string_view(at->second);
}

MetricsText::MetricsText(std::string_view text) {
  for (size_t samples = 0; !text.empty() && samples < kSamplesMost;) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t name_end = line.find_first_of("{ ");
    if (line.starts_with('#') || name_end == line.npos || name_end == 0) continue;
    const std::string name(line.substr(0, name_end));
    line.remove_prefix(name_end);
    MetricSample sample;
    if (line.starts_with('{')) {
      line.remove_prefix(1);
      if (!ReadLabels(&line, &sample)) continue;
    }
    if (!line.starts_with(' ')) continue;
    const std::optional<double> value = NumberAt(line.substr(1));
    if (!value || !(std::abs(*value) <= kValueMost)) continue;
    sample.value = *value;
    ++samples;
    by_name_[name].push_back(std::move(sample));
  }
}

const std::vector<MetricSample>& MetricsText::Of(std::string_view name) const {
  static const std::vector<MetricSample> kNone;
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? kNone : at->second;
}

double MetricsText::Sum(std::string_view name, std::string_view label,
                        std::string_view value) const {
  double sum = 0;
  for (const MetricSample& sample : Of(name)) {
    if (label.empty() || sample.Label(label) == value) sum += sample.value;
  }
  return sum;
}

bool MetricsSpan::OneProcess() const {
  constexpr std::string_view kBegan = "process_start_time_seconds";
  return before_.Sum(kBegan) == now_.Sum(kBegan) && seconds_ > 0;
}

double MetricsSpan::Grown(std::string_view name, std::string_view label,
                          std::string_view value) const {
  return std::max(0.0, now_.Sum(name, label, value) - before_.Sum(name, label, value));
}

double MetricsSpan::Rate(std::string_view name, std::string_view label,
                         std::string_view value) const {
  return Grown(name, label, value) / seconds_;
}

std::optional<double> MetricsSpan::Quantile(double share, std::string_view family,
                                            std::string_view label, std::string_view value) const {
  std::map<double, double> grown;  // by the edge, which counts all below it
  const std::string name = std::string(family) + "_bucket";
  const auto add = [&](const MetricsText& text, double sign) {
    for (const MetricSample& sample : text.Of(name)) {
      const std::optional<double> edge = NumberAt(sample.Label("le"));
      if (sample.Label(label) == value && edge) grown[*edge] += sign * sample.value;
    }
  };
  add(now_, 1);
  add(before_, -1);
  if (grown.empty() || grown.rbegin()->second <= 0) return {};
  const double all = grown.rbegin()->second;
  for (const auto& [edge, count] : grown) {
    if (count >= share * all) return edge;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace seendb::tool
