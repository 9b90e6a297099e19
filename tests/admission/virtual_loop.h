// tests/admission/virtual_loop.h: an I/O thread in virtual time. It reads what has come, asks the
// lane, works in slices and keeps the clock; requests come from an open loop, or from a number of
// connections that each send one after the other.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "admission/admission.h"

namespace seendb::admission {

using Us = std::chrono::duration<double, std::micro>;

inline Duration Ns(double us) { return Duration(static_cast<int64_t>(us * 1e3)); }
inline Time AtS(double seconds) { return Time(Duration(static_cast<int64_t>(seconds * 1e9))); }
inline double Seconds(Duration of) { return 1e-9 * static_cast<double>(of.count()); }

/// What a request costs besides being handled, in us.
struct LoopCosts {
  double head = 8, body = 30, discard = 15, refuse = 8;
};

/// A kind of load: what its requests cost in us, and how often each cost is met.
struct Work {
  const char* name;
  LoopCosts costs;
  std::vector<std::pair<double, double>> mix;

  double Mean() const {
    double mean = 0;
    for (const auto& [part, us] : mix) mean += part * us;
    return mean;
  }
  /// Requests that can be answered in a second.
  double Capacity() const { return 1e6 / (Mean() + costs.head + costs.body); }
  /// What a refusal costs beside an answer.
  double Rho() const { return (costs.head + costs.discard + costs.refuse) * Capacity() / 1e6; }
  /// What can be answered at `k` times the capacity, if each request beyond it is refused.
  double Bound(double k) const { return k <= 1 ? k : (1 - k * Rho()) / (1 - Rho()); }
};

inline const Work kFilters20k = {"20k json", {8, 30, 15, 8}, {{1, 760}}};
inline const Work kFilters5k = {"5k json", {8, 12, 6, 8}, {{1, 206}}};
inline const Work kBimodal = {"bimodal", {8, 5, 3, 8}, {{.95, 200}, {.05, 10'000}}};
inline const Work kSlow = {"10 ms", {8, 30, 15, 8}, {{1, 10'000}}};
inline const Work kCheap = {"100 ids", {8, 3, 2, 8}, {{1, 40}}};

/// A request that is to come.
struct Coming {
  Time at{};
  double us = 0;
  Ticket ticket;          // its timeout is set if the client names it
  double patience_s = 1;  // after it the client has gone
  int tries = 0;
  int group = 0;  // for the report
};

/// What became of the requests of a group that came in the time that is looked at.
struct Report {
  uint64_t offered = 0, good = 0, late = 0, refused = 0;
  std::vector<double> refused_ms, answered_ms;

  double Good() const {
    return static_cast<double>(good) / static_cast<double>(std::max<uint64_t>(1, offered));
  }
  double Refused() const {
    return static_cast<double>(refused) / static_cast<double>(std::max<uint64_t>(1, offered));
  }
  static double Percentile(std::vector<double> of, double part) {
    if (of.empty()) return 0;
    std::sort(of.begin(), of.end());
    return of[static_cast<size_t>(part * static_cast<double>(of.size() - 1))];
  }
};

/// See the head of this file.
class VirtualLoop {
 public:
  struct Options {
    Settings settings;
    double estimate_error = 1;   // what the lane is told of costs, by what they are
    double of_candidates = 0.7;  // part of a cost that shrinks with the share of the candidates
    bool degrades = false;
    double stall_every_s = 0, stall_s = 0;
    double from_s = 4, to_s = 8;  // what the reports count, by when it came
  };

  VirtualLoop(const LoopCosts& costs, const Options& options)
      : costs_(costs), options_(options), admission_(options.settings) {
    lane_ = admission_.AddLane({.name = "io0"});
    next_stall_ = AtS(options.stall_every_s);
  }

  /// A client's answer to a refusal or a late answer; what it adds comes later.
  std::function<void(const Coming&, Time, std::vector<Coming>*)> again;
  /// With each answer or refusal, for closed loops: what that connection sends next.
  std::function<bool(const Coming&, Time, Coming*)> next;

  void Run(std::vector<Coming> coming) {
    for (Coming& one : coming) Push(std::move(one));
    while (!coming_.empty() || !lane_->empty()) {
      Stall();
      TickWhenDue();
      Intake();
      if (lane_->empty()) {
        if (!coming_.empty()) now_ = std::max(now_, coming_.top().at);
        continue;
      }
      Slice();
    }
  }

  const Report& report(int group = 0) const { return reports_[static_cast<size_t>(group)]; }
  Admission& admission() { return admission_; }
  Lane& lane() { return *lane_; }
  /// When the last request was refused.
  double last_refused_s() const { return last_refused_s_; }
  uint64_t refused_while_empty() const { return refused_while_empty_; }
  /// Changes of the level, by when.
  const std::vector<double>& level_changes_s() const { return level_changes_s_; }
  uint64_t flips() const { return flips_; }

 private:
  struct Later {
    bool operator()(const Coming& a, const Coming& b) const { return a.at > b.at; }
  };
  struct Held {
    Entry entry;
    Coming coming;
  };

  void Push(Coming one) { coming_.push(std::move(one)); }

  void Stall() {
    while (options_.stall_every_s > 0 && now_ > next_stall_) {
      now_ += Ns(options_.stall_s * 1e6);
      next_stall_ += Ns(options_.stall_every_s * 1e6);
    }
  }

  void TickWhenDue() {
    if (!options_.degrades || now_ < next_tick_) return;
    next_tick_ = now_ + std::chrono::milliseconds(100);
    if (admission_.Tick(now_).level) level_changes_s_.push_back(Seconds(now_ - Time{}));
  }

  /// Until nothing has come, or half of the time is spent while work waits.
  void Intake() {
    const Time began = now_;
    const Time drained = drained_;
    while (!coming_.empty() && coming_.top().at <= now_) {
      if (!lane_->empty() && now_ - began > last_slice_) break;
      Coming one = coming_.top();
      coming_.pop();
      Take(std::move(one), drained);
    }
    if (coming_.empty() || coming_.top().at > now_) drained_ = now_;
    lane_->SpentReading(now_ - began);
  }

  void Take(Coming one, Time drained) {
    auto held = std::make_unique<Held>();
    held->coming = std::move(one);
    Entry& entry = held->entry;
    entry.owner = held.get();
    entry.ticket = held->coming.ticket;
    entry.ticket.first_byte = std::min(drained, held->coming.at);
    now_ += Ns(costs_.head);
    const bool was_empty = lane_->empty();
    if (!lane_->Head(&entry, now_).admitted()) {
      if (was_empty) ++refused_while_empty_;
      now_ += Ns(costs_.discard);
      return Refuse(held->coming);
    }
    now_ += Ns(costs_.body);
    if (!lane_->Complete(&entry, entry.ticket.first_byte, now_).admitted()) {
      return Refuse(held->coming);
    }
    held_.push_back(std::move(held));
    Watch();
  }

  void Slice() {
    const Time began = now_;
    do {
      const Lane::Turn turn = lane_->Take(now_);
      Watch();
      if (turn.entry == nullptr) break;
      const auto held = static_cast<Held*>(turn.entry->owner);
      const Coming coming = held->coming;
      if (!turn.verdict.admitted()) {
        Refuse(coming);
      } else {
        const Reduction less = admission_.degrade().For(coming.ticket.priority);
        const double us =
            options_.degrades
                ? coming.us * (1 - options_.of_candidates + options_.of_candidates * less.share)
                : coming.us;
        now_ += Ns(us);
        lane_->Done(turn.entry, Ns(us * options_.estimate_error), now_);
        Answered(coming);
      }
      Forget(held);
    } while (now_ - began < std::chrono::microseconds(options_.settings.slice_us));
    last_slice_ = now_ - began;
  }

  void Forget(Held* held) {
    const auto at = std::find_if(held_.begin(), held_.end(),
                                 [&](const auto& one) { return one.get() == held; });
    held_.erase(at);
  }

  void Watch() {
    const bool over = lane_->counters().overloaded.load();
    if (over == over_) return;
    over_ = over;
    const double s = Seconds(now_ - Time{});
    if (s >= options_.from_s && s < options_.to_s) ++flips_;
  }

  Report* ReportOf(const Coming& coming) {
    if (coming.at < AtS(options_.from_s) || coming.at >= AtS(options_.to_s)) return nullptr;
    const auto group = static_cast<size_t>(coming.group);
    if (reports_.size() <= group) reports_.resize(group + 1);
    ++reports_[group].offered;
    return &reports_[group];
  }

  void Refuse(const Coming& coming) {
    now_ += Ns(costs_.refuse);
    lane_->SpentRefusing(Ns(costs_.discard + costs_.refuse), Duration(0));
    last_refused_s_ = Seconds(now_ - Time{});
    if (Report* to = ReportOf(coming)) {
      ++to->refused;
      to->refused_ms.push_back(1e3 * Seconds(now_ - coming.at));
    }
    Told(coming, /*good=*/false);
  }

  void Answered(const Coming& coming) {
    const double waited_s = Seconds(now_ - coming.at);
    const bool good = waited_s <= coming.patience_s;
    if (Report* to = ReportOf(coming)) {
      ++(good ? to->good : to->late);
      if (good) to->answered_ms.push_back(1e3 * waited_s);
    }
    Told(coming, good);
  }

  void Told(const Coming& coming, bool good) {
    if (!good && again) {
      std::vector<Coming> more;
      again(coming, now_, &more);
      for (Coming& one : more) Push(std::move(one));
    }
    if (Coming one; next && next(coming, now_, &one)) Push(std::move(one));
  }

  const LoopCosts costs_;
  const Options options_;
  Admission admission_;
  Lane* lane_ = nullptr;
  Time now_{}, drained_{}, next_stall_{}, next_tick_{};
  Duration last_slice_{0};
  std::priority_queue<Coming, std::vector<Coming>, Later> coming_;
  std::deque<std::unique_ptr<Held>> held_;
  std::vector<Report> reports_ = std::vector<Report>(1);
  double last_refused_s_ = 0;
  uint64_t refused_while_empty_ = 0, flips_ = 0;
  bool over_ = false;
  std::vector<double> level_changes_s_;
};

/// Requests of `work` from 0 to `end_s`, at rate(second) times its capacity, as chance has it;
/// `shape` completes each.
inline std::vector<Coming> Load(const Work& work, double end_s,
                                const std::function<double(double)>& rate,
                                const std::function<void(Coming*, double)>& shape = {},
                                uint64_t seed = 7) {
  std::mt19937_64 dice(seed);
  std::exponential_distribution<double> gap(1);
  std::uniform_real_distribution<double> chance(0, 1);
  std::lognormal_distribution<double> spread(-.02, .2);
  std::vector<Coming> load;
  for (double s = 0;;) {
    s += gap(dice) / (std::max(.001, rate(s)) * work.Capacity());
    if (s > end_s) return load;
    double part = chance(dice), us = work.mix.back().second;
    for (const auto& [p, cost] : work.mix) {
      if ((part -= p) < 0) {
        us = cost;
        break;
      }
    }
    Coming one;
    one.at = AtS(s);
    one.us = us * spread(dice);
    one.ticket.route = 0;
    if (shape) shape(&one, chance(dice));
    load.push_back(std::move(one));
  }
}

}  // namespace seendb::admission
