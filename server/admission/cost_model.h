// server/admission/cost_model.h: what a request will cost, learned from those that were handled.

#pragma once

#include <array>
#include <cstdint>

#include "admission/ticket.h"

namespace seendb::admission {

/// The cost of a route is a + b * bytes of its body, fitted by least squares over exponentially
/// weighted means (1/64 for each request). A route that was not seen yet costs what its class does;
/// a class that was not seen yet kColdCost. Threads: one at a time.
class CostModel {
 public:
  /// Of what nothing is known about.
  static constexpr Duration kColdCost = std::chrono::microseconds(200);

  /// The expected cost, at least 1 us.
  Duration Estimate(const Ticket& ticket) const;
  /// Whether its route was seen.
  bool Knows(const Ticket& ticket) const;
  /// A request took so long.
  void Learn(const Ticket& ticket, Duration took);

 private:
  // A piece of a stream costs something else than a whole request of its route.
  static bool HasRoute(const Ticket& ticket) {
    return ticket.cls != Class::kStream && ticket.route >= 0 &&
           static_cast<size_t>(ticket.route) < kMaxRoutes;
  }
  // Exponentially weighted means, the first 64 requests weighted alike.
  struct Fit {
    double count = 0;  // up to 64
    double x = 0, y = 0, xx = 0, xy = 0;
    void Add(double bytes, double ns);
    double At(double bytes) const;
  };
  std::array<Fit, kMaxRoutes> routes_{};
  std::array<Fit, kClasses> classes_{};
};

}  // namespace seendb::admission
