#include "pace.h"

#include <algorithm>

namespace seendb::tool {
namespace {

/// No slower than this, so that an import ends.
constexpr double kLeastRate = 1'000;
constexpr double kSlower = 0.5;
constexpr double kFaster = 1.25;

}  // namespace

Pace::Pace(double rate, double slow_ms, double now_s)
    : rate_(rate), slow_ms_(slow_ms), limit_(rate), free_at_s_(now_s), noted_at_s_(now_s) {}

double Pace::Take(uint64_t members, double now_s) {
  const MutexLock lock(mutex_);
  taken_ += members;
  if (limit_ <= 0) return 0;
  const double wait_s = std::max(0.0, free_at_s_ - now_s);
  free_at_s_ = std::max(free_at_s_, now_s) + static_cast<double>(members) / limit_;
  return wait_s;
}

uint64_t Pace::Piece(uint64_t most) const {
  const MutexLock lock(mutex_);
  if (limit_ <= 0) return most;
  return std::clamp(static_cast<uint64_t>(limit_ / 10), std::min<uint64_t>(100, most), most);
}

void Pace::Note(double ms, double now_s) {
  const MutexLock lock(mutex_);
  const double elapsed_s = std::max(1e-3, now_s - noted_at_s_);
  const double speed = static_cast<double>(taken_) / elapsed_s;
  noted_at_s_ = now_s;
  taken_ = 0;
  if (ms > slow_ms_) {
    ++slow_;
    if (limit_ <= 0) unlimited_ = speed;
    const double from = limit_ > 0 ? std::min(limit_, std::max(speed, kLeastRate)) : speed;
    limit_ = std::max(from * kSlower, std::min(kLeastRate, rate_ > 0 ? rate_ : kLeastRate));
    free_at_s_ = std::max(now_s, std::min(free_at_s_, now_s + 1));
    return;
  }
  if (limit_ <= 0 || limit_ == rate_) return;
  limit_ *= kFaster;
  if (rate_ > 0) {
    limit_ = std::min(limit_, rate_);
  } else if (limit_ > 2 * unlimited_) {
    limit_ = 0;  // as fast as before it was slow, and not slow any more
  }
}

double Pace::limit() const {
  const MutexLock lock(mutex_);
  return limit_;
}

uint64_t Pace::slow() const {
  const MutexLock lock(mutex_);
  return slow_;
}

}  // namespace seendb::tool
