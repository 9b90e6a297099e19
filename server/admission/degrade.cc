#include "admission/degrade.h"

#include <algorithm>

namespace seendb::admission {
namespace {

/// Above it a level more, where the level below would be under it a level less.
constexpr double kStepUp = 1.0, kStepDown = 0.9;
constexpr double kShareOfLevel = 0.1;
/// Levels from which on the less important, and all, are answered without verifying, and the less
/// important from memory alone.
constexpr int kNoVerifyForLow = 1, kNoVerify = 2, kMemoryForLow = 4;
/// Levels between two priorities.
constexpr int kPriorityLevels = 2;

}  // namespace

double ShareAt(int level, double min_share) {
  return std::max(min_share, 1 - kShareOfLevel * level);
}

void Degrade::ByHand(const Order& order, Time now) {
  const MutexLock lock(mutex_);
  order_ = order;
  order_until_ = now + order.length;
  unsigned refused = 0;
  for (size_t i = 0; i < kPriorities; ++i) refused |= (order.refuse[i] ? 1u : 0u) << i;
  ordered_ = order.level || refused != 0;
  refused_.store(refused, std::memory_order_relaxed);
  by_hand_.store(order.level.has_value(), std::memory_order_relaxed);
  if (order.level) level_.store(*order.level, std::memory_order_relaxed);
  calm_since_ = now;
}

bool Degrade::Tick(double load, const Settings& settings, Time now) {
  min_share_.store(settings.degrade_min_share, std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  if (ordered_ && now >= order_until_) {
    ordered_ = false;
    order_ = Order();
    refused_.store(0, std::memory_order_relaxed);
    by_hand_.store(false, std::memory_order_relaxed);
  }
  if (order_.level || now < next_step_) return false;
  next_step_ = now + std::chrono::milliseconds(settings.degrade_up_ms);
  const int before = level();
  const int after = Step(before, load, settings, now);
  level_.store(after, std::memory_order_relaxed);
  return after != before;
}

int Degrade::Step(int level, double load, const Settings& settings, Time now) {
  if (load > kStepUp) {
    calm_since_ = now;
    return std::min(level + 1, kMaxLevel);
  }
  if (level == 0) return 0;
  const double below = load * ShareAt(level - 1, settings.degrade_min_share) /
                       ShareAt(level, settings.degrade_min_share);
  if (below >= kStepDown) calm_since_ = now;
  if (now - calm_since_ < std::chrono::milliseconds(settings.degrade_down_ms)) return level;
  calm_since_ = now;
  return level - 1;
}

Reduction Degrade::For(Priority priority) const {
  const int now = level();
  if (now == 0) return {};
  const bool low = priority == Priority::kLow;
  const int step = low ? kPriorityLevels : priority == Priority::kHigh ? -kPriorityLevels : 0;
  const int own = std::clamp(now + step, 0, kMaxLevel);
  return {.share = ShareAt(own, min_share_.load(std::memory_order_relaxed)),
          .verify = now < (low ? kNoVerifyForLow : kNoVerify),
          .short_term_alone = low && now >= kMemoryForLow};
}

}  // namespace seendb::admission
