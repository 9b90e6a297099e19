// A lane against a model that keeps everything that ever happened and computes each answer from
// it, over random calls.

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "admission/admission.h"

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kRoutes = 4;
/// By route: constant, so that the lane's estimate is exact once it has seen one.
constexpr Duration kCosts[kRoutes] = {microseconds(30), microseconds(250), microseconds(900),
                                      microseconds(6'000)};
constexpr double kRefusalNs = 10'000;  // the lane's own first guess: no refusal is measured here

/// Everything is kept, nothing is summed up.
class NaiveLane {
 public:
  explicit NaiveLane(const Settings& settings) : settings_(settings) {}

  struct One {
    int id = 0;
    Ticket ticket;
    Time came{};
    Duration estimate{0};
  };

  void Served(const Ticket& ticket, Duration took) {
    seen_[ticket.route] = true;
    std::vector<Duration>& of_class = last_class_[static_cast<int>(ticket.cls)];
    of_class.push_back(took);
    served_.push_back(took);
    Trim(&of_class);
    Trim(&served_);
  }

  Reason Head(const One& one, Time now) {
    Offered(one, now);
    const Reason reason = Judge(one, now);
    if (reason == Reason::kNone) held_.push_back(one);
    return reason;
  }

  Reason Complete(One one, Time now) {
    one.estimate = Estimate(one.ticket);
    const Duration most = std::max(Limit(), LimitOf(one, now));
    if (!queue_.empty() && Work() > 2 * most) {
      Forget(one.id);
      return Reason::kOverloaded;
    }
    if (queue_.empty()) last_empty_ = now;
    queue_.push_back(one);
    return Reason::kNone;
  }

  struct Turn {
    int id = -1;
    Reason reason = Reason::kNone;
  };
  Turn Take(Time now) {
    Renew(now);
    if (queue_.empty()) return {};
    const One front = queue_.front();
    const bool timed = front.ticket.timeout > Duration(0);
    const Duration stale = std::max<Duration>(milliseconds(250), 4 * Limit());
    const bool is_stale = !timed && now - front.came > stale;
    Reason reason = Reason::kNone;
    if (timed && now - front.ticket.first_byte + front.estimate > front.ticket.timeout) {
      reason = Reason::kTimeout;
    }
    if (is_stale && over_) reason = Reason::kStale;
    if (reason != Reason::kNone) {
      queue_.erase(queue_.begin());
      Forget(front.id);
      return {front.id, reason};
    }
    const auto taken = is_stale ? queue_.end() - 1 : queue_.begin();
    const int id = taken->id;
    queue_.erase(taken);
    if (queue_.empty()) last_empty_ = emptied_ = now;
    return {id, Reason::kNone};
  }

  void Forget(int id) {
    const auto is = [&](const One& one) { return one.id == id; };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), is), queue_.end());
    held_.erase(std::remove_if(held_.begin(), held_.end(), is), held_.end());
  }

  Duration Work() const {
    Duration work{0};
    for (const One& one : queue_) work += one.estimate;
    return work;
  }
  int64_t callers = 0;  // 0: not known
  bool over() const { return over_; }
  size_t waiting() const { return queue_.size(); }

  Duration Estimate(const Ticket& ticket) const {
    if (const auto seen = seen_.find(ticket.route); seen != seen_.end()) {
      return kCosts[ticket.route];
    }
    const auto of_class = last_class_.find(static_cast<int>(ticket.cls));
    if (of_class == last_class_.end()) return CostModel::kColdCost;
    return Duration(std::llround(Mean(of_class->second, false)));
  }

 private:
  /// What was served 2,000 requests ago weighs less than 1e-13.
  static void Trim(std::vector<Duration>* all) {
    if (all->size() > 4'000) all->erase(all->begin(), all->end() - 2'000);
  }

  static double Mean(const std::vector<Duration>& all, bool squares) {
    double mean = 0, n = 0;
    for (const Duration one : all) {
      const auto ns = static_cast<double>(one.count());
      n = std::min(n + 1, 64.0);
      mean += ((squares ? ns * ns : ns) - mean) / n;
    }
    return mean;
  }

  double Biased() const { return served_.empty() ? 0 : Mean(served_, true) / Mean(served_, false); }
  Duration Limit() const {
    return std::max<Duration>(milliseconds(settings_.target_ms),
                              Duration(static_cast<int64_t>(4 * Biased())));
  }
  Duration Interval() const {
    return std::max<Duration>(milliseconds(settings_.interval_ms),
                              Duration(static_cast<int64_t>(20 * Biased())));
  }

  /// Of all, or of one tenant.
  double Load(Time now, uint64_t key = 0) const {
    double load = 0;
    for (const Offer& offer : offered_) {
      if (key != 0 && offer.key != key) continue;
      load += static_cast<double>(offer.work.count()) / 1e8 *
              std::exp(-static_cast<double>(Duration(now - offer.at).count()) / 1e8);
    }
    return load;
  }

  void Offered(const One& one, Time now) {
    offered_.push_back({now, Estimate(one.ticket), one.ticket.tenant_key});
    // What is older than 3 s weighs less than 1e-13.
    while (now - offered_.front().at > std::chrono::seconds(3)) offered_.pop_front();
    if (one.ticket.tenant_key != 0) asked_[one.ticket.tenant_key] = now;
    patience_ += (static_cast<double>(Patience(one).count()) - patience_) / 64;
    now_ = now;
    Renew(now);
  }

  void Renew(Time now) {
    const double load = Load(now);
    if (!over_) {
      const Duration wait = std::max(Interval(), Duration(static_cast<int64_t>(patience_)));
      over_ = !queue_.empty() && load > .8 && now - last_empty_ > wait;
      if (over_) since_ = now;
      return;
    }
    const Duration interval = Interval();
    const bool emptied = now - emptied_ < interval && now - since_ > interval && load < .95;
    if (load >= .8 && !emptied) return;
    over_ = false;
    last_empty_ = now;
  }

  /// Of the tenants that asked within a second of the last head.
  int ActiveTenants() const {
    return static_cast<int>(std::count_if(asked_.begin(), asked_.end(), [&](const auto& one) {
      return now_ - one.second <= std::chrono::seconds(1);
    }));
  }
  bool HasOthers(uint64_t key) const { return key != 0 && ActiveTenants() > 1; }

  Duration WorkOf(uint64_t key) const {
    Duration work{0};
    for (const One& one : queue_) work += one.ticket.tenant_key == key ? one.estimate : Duration(0);
    return work;
  }

  Duration LimitOf(const One& one, Time now) const {
    if (!over_) return std::max(Interval(), Patience(one));
    const uint64_t key = one.ticket.tenant_key;
    const Duration at_once(callers * static_cast<int64_t>(Mean(served_, false)));
    const bool few = callers > 0 && at_once <= Interval() && !HasOthers(key);
    if (few || static_cast<double>(Estimate(one.ticket).count()) < 4 * kRefusalNs) {
      return std::max<Duration>(Interval(), milliseconds(settings_.burst_ms));
    }
    size_t step = static_cast<size_t>(one.ticket.priority);
    if (one.ticket.retried) step = std::min<size_t>(step + 1, 2);
    const double limit = settings_.priority_factors[step] * static_cast<double>(Limit().count());
    const Duration own(static_cast<int64_t>(limit));
    if (!HasOthers(key)) return own;
    const double share = 1.0 / ActiveTenants();
    if (Load(now, key) <= share) return 2 * own;
    return static_cast<double>(WorkOf(key).count()) > share * limit ? Duration(-1) : own;
  }

  Duration Patience(const One& one) const {
    const Duration own = std::min<Duration>(one.ticket.timeout / 4, milliseconds(500));
    return std::max<Duration>(milliseconds(settings_.burst_ms), own);
  }

  Reason Judge(const One& one, Time now) const {
    const Ticket& ticket = one.ticket;
    const Duration estimate = Estimate(ticket);
    if (ticket.timeout > Duration(0) &&
        now - ticket.first_byte + Work() + estimate > ticket.timeout) {
      return Reason::kTimeout;
    }
    uint64_t bytes = ticket.bytes;
    for (const One& held : held_) {
      if (held.ticket.tenant_key == ticket.tenant_key) bytes += held.ticket.bytes;
    }
    if (HasOthers(ticket.tenant_key) && bytes > settings_.tenant_bytes) return Reason::kMemory;
    if (queue_.empty()) return Reason::kNone;
    const Duration limit = LimitOf(one, now);
    if (limit < Duration(0)) return Reason::kShare;
    return Work() > limit ? Reason::kOverloaded : Reason::kNone;
  }

  const Settings settings_;
  std::vector<One> queue_, held_;
  struct Offer {
    Time at;
    Duration work;
    uint64_t key;
  };
  std::deque<Offer> offered_;
  double patience_ = 0;
  std::vector<Duration> served_;
  std::map<int, bool> seen_;
  std::map<int, std::vector<Duration>> last_class_;
  std::map<uint64_t, Time> asked_;
  Time now_{};
  bool over_ = false;
  Time since_{}, last_empty_{}, emptied_{};
};

/// Both, with the same calls.
class LaneModel {
 public:
  explicit LaneModel(uint64_t seed) : dice_(seed), admission_(Set()), naive_(Set()) {
    lane_ = admission_.AddLane({.name = "io0"});
  }

  void Step() {
    now_ += microseconds(Roll(busy_ ? 200 : 900));
    if (Roll(2'000) == 0) busy_ = !busy_;
    if (Roll(3'000) == 0) now_ += milliseconds(Roll(600));  // a stall
    if (Roll(1'000) == 0) {
      naive_.callers = 100 * Roll(8);
      lane_->SetCallers(static_cast<size_t>(naive_.callers));
    }
    const int what = Roll(10);
    if (what < 4) return Head();
    if (what < 7) return Complete();
    if (what < 9) return Take();
    Remove();
  }

  void Check() const {
    ASSERT_EQ(lane_->counters().waiting.load(), static_cast<int64_t>(naive_.waiting()));
    ASSERT_EQ(lane_->counters().work_ns.load(), naive_.Work().count());
    ASSERT_EQ(lane_->counters().overloaded.load(), naive_.over());
  }

  std::map<Reason, int> reasons;

 private:
  static Settings Set() {
    Settings settings;
    settings.tenant_bytes = 200'000;
    return settings;
  }
  struct Held {
    Entry entry;
    int id = 0;
  };

  int Roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(dice_); }

  void Head() {
    auto held = std::make_unique<Held>();
    held->id = ++ids_;
    Ticket& ticket = held->entry.ticket;
    ticket.route = Roll(20) == 0 ? 3 : Roll(3);
    ticket.cls = ticket.route == 0 ? Class::kWrite : Class::kRead;
    ticket.priority = static_cast<Priority>(Roll(3));
    ticket.retried = Roll(5) == 0;
    ticket.tenant_key = static_cast<uint64_t>(Roll(10) < 6 ? 1 : Roll(4));
    ticket.bytes = static_cast<uint64_t>(Roll(5'000));
    ticket.first_byte = now_ - microseconds(Roll(2'000));
    if (Roll(2) == 0) ticket.timeout = milliseconds(1 + Roll(400));
    const Verdict verdict = lane_->Head(&held->entry, now_);
    const Reason expected = naive_.Head({held->id, ticket, {}, {}}, now_);
    ++reasons[verdict.reason];
    ASSERT_EQ(verdict.reason, expected);
    if (verdict.admitted()) reading_.push_back(std::move(held));
  }

  std::unique_ptr<Held> Pick(std::vector<std::unique_ptr<Held>>* from) {
    const size_t at = static_cast<size_t>(Roll(static_cast<int>(from->size())));
    std::unique_ptr<Held> held = std::move((*from)[at]);
    from->erase(from->begin() + static_cast<int64_t>(at));
    return held;
  }

  void Complete() {
    if (reading_.empty()) return;
    auto held = Pick(&reading_);
    const Verdict verdict = lane_->Complete(&held->entry, now_, now_);
    const Reason expected = naive_.Complete({held->id, held->entry.ticket, now_, {}}, now_);
    ++reasons[verdict.reason];
    ASSERT_EQ(verdict.reason, expected);
    if (verdict.admitted()) waiting_.push_back(std::move(held));
  }

  void Take() {
    const Lane::Turn turn = lane_->Take(now_);
    const NaiveLane::Turn expected = naive_.Take(now_);
    ++reasons[turn.verdict.reason];
    ASSERT_EQ(turn.verdict.reason, expected.reason);
    ASSERT_EQ(turn.entry == nullptr, expected.id < 0);
    if (turn.entry == nullptr) return;
    const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const auto& one) { return &one->entry == turn.entry; });
    ASSERT_NE(at, waiting_.end());
    ASSERT_EQ((*at)->id, expected.id);
    if (turn.verdict.admitted()) {
      const Duration took = kCosts[turn.entry->ticket.route];
      now_ += took;
      naive_.Served(turn.entry->ticket, took);
      naive_.Forget(expected.id);
      lane_->Done(turn.entry, took, now_);
    }
    waiting_.erase(at);
  }

  void Remove() {
    std::vector<std::unique_ptr<Held>>* const from = Roll(2) == 0 ? &reading_ : &waiting_;
    if (from->empty() || Roll(3) != 0) return;
    const auto held = Pick(from);
    lane_->Remove(&held->entry);
    naive_.Forget(held->id);
  }

  std::mt19937_64 dice_;
  std::vector<std::unique_ptr<Held>> reading_, waiting_;  // outlive the lane
  Admission admission_;
  Lane* lane_;
  NaiveLane naive_;
  Time now_ = Time(std::chrono::seconds(1'000));
  bool busy_ = false;
  int ids_ = 0;
};

TEST(LaneModelTest, AgreesWithAModelThatKeepsEverything) {
  std::map<Reason, int> reasons;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LaneModel model(seed);
    for (int step = 0; step < 15'000; ++step) {
      model.Step();
      if (!testing::Test::HasFatalFailure()) model.Check();
      if (testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "step " << step;
        return;
      }
    }
    for (const auto& [reason, count] : model.reasons) reasons[reason] += count;
  }
  for (const Reason reason : {Reason::kNone, Reason::kOverloaded, Reason::kShare, Reason::kMemory,
                              Reason::kTimeout, Reason::kStale}) {
    EXPECT_GT(reasons[reason], 20) << kReasonNames[static_cast<size_t>(reason)];
  }
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
