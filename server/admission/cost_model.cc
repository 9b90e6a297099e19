#include "admission/cost_model.h"

#include <algorithm>
#include <cmath>

namespace seendb::admission {
namespace {

/// Requests that the means remember.
constexpr double kMemory = 64;
/// Bodies whose sizes vary by less than this (a hundredth of their mean) say nothing of a slope.
constexpr double kLeastVariance = 1e-4;

}  // namespace

void CostModel::Fit::Add(double bytes, double ns) {
  count = std::min(count + 1, kMemory);
  const auto move = [&](double value, double* mean) { *mean += (value - *mean) / count; };
  move(bytes, &x);
  move(ns, &y);
  move(bytes * bytes, &xx);
  move(bytes * ns, &xy);
}

double CostModel::Fit::At(double bytes) const {
  const double variance = xx - x * x;
  if (variance <= kLeastVariance * x * x) return y;
  const double slope = std::max(0.0, (xy - x * y) / variance);
  const double base = y - slope * x;
  return base < 0 ? y / x * bytes : base + slope * bytes;
}

Duration CostModel::Estimate(const Ticket& ticket) const {
  constexpr Duration kLeast = std::chrono::microseconds(1);
  double ns = static_cast<double>(kColdCost.count());
  if (const Fit& of_class = classes_[static_cast<size_t>(ticket.cls)]; of_class.count > 0) {
    ns = of_class.y;
  }
  if (Knows(ticket)) {
    ns = routes_[static_cast<size_t>(ticket.route)].At(static_cast<double>(ticket.bytes));
  }
  return std::max(kLeast, Duration(std::llround(ns)));
}

bool CostModel::Knows(const Ticket& ticket) const {
  return HasRoute(ticket) && routes_[static_cast<size_t>(ticket.route)].count > 0;
}

void CostModel::Learn(const Ticket& ticket, Duration took) {
  const auto bytes = static_cast<double>(ticket.bytes);
  const auto ns = static_cast<double>(took.count());
  classes_[static_cast<size_t>(ticket.cls)].Add(bytes, ns);
  if (HasRoute(ticket)) routes_[static_cast<size_t>(ticket.route)].Add(bytes, ns);
}

}  // namespace seendb::admission
