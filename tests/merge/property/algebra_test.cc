// The merge of seen filters is an OR: associative, commutative, idempotent on what is a member,
// whatever RocksDB merges with what, in whatever order, and however often it was delivered.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include <gtest/gtest.h>

#include "filter/block_bloom.h"
#include "format/filter_codec.h"
#include "seendb/policy.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kBegin = 1'000'000'000'000;
constexpr int64_t kMonth = 30LL * 86'400'000;

size_t Between(Random& random, size_t low, size_t high) {
  return std::uniform_int_distribution<size_t>(low, high)(random);
}

// Rules under which lists spill soon, so that small trees meet every form.
FilterRules RandomRules(Random& random) {
  FilterRules rules;
  rules.fpr = 0.0025;
  rules.list_limit = static_cast<uint32_t>(Between(random, 16, 400));
  rules.bytes_max = 1 << 20;
  rules.begin_ms = kBegin;
  rules.end_ms = kBegin + kMonth;
  rules.exact = Between(random, 0, 4) == 0;
  return rules;
}

struct History {
  Fingerprints all;                   // what was played
  std::vector<std::string> operands;  // as drains wrote it
};

// Plays of one bucket, cut into drains; some items more than once.
History RandomHistory(Random& random, size_t items, size_t drains) {
  History history;
  history.all = RandomFingerprints(random, items);
  Fingerprints order = history.all;
  std::shuffle(order.begin(), order.end(), random);
  for (size_t i = 0; i < items / 10; ++i) order.push_back(order[Between(random, 0, items - 1)]);
  std::vector<Fingerprints> parts(drains);
  for (Fingerprint item : order) parts[Between(random, 0, drains - 1)].push_back(item);
  for (size_t i = 0; i < drains; ++i) {
    const auto passed = static_cast<int64_t>(
        static_cast<double>(kMonth) * static_cast<double>(i + 1) / static_cast<double>(drains));
    history.operands.push_back(MergeBench::Delta(kBegin + passed, parts[i]));
  }
  return history;
}

// A whole filter as another node would hand it over: some of the items, Bloom layers.
std::string DenseOperand(Random& random, const Fingerprints& all, FilterRules rules) {
  rules.exact = false;
  rules.list_limit = 16;
  rules.fpr /= 8;
  Fingerprints some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), all.size() / 2, random);
  SeenFilter filter;
  filter.as_of_ms = rules.begin_ms + kMonth / 2;
  filter.Add(some, rules);
  std::string bytes;
  EncodeFilter(filter, {}, &bytes);
  return bytes;
}

TEST(MergeAlgebra, AnyOrderAndAnySplitKeepsEveryItemWithinTheBudget) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 20'000);
  size_t false_positives = 0, probes = 0;
  for (int round = 0; round < 60; ++round) {
    const FilterRules rules = RandomRules(random);
    MergeBench bench(rules);
    const size_t items = Between(random, 1, 1500);
    History history = RandomHistory(random, items, Between(random, 1, 12));
    const bool dense = round % 3 == 0;
    if (dense) history.operands.push_back(DenseOperand(random, history.all, rules));
    const std::string value =
        bench.MergeRandomly(random, history.operands, {.shuffle = true, .seal = round % 2 == 0});
    ASSERT_EQ(CountSeen(value, history.all), history.all.size())
        << "round " << round << ": a played item is gone";
    EXPECT_EQ(Decode(value).dropped_layers, 0u);
    false_positives += CountSeen(value, absent);
    probes += absent.size();
    const std::string sealed = bench.SealWhole(value);
    ASSERT_EQ(CountSeen(sealed, history.all), history.all.size()) << "round " << round;
    false_positives += CountSeen(sealed, absent);
    probes += absent.size();
  }
  const double rate = static_cast<double>(false_positives) / static_cast<double>(probes);
  EXPECT_LE(rate, 0.0025) << "of one bucket of four";
}

// Deltas that are all list: the merged operand is the same bytes whatever the grouping.
TEST(MergeAlgebra, PartialMergesOfListsDoNotDependOnOrderOrGrouping) {
  Random random(test::Seed());
  for (int round = 0; round < 100; ++round) {
    MergeBench bench(RandomRules(random));
    const History history = RandomHistory(random, Between(random, 1, 300), 5);
    const std::string once = bench.Partial(history.operands).value();
    std::vector<std::string> rest = history.operands;
    std::shuffle(rest.begin(), rest.end(), random);
    while (rest.size() > 1) {
      const size_t at = Between(random, 0, rest.size() - 2);
      const auto first = rest.begin() + static_cast<int64_t>(at);
      rest[at] = bench.Partial({*first, *(first + 1)}).value();
      rest.erase(first + 1);
      if (Between(random, 0, 3) == 0) rest.push_back(history.operands[0]);
    }
    ASSERT_EQ(rest[0], once) << "round " << round;
  }
}

// Layers of one geometry OR bit by bit.
TEST(MergeAlgebra, DenseOperandsOfOneGeometryAreAssociativeAndCommutative) {
  Random random(test::Seed());
  FilterRules rules;
  rules.bytes_max = 1 << 20;
  for (int round = 0; round < 50; ++round) {
    MergeBench bench(rules);
    const size_t blocks = Between(random, 8, 40);
    std::vector<std::string> operands;
    std::string all_bits(blocks * kBlockBytes, '\0');
    for (int i = 0; i < 3; ++i) {
      const Fingerprints items = RandomFingerprints(random, blocks * 8);
      Layer layer;
      layer.blocks = static_cast<uint32_t>(blocks);
      layer.capacity = static_cast<uint32_t>(blocks * 40);
      layer.items = static_cast<uint32_t>(items.size());
      layer.bits.assign(blocks * kBlockBytes, '\0');
      auto* bits = reinterpret_cast<uint8_t*>(layer.bits.data());
      InsertMany(bits, blocks, items.data(), items.size());
      OrBlocks(bits, blocks, reinterpret_cast<uint8_t*>(all_bits.data()));
      SeenFilter filter;
      filter.layers.push_back(std::move(layer));
      std::string bytes;
      EncodeFilter(filter, {}, &bytes);
      operands.push_back(std::move(bytes));
    }
    const auto& [a, b, c] = std::tie(operands[0], operands[1], operands[2]);
    const auto bits_of = [](const std::string& value) {
      const SeenFilter filter = Decode(value);
      EXPECT_EQ(filter.layers.size(), 1u);
      return filter.layers.at(0).bits;
    };
    const std::string ab = bench.Partial({a, b}).value(), ba = bench.Partial({b, a}).value();
    const std::string bc = bench.Partial({b, c}).value();
    ASSERT_EQ(bits_of(ab), bits_of(ba));
    ASSERT_EQ(bits_of(bench.Partial({ab, c}).value()), all_bits);
    ASSERT_EQ(bits_of(bench.Partial({a, bc}).value()), all_bits);
    ASSERT_EQ(bits_of(bench.Full({c, ba})), all_bits);
    ASSERT_EQ(bits_of(bench.Full(&a, {bc, a})), all_bits);
    ASSERT_EQ(bench.Full(&ab, {a, b, ab}), bench.Full(&ab, {}));
  }
}

// A value merged onto itself, or with any part of itself, stays as it is.
TEST(MergeAlgebra, IsIdempotent) {
  Random random(test::Seed());
  for (int round = 0; round < 60; ++round) {
    FilterRules rules = RandomRules(random);
    // Every third filter has been at its ceiling, where layers of one size stand side by side.
    const bool small = round % 3 == 0;
    if (small) rules.bytes_max = Between(random, kMinFilterBytes, 4096);
    MergeBench bench(rules);
    const size_t items = small ? 4000 : Between(random, 1, 1500);
    const History history = RandomHistory(random, items, Between(random, 1, 20));
    std::string value;
    for (const std::string& operand : history.operands) {
      value = bench.Full(value.empty() ? nullptr : &value, {operand});
    }
    if (round % 2 == 0) value = bench.SealWhole(value);
    const std::string again = bench.Full(&value, {value});
    ASSERT_EQ(again, value) << "round " << round << ", " << items << " items, bytes_max "
                            << rules.bytes_max << (rules.exact ? ", exact" : "");
    if (small) continue;  // below, a repeat may play an item of a dropped layer again
    const std::string redelivered = bench.Full(&value, history.operands);
    const SeenFilter before = Decode(value), after = Decode(redelivered);
    ASSERT_EQ(after.list, before.list) << "round " << round;
    ASSERT_EQ(after.layers.size(), before.layers.size()) << "round " << round;
    for (size_t i = 0; i < after.layers.size(); ++i) {
      ASSERT_EQ(after.layers[i].bits, before.layers[i].bits) << "round " << round;
    }
  }
}

// A whole filter given as the first operand is taken over as it is: no layer is lost or overfilled.
TEST(MergeAlgebra, AnImportedFilterAtItsCeilingKeepsItsLayersAndItsRate) {
  Random random(test::Seed());
  const Fingerprints absent = RandomFingerprints(random, 100'000);
  FilterRules rules;
  rules.bytes_max = 4096;
  rules.list_limit = 64;
  rules.begin_ms = kBegin;
  rules.end_ms = kBegin + kMonth;
  MergeBench bench(rules);
  std::string value;
  for (int drain = 0; drain < 100; ++drain) {
    const std::string delta =
        MergeBench::Delta(kBegin + kMonth / 100 * drain, RandomFingerprints(random, 200));
    value = bench.Full(value.empty() ? nullptr : &value, {delta});
  }
  const std::string imported = bench.Full({value});
  EXPECT_EQ(Decode(imported).layers.size(), Decode(value).layers.size());
  const double budget = rules.fpr * static_cast<double>(absent.size());
  EXPECT_LE(static_cast<double>(CountSeen(value, absent)), budget + 4 * std::sqrt(budget));
  EXPECT_LE(static_cast<double>(CountSeen(imported, absent)), budget + 4 * std::sqrt(budget));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
