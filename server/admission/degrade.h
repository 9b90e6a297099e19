// server/admission/degrade.h: how much a loaded server leaves out of its answers before it refuses.
//
// Level 0 to 5. Each 200 ms: one up while the load is above 1; one down once
// load * share(level - 1) / share(level) has been below 0.9 for a second, that is, where the level
// below would fit (if all of a request's cost were in its candidates, which is pessimistic: so the
// level does not swing).

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "admission/settings.h"
#include "admission/ticket.h"
#include "base/sync.h"

namespace seendb::admission {

/// The highest level.
inline constexpr int kMaxLevel = 5;

/// What is left out of an answer.
struct Reduction {
  double share = 1;               ///< of the candidates, the first ones, that are examined
  bool verify = true;             ///< seen items are verified where that is asked for
  bool short_term_alone = false;  ///< nothing is read but memory

  bool none() const { return share >= 1 && verify && !short_term_alone; }
};

/// See the head of this file. Threads: any; Tick from one.
class Degrade {
 public:
  /// What a person has ordered; see ByHand.
  struct Order {
    std::optional<int> level;                ///< unset: by load
    std::array<bool, kPriorities> refuse{};  ///< priorities that are refused altogether
    Duration length{0};                      ///< from then on; then all is by load again
  };

  /// From now on as a person says. An order without level and refusals ends the one before.
  void ByHand(const Order& order, Time now);
  /// To be called each 100 to 200 ms with the load at the level of now. True when the level
  /// changed.
  bool Tick(double load, const Settings& settings, Time now);

  /// 0 to kMaxLevel.
  int level() const { return level_.load(std::memory_order_relaxed); }
  /// The level is a person's.
  bool by_hand() const { return by_hand_.load(std::memory_order_relaxed); }
  /// Whether a person has ordered to refuse such requests.
  bool Refuses(Priority priority) const {
    return (refused_.load(std::memory_order_relaxed) >> static_cast<unsigned>(priority) & 1u) != 0;
  }
  /// What is left out for a request of that priority. Low counts two levels more, high two less.
  Reduction For(Priority priority) const;

 private:
  int Step(int level, double load, const Settings& settings, Time now) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  Order order_ GUARDED_BY(mutex_);
  Time order_until_ GUARDED_BY(mutex_){};
  bool ordered_ GUARDED_BY(mutex_) = false;
  Time next_step_ GUARDED_BY(mutex_){}, calm_since_ GUARDED_BY(mutex_){};
  std::atomic<int> level_{0};
  std::atomic<bool> by_hand_{false};
  std::atomic<unsigned> refused_{0};
  std::atomic<double> min_share_{0.5};
};

/// The share of the candidates that is examined at a level: 1, 0.9, ... 0.5.
double ShareAt(int level, double min_share);

}  // namespace seendb::admission
