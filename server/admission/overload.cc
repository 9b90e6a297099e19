#include "admission/overload.h"

#include <algorithm>
#include <cmath>

namespace seendb::admission {
namespace {

constexpr double kLoadMemoryNs = 100e6;
/// Requests that the means of the service time remember.
constexpr double kServedMemory = 64;
/// Loads between which the state stays as it is, and where an emptied queue is enough.
constexpr double kEnter = 0.8, kLeave = 0.8, kLeaveEmptied = 0.95;
constexpr double kLimitTimes = 4, kIntervalTimes = 20;

Duration AtLeast(Duration least, double ns) {
  return std::max(least, Duration(static_cast<int64_t>(ns)));
}

}  // namespace

void LoadMeter::Offer(Duration work, size_t parallel, Time now) {
  const double capacity = kLoadMemoryNs * static_cast<double>(parallel);
  load_ = At(now) + static_cast<double>(work.count()) / capacity;
  at_ = std::max(at_, now);
}

double LoadMeter::At(Time now) const { return Decayed(load_, at_, now); }

double LoadMeter::Decayed(double load, Time then, Time now) {
  const auto passed = static_cast<double>(Duration(now - then).count());
  return passed <= 0 ? load : load * std::exp(-passed / kLoadMemoryNs);
}

void OverloadState::Came(Duration patience) {
  patience_ += (static_cast<double>(patience.count()) - patience_) / kServedMemory;
}

void OverloadState::Served(Duration took) {
  const auto ns = static_cast<double>(took.count());
  served_ = std::min(served_ + 1, kServedMemory);
  s1_ += (ns - s1_) / served_;
  s2_ += (ns * ns - s2_) / served_;
}

bool OverloadState::Renew(bool queue_empty, double load, Time now) {
  if (!over_) {
    const Duration wait = AtLeast(Interval(), patience_);
    if (queue_empty || load <= kEnter || now - last_empty_ <= wait) return false;
    over_ = true;
    since_ = now;
    return true;
  }
  const Duration interval = Interval();
  const bool emptied = now - emptied_ < interval && now - since_ > interval && load < kLeaveEmptied;
  if (load < kLeave || emptied) {
    over_ = false;
    last_empty_ = now;
  }
  return false;
}

double OverloadState::SizeBiasedNs() const { return s1_ > 0 ? s2_ / s1_ : 0; }

Duration OverloadState::Limit() const { return AtLeast(target_, kLimitTimes * SizeBiasedNs()); }

Duration OverloadState::Interval() const {
  return AtLeast(interval_, kIntervalTimes * SizeBiasedNs());
}

Duration OverloadState::MeanCost() const { return Duration(static_cast<int64_t>(s1_)); }

}  // namespace seendb::admission
