#include "base/clock_guard.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/durations.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

// Total forward adjustment (ms) that is accepted while the process runs; Confirm begins it anew.
constexpr int64_t kStepMs = 3'600'000;

}  // namespace

ClockGuard::ClockGuard(const Clock* owned, const MachineClock* machine, int64_t jump_ms)
    : clock_(owned != nullptr ? owned : (machine != nullptr ? machine : SystemClock())),
      machine_(owned != nullptr ? nullptr : (machine != nullptr ? machine : SystemClock())),
      jump_ms_(jump_ms),
      ahead_max_(std::numeric_limits<int64_t>::max()) {}

int64_t ClockGuard::NowMs() const { return clock_->NowMs(); }

Present ClockGuard::Look() const {
  const int64_t now_ms = clock_->NowMs();
  if (machine_ == nullptr) return {now_ms, false};
  return {now_ms, Ahead(now_ms) > ahead_max_.load(std::memory_order_relaxed)};
}

Status ClockGuard::Check(const Present& now) {
  if (!now.in_doubt) return {};
  return Status::Unavailable(
      "the clock is in doubt: it is far ahead of what it showed before; set it right, or confirm "
      "it");
}

void ClockGuard::BeginInParts() {
  if (machine_ != nullptr) ahead_max_ = std::numeric_limits<int64_t>::min();
}

// Once the clock is believed, an older noted time does not change that.
void ClockGuard::Begin(std::optional<int64_t> noted_ms, bool confirmed) {
  if (machine_ == nullptr) return;
  const MutexLock lock(mutex_);
  if (begun_ && !jumped_) return;
  const int64_t now_ms = clock_->NowMs();
  begun_ = true;
  if (noted_ms) noted_ms_ = std::max(noted_ms_.value_or(*noted_ms), *noted_ms);
  jumped_ = noted_ms_ && !confirmed && *noted_ms_ < now_ms - jump_ms_;
  ahead_max_ = Ahead(jumped_ ? *noted_ms_ + jump_ms_ : now_ms + kStepMs);
}

int64_t ClockGuard::Confirm() {
  const int64_t now_ms = clock_->NowMs();
  if (machine_ == nullptr) return now_ms;
  const MutexLock lock(mutex_);
  begun_ = true;
  jumped_ = false;
  ahead_max_ = Ahead(now_ms + kStepMs);
  return now_ms;
}

std::optional<int64_t> ClockGuard::TimeToNote(bool closing) {
  if (machine_ == nullptr) return {};
  const MutexLock lock(mutex_);
  const Present now = Look();
  if (now.in_doubt || !begun_) return {};
  if (std::exchange(jumped_, false)) ahead_max_ = Ahead(now.ms + kStepMs);  // it came back
  const int64_t boot_ms = machine_->BootMs();
  if (!closing && noted_at_boot_ms_ && boot_ms - *noted_at_boot_ms_ < kMsPerMinute) return {};
  noted_at_boot_ms_ = boot_ms;
  return now.ms;
}

Status CheckCalendar(int64_t now_ms) {
  if (now_ms >= kFirstTimeMs && now_ms <= kLastTimeMs) return {};
  return Status::InvalidArgument("the clock shows " + std::to_string(now_ms) +
                                 " ms, no time of the years 1 to 9998");
}

}  // namespace seendb
