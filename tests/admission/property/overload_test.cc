// What the lane makes of too much work, in virtual time: how near to the bound that the cost of a
// refusal sets, and for whom.

#include <memory>
#include <ostream>

#include <gtest/gtest.h>

#include "admission/virtual_loop.h"

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

struct Case {
  Work work;
  double k;
  double least;  // of the bound
};

std::ostream& operator<<(std::ostream& out, const Case& of) {
  return out << of.work.name << " at " << of.k;
}

/// `k` times the capacity for 8 s, then 0.6 times.
std::unique_ptr<VirtualLoop> RunAt(const Work& work, double k, VirtualLoop::Options options = {}) {
  auto loop = std::make_unique<VirtualLoop>(work.costs, options);
  loop->Run(Load(work, 10, [k](double s) { return s < 8 ? k : .6; }));
  return loop;
}

double GoodOfCapacity(const VirtualLoop& loop, const Work& work, double seconds, int group = 0) {
  return static_cast<double>(loop.report(group).good) / work.Capacity() / seconds;
}

class OverloadGoodput : public testing::TestWithParam<Case> {};

TEST_P(OverloadGoodput, IsNearTheBound) {
  const auto& [work, k, least] = GetParam();
  const auto loop = RunAt(work, k);
  const Report& report = loop->report();
  const double of_bound = GoodOfCapacity(*loop, work, 4) / work.Bound(k);
  RecordProperty("of_bound", std::to_string(of_bound));
  EXPECT_GE(of_bound, least);
  EXPECT_LE(static_cast<double>(report.late), .01 * static_cast<double>(report.offered));
  EXPECT_LE(Report::Percentile(report.refused_ms, .99), 20 * std::max(1.0, work.Mean() / 1'000));
  if (k >= 2) {
    EXPECT_LE(loop->flips(), 2u);
  }
  EXPECT_LE(loop->last_refused_s(), 8.5);
  EXPECT_EQ(loop->refused_while_empty(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Works, OverloadGoodput,
                         testing::Values(Case{kFilters20k, 1.2, .97}, Case{kFilters20k, 2, .97},
                                         Case{kFilters20k, 4, .97}, Case{kFilters20k, 10, .97},
                                         Case{kFilters5k, 1.2, .97}, Case{kFilters5k, 2, .97},
                                         Case{kFilters5k, 4, .97}, Case{kBimodal, 1.2, .92},
                                         Case{kBimodal, 2, .92}, Case{kBimodal, 4, .92},
                                         Case{kSlow, 1.2, .92}, Case{kSlow, 2, .92},
                                         Case{kSlow, 4, .92}, Case{kSlow, 10, .92}));

TEST(OverloadTest, NothingIsRefusedBelowCapacity) {
  struct Least {
    Work work;
    double at_70, at_90;
  };
  for (const Least& of : {Least{kFilters20k, 0, .01}, Least{kFilters5k, 0, .01},
                          Least{kBimodal, .03, .05}, Least{kSlow, .01, .05}}) {
    EXPECT_LE(RunAt(of.work, .7)->report().Refused(), of.at_70) << of.work.name;
    EXPECT_LE(RunAt(of.work, .9)->report().Refused(), of.at_90) << of.work.name;
  }
}

TEST(OverloadTest, EstimatesMayBeWrong) {
  for (const double error : {.5, 2.0}) {
    for (const double k : {1.2, 2.0, 4.0}) {
      for (const Work& work : {kFilters20k, kSlow}) {
        VirtualLoop::Options options;
        options.estimate_error = error;
        const auto loop = RunAt(work, k, options);
        EXPECT_GE(GoodOfCapacity(*loop, work, 4) / work.Bound(k), .91)
            << work.name << " at " << k << ", estimates times " << error;
      }
    }
  }
}

TEST(OverloadTest, ABurstIsTakenFromThoseWhoSayHowLongTheyWait) {
  VirtualLoop::Options options;
  options.from_s = 2;
  options.to_s = 9;
  const auto burst = [](double s) { return std::fmod(s, 1) < .15 ? 3. : .5; };
  double refused[2];
  for (const bool told : {false, true}) {
    VirtualLoop loop(kFilters20k.costs, options);
    loop.Run(Load(kFilters20k, 9, burst, [&](Coming* one, double) {
      if (told) one->ticket.timeout = std::chrono::seconds(1);
    }));
    refused[told] = loop.report().Refused();
    EXPECT_EQ(loop.report().late, 0u);
  }
  EXPECT_LE(refused[1], .15);
  EXPECT_LT(refused[1], refused[0]);
}

TEST(OverloadTest, AStallCostsWhatItLasts) {
  VirtualLoop::Options options;
  options.stall_every_s = 2;
  options.stall_s = .3;
  options.to_s = 10;
  options.from_s = 2;
  VirtualLoop calm(kFilters20k.costs, options);
  calm.Run(Load(kFilters20k, 10, [](double) { return .6; }));
  EXPECT_LE(calm.report().Refused() + static_cast<double>(calm.report().late) / 1e4, .15);
  VirtualLoop over(kFilters20k.costs, options);
  over.Run(Load(kFilters20k, 10, [](double) { return 4.; }));
  const double left = (2 - .3) / 2;  // of the time
  EXPECT_GE(GoodOfCapacity(over, kFilters20k, 8), .9 * left * kFilters20k.Bound(4 / left));
}

TEST(OverloadTest, ATenantThatFloodsDoesNotTakeTheOthersShare) {
  VirtualLoop loop(kFilters20k.costs, {});
  loop.Run(Load(
      kFilters20k, 8, [](double) { return 10.3; },
      [](Coming* one, double chance) {
        one->group = chance < .3 / 10.3 ? 1 : 0;
        one->ticket.tenant_key = static_cast<uint64_t>(one->group) + 1;
      }));
  EXPECT_GE(loop.report(1).Good(), .98);
  EXPECT_GE(GoodOfCapacity(loop, kFilters20k, 4, 0) + GoodOfCapacity(loop, kFilters20k, 4, 1),
            .9 * kFilters20k.Bound(10.3));
}

TEST(OverloadTest, TheImportantAreAnsweredFirst) {
  VirtualLoop loop(kFilters20k.costs, {});
  loop.Run(Load(
      kFilters20k, 8, [](double) { return 4.; },
      [](Coming* one, double chance) {
        one->group = chance < .2 ? 0 : chance < .8 ? 1 : 2;
        one->ticket.priority = static_cast<Priority>(one->group);
      }));
  EXPECT_GE(loop.report(0).Good(), .95);
  double all = 0;
  for (int group = 0; group < 3; ++group) all += GoodOfCapacity(loop, kFilters20k, 4, group);
  EXPECT_GE(all, .8);
}

/// How clients repeat what was refused or came too late, three times at most.
enum class Retries { kAtOnce, kAfterAWhile, kBudget };

/// What was answered in time from 2 s after a load of 3 for 2 s over .8, by what was asked first.
double RecoveredWith(Retries kind) {
  VirtualLoop::Options options;
  options.from_s = 7;
  options.to_s = 12;
  VirtualLoop loop(kFilters20k.costs, options);
  std::mt19937_64 dice(5);
  std::uniform_real_distribution<double> chance(0, 1);
  double budget = 10;
  loop.again = [&](const Coming& of, Time now, std::vector<Coming>* more) {
    if (of.tries == 3) return;
    if (kind == Retries::kBudget) {
      budget = std::max(budget - 1, 0.0);
      if (budget < 5) return;
    }
    Coming one = of;
    ++one.tries;
    one.ticket.retried = true;
    one.group = 1;
    const double wait_s =
        kind == Retries::kAfterAWhile ? 1 + chance(dice) : 1e-4 + 1e-3 * chance(dice);
    one.at = now + Ns(1e6 * wait_s);
    more->push_back(one);
  };
  loop.Run(Load(
      kFilters20k, 12, [](double s) { return s > 3 && s < 5 ? 3. : .8; },
      [](Coming* one, double) { one->ticket.timeout = std::chrono::seconds(1); }));
  return loop.report(0).Good();
}

TEST(OverloadTest, AStormOfRetriesEnds) {
  EXPECT_GE(RecoveredWith(Retries::kAtOnce), .99);
  EXPECT_GE(RecoveredWith(Retries::kBudget), .99);
  // Those that come again after a while keep the server full, with first tries answered before
  // them.
  EXPECT_GE(RecoveredWith(Retries::kAfterAWhile), .9);
}

TEST(OverloadTest, DegradedItAnswersMoreAndSettles) {
  VirtualLoop::Options options;
  options.degrades = true;
  for (const double k : {1.2, 2.0, 4.0}) {
    VirtualLoop loop(kFilters20k.costs, options);
    loop.Run(Load(kFilters20k, 8, [k](double) { return k; }));
    const double good = GoodOfCapacity(loop, kFilters20k, 4);
    EXPECT_GE(good, k < 2 ? 1.15 : 1.25) << k;
    const auto& changes = loop.level_changes_s();
    const auto settled =
        std::count_if(changes.begin(), changes.end(), [](double s) { return s > 4; });
    EXPECT_LE(settled, 4) << k;
    EXPECT_GT(loop.admission().degrade().level(), 0) << k;
  }
}

TEST(OverloadTest, TheLevelFallsAfterTheLoad) {
  VirtualLoop::Options options;
  options.degrades = true;
  VirtualLoop loop(kFilters20k.costs, options);
  loop.Run(Load(kFilters20k, 14, [](double s) { return s < 4 ? 2. : .3; }));
  ASSERT_FALSE(loop.level_changes_s().empty());
  EXPECT_EQ(loop.admission().degrade().level(), 0);
  EXPECT_LE(loop.level_changes_s().back(), 4 + 6.5);
}

TEST(OverloadTest, CheapRequestsOfConnectionsAreAnswered) {
  VirtualLoop loop(kCheap.costs, {});
  loop.next = [](const Coming& of, Time now, Coming* one) {
    *one = of;
    one->at = now + std::chrono::microseconds(100);
    return now < AtS(8);
  };
  std::vector<Coming> connections = Load(kCheap, .01, [](double) { return 2.; });
  connections.resize(256, connections.front());
  loop.Run(std::move(connections));
  EXPECT_GE(GoodOfCapacity(loop, kCheap, 4), .85);
}

TEST(OverloadTest, WhatAPersonRefusesIsRefusedAtOnce) {
  VirtualLoop loop(kFilters20k.costs, {});
  Degrade::Order order;
  order.refuse[static_cast<size_t>(Priority::kLow)] = true;
  order.length = std::chrono::hours(1);
  loop.admission().degrade().ByHand(order, Time{});
  loop.Run(Load(
      kFilters20k, 8, [](double) { return .5; },
      [](Coming* one, double chance) {
        one->group = chance < .5 ? 0 : 1;
        one->ticket.priority = one->group == 0 ? Priority::kNormal : Priority::kLow;
      }));
  EXPECT_EQ(loop.report(0).refused, 0u);
  EXPECT_EQ(loop.report(1).good, 0u);
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
