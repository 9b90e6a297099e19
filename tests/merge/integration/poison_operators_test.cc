// Arbitrary bytes as operand or base never fail a merge; they are set aside, counted, and do not
// take the sound operands with them.

#include <algorithm>

#include <gtest/gtest.h>

#include "format/filter_codec.h"
#include "format/impressions_codec.h"
#include "format/user_codec.h"
#include "merge/small_operators.h"
#include "support/merge_bench.h"
#include "support/poison.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

FilterRules SmallRules(Random& random) {
  FilterRules rules;
  rules.list_limit = 16 + static_cast<uint32_t>(random() % 100);
  rules.bytes_max = 1 << (10 + random() % 10);
  rules.end_ms = 1'000'000;
  rules.exact = random() % 5 == 0;
  return rules;
}

// A sound value: list, layers or sealed.
std::string SoundValue(Random& random, MergeBench& bench, const Fingerprints& items) {
  std::string value =
      bench.Full({MergeBench::Delta(static_cast<int64_t>(random() % 1'000'000), items)});
  return random() % 3 == 0 ? bench.SealWhole(value) : value;
}

std::string Poison(Random& random, const std::string& sound) {
  switch (random() % 3) {
    case 0:
      return Noise(random, random() % 300);
    case 1:
      return Damaged(random, sound);
    default:
      return std::string(1, sound[0]) + Noise(random, random() % 40);
  }
}

DamageSet DamageIn(const std::string& value) {
  FilterView view;
  DamageSet damage;
  EXPECT_TRUE(view.Parse(value));
  if (!view.damage.empty()) {
    EXPECT_TRUE(DamageSet::Read(view.damage, &damage));
  }
  return damage;
}

TEST(PoisonedOperators, SeenFiltersKeepWhatIsSound) {
  Random random(test::Seed());
  for (int round = 0; round < 400; ++round) {
    FilterRules rules = SmallRules(random);
    rules.bytes_max = 1 << 20;
    MergeBench bench(rules);
    const Fingerprints items = RandomFingerprints(random, 1 + random() % 300);
    const Fingerprints more = RandomFingerprints(random, 1 + random() % 300);
    const std::string sound = SoundValue(random, bench, items);
    std::vector<std::string> poisons;
    for (size_t i = 0; i <= random() % 12; ++i) poisons.push_back(Poison(random, sound));
    std::vector<std::string> operands = poisons;
    operands.push_back(MergeBench::Delta(5, more));
    operands.push_back(poisons[0]);  // delivered again
    const std::string value = random() % 2 == 0
                                  ? bench.Full(&sound, operands)
                                  : bench.MergeRandomly(random,
                                                        [&] {
                                                          std::vector<std::string> all = operands;
                                                          all.push_back(sound);
                                                          return all;
                                                        }(),
                                                        {.shuffle = true, .seal = true});
    ASSERT_EQ(CountSeen(value, items), items.size()) << "round " << round;
    ASSERT_EQ(CountSeen(value, more), more.size()) << "round " << round;
    std::sort(poisons.begin(), poisons.end());
    poisons.erase(std::unique(poisons.begin(), poisons.end()), poisons.end());
    const DamageSet damage = DamageIn(value);
    EXPECT_EQ(damage.entries.size(), std::min<size_t>(poisons.size(), kDamageKept));
    EXPECT_EQ(damage.overflow, poisons.size() > kDamageKept);
    EXPECT_GE(bench.counters().damaged.load(), poisons.size());
    // Set aside once, however often it comes, and kept through a seal.
    EXPECT_EQ(DamageIn(bench.Full(&value, operands)).entries.size(), damage.entries.size());
    EXPECT_EQ(DamageIn(bench.SealWhole(value)).entries.size(), damage.entries.size());
  }
}

TEST(PoisonedOperators, APoisonedBaseIsSetAsideAndTheOperandsCount) {
  Random random(test::Seed());
  for (int round = 0; round < 300; ++round) {
    MergeBench bench(SmallRules(random));
    const Fingerprints items = RandomFingerprints(random, 20);
    const std::string base = Poison(random, SoundValue(random, bench, items));
    const Fingerprints more = RandomFingerprints(random, 10);
    const std::string value = bench.Full(&base, {MergeBench::Delta(5, more)});
    EXPECT_EQ(CountSeen(value, more), more.size());
    const DamageSet damage = DamageIn(value);
    ASSERT_EQ(damage.entries.size(), 1u);
    EXPECT_EQ(damage.entries[0].length, base.size());
    EXPECT_EQ(damage.entries[0].prefix, base.substr(0, kDamageBytes));
    EXPECT_EQ(bench.SealWhole(base), base) << "a seal leaves what it can't read";
  }
}

// The checksum fits, the numbers are anything: nothing crashes, every result can be read.
TEST(PoisonedOperators, ForgedValuesMergeToReadableOnes) {
  Random random(test::Seed());
  for (int round = 0; round < 4000; ++round) {
    MergeBench bench(SmallRules(random));
    const Fingerprints items = RandomFingerprints(random, 1 + random() % 200);
    const std::string sound = SoundValue(random, bench, items);
    const std::string forged = Forged(random, sound);
    const std::string another = Forged(random, forged);
    const std::string delta = MergeBench::Delta(5, RandomFingerprints(random, 50));
    std::string value = bench.Full(&forged, {delta, another});
    value = bench.Full(&value, {forged, delta});
    value = bench.FullSealing(&value, {forged, delta});
    value = bench.Full(&value, {bench.SealWhole(forged), delta});
    if (const auto partial = bench.Partial({forged, delta, another})) {
      value = bench.Full(&*partial, {delta});
    }
    ASSERT_EQ(CountSeen(value, Decode(delta).list), Decode(delta).list.size()) << "round " << round;
  }
}

std::string FoldAll(const rocksdb::MergeOperator& merge, const std::string* base,
                    const std::vector<std::string>& operands) {
  const std::vector<rocksdb::Slice> slices(operands.begin(), operands.end());
  std::string value = "left over from another key";
  rocksdb::Slice existing(base == nullptr ? std::string_view() : std::string_view(*base));
  rocksdb::Slice operand(nullptr, 0);
  const rocksdb::Slice key("user");
  const rocksdb::MergeOperator::MergeOperationInput in(key, base == nullptr ? nullptr : &existing,
                                                       slices, nullptr);
  rocksdb::MergeOperator::MergeOperationOutput out(value, operand);
  EXPECT_TRUE(merge.FullMergeV2(in, &out));
  std::string partial;
  EXPECT_TRUE(merge.PartialMergeMulti("user", {slices.begin(), slices.end()}, &partial, nullptr));
  return value;
}

TEST(PoisonedOperators, ImpressionsKeepWhatIsSound) {
  Random random(test::Seed());
  auto rules = std::make_shared<ImpressionRules>();
  rules->counters = std::make_shared<Counters>();
  const auto merge = NewImpressionsOperator(rules);
  for (int round = 0; round < 2000; ++round) {
    ImpressionList list;
    for (uint32_t i = 0; i < 10; ++i) list.entries.push_back({1000, 1, i, i});
    list.Normalize(100);
    std::string sound;
    list.Encode(&sound);
    const std::string poison = Poison(random, sound), forged = Forged(random, sound);
    ImpressionList got;
    ASSERT_TRUE(got.Parse(FoldAll(*merge, nullptr, {poison, sound})));
    EXPECT_EQ(got.entries.size(), 10u);
    EXPECT_EQ(got.damage.entries.size(), 1u);
    ASSERT_TRUE(got.Parse(FoldAll(*merge, &poison, {sound, poison})));
    EXPECT_EQ(got.entries.size(), 10u);
    EXPECT_EQ(got.damage.entries.size(), 1u);
    ASSERT_TRUE(got.Parse(FoldAll(*merge, &forged, {sound, forged})));
    EXPECT_GE(got.entries.size(), 10u);
  }
  EXPECT_GT(rules->counters->damaged.load(), 0u);
}

TEST(PoisonedOperators, UserRecordsKeepWhatIsSound) {
  Random random(test::Seed());
  const auto counters = std::make_shared<Counters>();
  const auto merge = NewUsersOperator(counters);
  for (int round = 0; round < 2000; ++round) {
    UserRecord record;
    record.erased_seq = 77;
    record.erased_at_ms = 88;
    std::string sound;
    record.Encode(&sound);
    const std::string poison = Poison(random, sound), forged = Forged(random, sound);
    UserRecord got;
    ASSERT_TRUE(got.Parse(FoldAll(*merge, &sound, {poison})));
    EXPECT_TRUE(got.damaged);
    EXPECT_EQ(got.erased_seq, 77u);
    EXPECT_EQ(got.erased_at_ms, 88);
    ASSERT_TRUE(got.Parse(FoldAll(*merge, &poison, {sound, poison})));
    EXPECT_TRUE(got.damaged);
    EXPECT_EQ(got.erased_seq, 77u);
    ASSERT_TRUE(got.Parse(FoldAll(*merge, &forged, {sound})));
    EXPECT_GE(got.erased_seq, 77u);
  }
  EXPECT_GT(counters->damaged.load(), 0u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
