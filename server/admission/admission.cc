#include "admission/admission.h"

#include <algorithm>
#include <utility>

namespace seendb::admission {
namespace {

/// An episode ends once no lane was overloaded for so long.
constexpr Duration kEpisodeGap = std::chrono::seconds(1);
/// Less than that is asked of a lane that is not overloaded any more, though nothing comes to tell.
constexpr double kOverBelow = 0.8;

double LoadOf(const Lane& lane, bool full, Time now) {
  const LaneCounters& counters = lane.counters();
  const std::atomic<double>& load = full ? counters.full_load : counters.load;
  return LoadMeter::Decayed(load.load(std::memory_order_relaxed),
                            counters.load_at.load(std::memory_order_relaxed), now);
}

}  // namespace

Admission::Admission(const Settings& settings) : settings_(settings) {}
Admission::~Admission() = default;

Lane* Admission::AddLane(LaneOptions options) {
  lanes_.push_back(std::make_unique<Lane>(this, std::move(options)));
  return lanes_.back().get();
}

void Admission::Set(const Settings& settings) {
  const MutexLock lock(mutex_);
  settings_ = settings;
  version_.fetch_add(1, std::memory_order_release);
}

Settings Admission::Current() const {
  const MutexLock lock(mutex_);
  return settings_;
}

double Admission::Load(bool full, Time now) const {
  double sum = 0, most = 0;
  size_t loops = 0;
  for (const auto& lane : lanes_) {
    const double load = LoadOf(*lane, full, now);
    if (lane->options().disk) {
      most = std::max(most, load);
    } else {
      sum += load;
      ++loops;
    }
  }
  return loops == 0 ? most : std::max(most, sum / static_cast<double>(loops));
}

double Admission::MaxLoad(Time now) const {
  double most = 0;
  for (const auto& lane : lanes_) most = std::max(most, LoadOf(*lane, /*full=*/true, now));
  return most;
}

bool Admission::Overloaded(const Lane& lane, Time now) {
  return lane.counters().overloaded.load(std::memory_order_relaxed) &&
         LoadOf(lane, /*full=*/false, now) >= kOverBelow;
}

bool Admission::Overloaded(Time now) const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [&](const auto& lane) { return Overloaded(*lane, now); });
}

Admission::Totals Admission::Sum() const {
  Totals totals;
  for (const auto& lane : lanes_) {
    totals.refused += lane->counters().AllRefused();
    totals.answered += lane->counters().answered.load(std::memory_order_relaxed);
  }
  totals.refused += door_refused();
  totals.degraded = degraded();
  return totals;
}

Admission::Change Admission::Tick(Time now) {
  Change change;
  const Settings settings = Current();
  const double load = settings.enabled ? Load(/*full=*/false, now) : 0;
  if (degrade_.Tick(load, settings, now)) change.level = degrade_.level();
  if (Overloaded(now)) {
    change.began = !episode_;
    if (change.began) {
      began_ = now;
      at_begin_ = Sum();
    }
    episode_ = true;
    over_at_ = now;
  } else if (episode_ && now - over_at_ > kEpisodeGap) {
    episode_ = false;
    const Totals sum = Sum();
    change.ended = true;
    change.lasted = over_at_ - began_;
    change.refused = sum.refused - at_begin_.refused;
    change.answered = sum.answered - at_begin_.answered;
    change.degraded = sum.degraded - at_begin_.degraded;
  }
  return change;
}

}  // namespace seendb::admission
