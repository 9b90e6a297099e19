// The false-positive rate over a full window stays under the policy's, for light, median and very
// heavy users: three sealed months and the open one, at full scale, through the merge operator.

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "seendb/policy.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kDay = 86'400'000;
constexpr int64_t kJanuary = 1'767'225'600'000;  // 2026-01-01

struct Measured {
  uint64_t misses = 0;  // played items not found
  uint64_t hits = 0;    // absent items found
  uint64_t probes = 0;
  uint64_t bytes = 0;
  uint64_t items = 0;

  double rate() const { return static_cast<double>(hits) / static_cast<double>(probes); }
  // The budget, and four standard deviations of the measurement.
  double limit(double fpr) const { return fpr + 4 * std::sqrt(fpr / static_cast<double>(probes)); }
};

// One user's month as drains deliver it: `drains` deltas, merged now and then.
std::string Month(Random& random, MergeBench& bench, const FilterRules& rules,
                  const Fingerprints& items, size_t drains, double passed) {
  const auto span = static_cast<double>(rules.end_ms - rules.begin_ms) * passed;
  std::vector<Fingerprints> parts(drains);
  for (Fingerprint item : items) parts[random() % drains].push_back(item);
  std::string value;
  std::vector<std::string> operands;
  for (size_t i = 0; i < drains; ++i) {
    if (parts[i].empty()) continue;
    const double now = span * static_cast<double>(i + 1) / static_cast<double>(drains);
    operands.push_back(
        MergeBench::Delta(rules.begin_ms + static_cast<int64_t>(now), std::move(parts[i])));
    if (random() % 8 != 0) continue;
    if (operands.size() > 2 && random() % 2 == 0) {
      if (const auto merged = bench.Partial(operands)) operands = {*merged};
      continue;
    }
    value = bench.Full(value.empty() ? nullptr : &value, operands);
    operands.clear();
  }
  return bench.Full(value.empty() ? nullptr : &value, operands);
}

// A user's window: three sealed months and the open one, a part of which has passed.
void MeasureUser(Random& random, const Policy& policy, size_t items_a_month, double open_passed,
                 const Fingerprints& absent, Measured* sum) {
  std::vector<uint8_t> found(absent.size(), 0);
  for (int month = 0; month < 4; ++month) {
    FilterRules rules;
    rules.fpr = policy.fpr / policy.window;
    rules.begin_ms = kJanuary + month * 30 * kDay;
    rules.end_ms = rules.begin_ms + 30 * kDay;
    rules.bytes_max = EffectiveMaxFilterBytes(policy);
    rules.exact = policy.representation == Representation::kExact;
    MergeBench bench(rules);
    const bool open = month == 3;
    const double passed = open ? open_passed : 1;
    const auto count = static_cast<size_t>(static_cast<double>(items_a_month) * passed);
    const Fingerprints items = RandomFingerprints(random, std::max<size_t>(count, 1));
    const size_t drains = std::min<size_t>(items.size(), 120);
    std::string value = Month(random, bench, rules, items, drains, passed);
    if (!open) value = random() % 2 == 0 ? bench.SealWhole(value) : bench.FullSealing(&value, {});
    sum->misses += items.size() - CountSeen(value, items);
    sum->bytes += value.size();
    sum->items += items.size();
    const SeenFilter filter = Decode(value);
    EXPECT_EQ(filter.dropped_layers, 0u) << items_a_month << " items a month reach the ceiling";
    for (size_t i = 0; i < absent.size(); ++i)
      if (filter.Contains(absent[i])) found[i] = 1;
  }
  for (uint8_t hit : found) sum->hits += hit;
  sum->probes += absent.size();
}

void Check(const char* who, const Measured& m, double fpr) {
  std::cout << who << ": rate " << m.rate() << ", "
            << static_cast<double>(m.bytes) / static_cast<double>(m.items) << " bytes an item, "
            << m.items << " items\n";
  EXPECT_EQ(m.misses, 0u) << who;
  EXPECT_LE(m.rate(), m.limit(fpr)) << who;
}

struct Kind {
  const char* who;
  size_t items_a_month;
  int users;
};
constexpr Kind kKinds[] = {{"light", 30, 200}, {"median", 3'300, 8}, {"heavy", 100'000, 1}};

TEST(MergeFpr, HoldsOverTheWindowForEveryKindOfUser) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 10'000);
  const Fingerprints many_absent = RandomFingerprints(random, 100'000);
  const Policy policy;
  for (const Kind& kind : kKinds) {
    Measured sum;
    for (int user = 0; user < kind.users; ++user) {
      MeasureUser(random, policy, kind.items_a_month, user % 2 == 0 ? 0.5 : 0.95,
                  kind.users > 20 ? absent : many_absent, &sum);
    }
    Check(kind.who, sum, policy.fpr);
  }
}

TEST(MergeFpr, TightAndLooseBudgetsHold) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 100'000);
  for (const double fpr : {0.0005, 0.05}) {
    Policy policy;
    policy.fpr = fpr;
    Measured sum;
    for (int user = 0; user < 4; ++user) {
      MeasureUser(random, policy, 3'300, 0.9, absent, &sum);
      MeasureUser(random, policy, 9'000, 0.3, absent, &sum);
    }
    Check("3,300 and 9,000", sum, fpr);
  }
}

TEST(MergeFpr, ExactIsExact) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 100'000);
  Policy policy;
  policy.representation = Representation::kExact;
  Measured sum;
  MeasureUser(random, policy, 9'000, 0.5, absent, &sum);
  EXPECT_EQ(sum.misses, 0u);
  EXPECT_EQ(sum.hits, 0u);
}

// A user who suddenly plays ten times as much, and one who stops: the layers follow.
TEST(MergeFpr, SpeedsThatChangeKeepTheBudgetAndTheBytesInBounds) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 100'000);
  const Policy policy;
  Measured sum;
  for (const std::pair<size_t, size_t>& halves :
       {std::pair<size_t, size_t>{3'000, 30'000}, {30'000, 300}, {5'000, 5'000}}) {
    FilterRules rules;
    rules.fpr = policy.fpr / policy.window;
    rules.begin_ms = kJanuary;
    rules.end_ms = kJanuary + 30 * kDay;
    rules.bytes_max = EffectiveMaxFilterBytes(policy);
    MergeBench bench(rules);
    const Fingerprints first = RandomFingerprints(random, halves.first);
    const Fingerprints second = RandomFingerprints(random, halves.second);
    std::string value = Month(random, bench, rules, first, 100, 0.5);
    for (size_t day = 15; day < 30; ++day) {
      const size_t begin = second.size() * (day - 15) / 15, end = second.size() * (day - 14) / 15;
      const Fingerprints part(second.begin() + static_cast<int64_t>(begin),
                              second.begin() + static_cast<int64_t>(end));
      value = bench.Full(&value,
                         {MergeBench::Delta(kJanuary + static_cast<int64_t>(day) * kDay, part)});
    }
    const auto take = [&](const std::string& bytes) {
      sum.misses += first.size() - CountSeen(bytes, first);
      sum.misses += second.size() - CountSeen(bytes, second);
      sum.hits += CountSeen(bytes, absent);
      sum.probes += absent.size();
    };
    take(value);
    EXPECT_LE(Decode(value).layers.size(), 5u) << halves.first << " then " << halves.second;
    const std::string sealed = bench.SealWhole(value);
    take(sealed);
    sum.bytes += sealed.size();
    sum.items += first.size() + second.size();
  }
  Check("changing", sum, policy.fpr / policy.window);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
