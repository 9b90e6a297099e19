// The ceiling: the oldest layer goes, the rate never rises, and an item absent from the newest
// layer is inserted again. Played against a model that knows which layer took which item.

#include <map>

#include <gtest/gtest.h>

#include "format/filter_codec.h"
#include "seendb/policy.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

size_t Below(Random& random, size_t end) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(random);
}

// Layers ever made, the dropped ones included: the ordinal of the newest.
uint64_t NewestOrdinal(const SeenFilter& filter) {
  return filter.dropped_layers + filter.layers.size();
}

// The rate of false positives, as a share of the budget. A filter of a few blocks is by chance a
// good or a bad one (a sixth of the budget either way): the budget is kept by the mean of many.
class Rates {
 public:
  explicit Rates(double budget) : budget_(budget) {}
  void Add(const std::string& value, const Fingerprints& absent) {
    const double hits = static_cast<double>(CountSeen(value, absent));
    const double share = hits / (budget_ * static_cast<double>(absent.size()));
    EXPECT_LE(share, 2);
    sum_ += share;
    ++filters_;
  }
  double Mean() const { return sum_ / filters_; }

 private:
  const double budget_;
  double sum_ = 0;
  int filters_ = 0;
};

TEST(MergeCeiling, TheOldestLayerGoesAndTheNewestItemsStay) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 50'000);
  Rates live(FilterRules().fpr), sealed_ones(FilterRules().fpr);
  for (int round = 0; round < 8; ++round) {
    FilterRules rules;
    rules.list_limit = 32;
    rules.bytes_max = 512 + 512 * Below(random, 4);
    rules.end_ms = 1'000'000;
    MergeBench bench(rules);
    std::map<Fingerprint, uint64_t> home;  // item -> ordinal of the newest layer that holds it
    Fingerprints played;
    std::string value;
    uint64_t forgotten = 0;
    for (int step = 0; step < 3000; ++step) {
      // New items and, now and then, one played before.
      const bool repeat = !played.empty() && Below(random, 3) == 0;
      const Fingerprint item =
          repeat ? played[Below(random, played.size())] : random() & kFingerprintMask;
      const SeenFilter before = value.empty() ? SeenFilter() : Decode(value);
      const bool in_newest = !before.layers.empty() && before.layers.back().Contains(item);
      value = bench.Full(value.empty() ? nullptr : &value,
                         {MergeBench::Delta(step * rules.end_ms / 3000, {item})});
      const SeenFilter after = Decode(value);
      ASSERT_TRUE(after.Contains(item)) << "step " << step;
      ASSERT_LE(after.Bytes(), rules.bytes_max) << "step " << step;
      ASSERT_GE(NewestOrdinal(after), NewestOrdinal(before));
      if (before.dropped_layers > 0 && !in_newest) {
        ASSERT_TRUE(after.layers.back().Contains(item)) << "not inserted again, step " << step;
      }
      if (after.layers.empty()) {
        home[item] = 1;  // the list becomes the first layer
      } else if (after.layers.back().Contains(item)) {
        home[item] = NewestOrdinal(after);
      }
      if (!repeat) played.push_back(item);
    }
    const SeenFilter last = Decode(value);
    ASSERT_GT(last.dropped_layers, 0u) << "the ceiling was never reached";
    EXPECT_EQ(bench.counters().layers_dropped.load(), last.dropped_layers);
    EXPECT_EQ(bench.counters().layers_created.load(), NewestOrdinal(last));
    for (const auto& [item, ordinal] : home) {
      if (ordinal > last.dropped_layers) {
        ASSERT_TRUE(last.Contains(item)) << "of a layer that is still there";
      } else {
        forgotten += last.Contains(item) ? 0 : 1;
      }
    }
    EXPECT_GT(forgotten, 0u) << "a dropped layer's items are still there: nothing was dropped";
    live.Add(value, absent);
    // Sealing neither forgets nor raises the rate, and the ceiling holds for late items as well.
    std::string sealed = bench.SealWhole(value);
    ASSERT_GE(CountSeen(sealed, played), CountSeen(value, played));
    const Fingerprints late = RandomFingerprints(random, 2000);
    sealed = bench.FullSealing(&sealed, {MergeBench::Delta(rules.end_ms, late)});
    EXPECT_LE(Decode(sealed).Bytes(), rules.bytes_max);
    sealed_ones.Add(sealed, absent);
  }
  EXPECT_LE(live.Mean(), 1.1);
  EXPECT_LE(sealed_ones.Mean(), 1.1);
}

// In big steps, through random trees of merges: the items of the last delta are always there.
TEST(MergeCeiling, ADeltaLargerThanTheCeilingLeavesItsNewestLayers) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 50'000);
  FilterRules rules;
  rules.list_limit = 32;
  rules.bytes_max = 8192;
  rules.end_ms = 1'000'000;
  MergeBench bench(rules);
  const std::string value =
      bench.Full({MergeBench::Delta(500'000, RandomFingerprints(random, 40'000))});
  EXPECT_LE(Decode(value).Bytes(), rules.bytes_max);
  EXPECT_GT(Decode(value).dropped_layers, 0u);
  Rates rates(rules.fpr);
  rates.Add(value, absent);
  const Fingerprints last = RandomFingerprints(random, 500);
  const std::string then = bench.Full(&value, {MergeBench::Delta(600'000, last)});
  EXPECT_EQ(CountSeen(then, last), last.size());
  EXPECT_LE(Decode(then).Bytes(), rules.bytes_max);
}

// Many operands at once push each other out by age, not by number: the last ones stay.
TEST(MergeCeiling, OfManyOperandsTheLastOnesStay) {
  Random random(test::Seed());
  FilterRules rules;
  rules.list_limit = 32;
  rules.bytes_max = 4096;
  rules.end_ms = 1'000'000;
  for (int round = 0; round < 20; ++round) {
    MergeBench bench(rules);
    std::vector<std::string> operands;
    std::vector<Fingerprints> runs;
    for (int i = 0; i < 20; ++i) {
      runs.push_back(RandomFingerprints(random, 50 + Below(random, 200)));
      operands.push_back(MergeBench::Delta(i * 50'000, runs.back()));
    }
    const std::string value =
        bench.MergeRandomly(random, operands, {.shuffle = false, .seal = false, .again = false});
    EXPECT_GT(Decode(value).dropped_layers, 0u);
    EXPECT_EQ(CountSeen(value, runs.back()), runs.back().size());
    EXPECT_EQ(CountSeen(value, runs[18]), runs[18].size());
  }
}

// The default has the room it promises, for a steady user and for one who plays more every day.
TEST(MergeCeiling, TheDefaultHoldsWhatItIsMeantFor) {
  Random random(test::Seed());
  FilterRules rules;
  rules.fpr = Policy().fpr / Policy().window;
  rules.bytes_max = EffectiveMaxFilterBytes(Policy());
  rules.end_ms = 31 * int64_t{86'400'000};
  constexpr size_t kItems = 130'000, kDrains = 31;
  for (const bool speeds_up : {false, true}) {
    MergeBench bench(rules);
    std::string value;
    size_t items = 0;
    for (size_t drain = 1; drain <= kDrains; ++drain) {
      const size_t until =
          speeds_up ? kItems * drain * drain / (kDrains * kDrains) : kItems * drain / kDrains;
      const auto at_ms = rules.end_ms / static_cast<int64_t>(kDrains) * static_cast<int64_t>(drain);
      const std::string delta = MergeBench::Delta(at_ms, RandomFingerprints(random, until - items));
      value = bench.Full(value.empty() ? nullptr : &value, {delta});
      items = until;
    }
    EXPECT_EQ(Decode(value).dropped_layers, 0u) << (speeds_up ? "speeding up" : "steady");
  }
}

// The exact representation at its ceiling: shorter memory, still exact.
TEST(MergeCeiling, ExactListsAreFrozenAndDroppedOldestFirst) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 50'000);
  FilterRules rules;
  rules.exact = true;
  rules.bytes_max = 24 * 100;  // a frozen layer holds 100 items
  MergeBench bench(rules);
  Fingerprints played;
  std::string value;
  for (int step = 0; step < 60; ++step) {
    const Fingerprints fresh = RandomFingerprints(random, 1 + Below(random, 40));
    value = bench.Full(value.empty() ? nullptr : &value, {MergeBench::Delta(step, fresh)});
    played.insert(played.end(), fresh.begin(), fresh.end());
    ASSERT_LE(Decode(value).Bytes(), rules.bytes_max);
    const size_t kept = std::min<size_t>(played.size(), 200);
    const Fingerprints newest(played.end() - static_cast<int64_t>(kept), played.end());
    ASSERT_EQ(CountSeen(value, newest), kept) << "step " << step;
    ASSERT_EQ(CountSeen(value, absent), 0u);
    if (Below(random, 5) == 0) value = bench.SealWhole(value);
  }
  EXPECT_GT(Decode(value).dropped_layers, 0u);
  EXPECT_LT(CountSeen(value, played), played.size());
}

TEST(MergeCeiling, ManyOperandsBelowItMakeOneLayer) {
  Random random(test::Seed());
  FilterRules rules;
  rules.end_ms = 1'000'000;
  MergeBench bench(rules);
  std::vector<std::string> operands;
  constexpr size_t kOperands = 200, kItemsEach = 100;
  for (size_t i = 0; i < kOperands; ++i) {
    operands.push_back(MergeBench::Delta(rules.end_ms, RandomFingerprints(random, kItemsEach)));
  }
  const SeenFilter filter = Decode(bench.Full(nullptr, operands));
  EXPECT_EQ(filter.layers.size(), 1u);
  EXPECT_GE(filter.Items(), kOperands * kItemsEach * 99 / 100) << "but for false positives";
  EXPECT_LT(filter.Bytes(), kOperands * kItemsEach * 21 / 10) << "nearly two layers' room";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
