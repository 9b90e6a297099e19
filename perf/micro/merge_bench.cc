// Merging 1 to 64 hourly deltas of 10 items: into nothing, into a list of 3,000, into a Bloom
// layer, and among themselves as a flush does it.

#include <deque>

#include <rocksdb/merge_operator.h>

#include "format/filter_codec.h"
#include "merge/seen_operator.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

constexpr size_t kDelta = 10;

std::shared_ptr<SeenRules> MonthRules() {
  FilterRules fixed;
  fixed.begin_ms = 0;
  fixed.end_ms = int64_t{30} * 86'400'000;
  auto rules = std::make_shared<SeenRules>();
  rules->counters = std::make_shared<Counters>();
  rules->bytes_max = uint64_t{256} << 10;
  rules->Bind(fixed);
  return rules;
}

std::string Delta(size_t items, uint64_t seed) {
  std::vector<Fingerprint> fps = RandomFingerprints(items, seed);
  std::sort(fps.begin(), fps.end());
  fps.erase(std::unique(fps.begin(), fps.end()), fps.end());
  std::string bytes;
  EncodeDelta(int64_t{15} * 86'400'000, fps, &bytes);
  return bytes;
}

struct Operands {
  explicit Operands(size_t count) {
    for (size_t i = 0; i < count; ++i) bytes.push_back(Delta(kDelta, kSeed + i));
    for (const std::string& one : bytes) slices.emplace_back(one);
  }
  std::vector<std::string> bytes;
  std::vector<rocksdb::Slice> slices;
};

std::string FullMerge(const rocksdb::MergeOperator& merge, const rocksdb::Slice* base,
                      const std::vector<rocksdb::Slice>& operands) {
  std::string value;
  rocksdb::Slice existing;
  const rocksdb::Slice key("user");
  const rocksdb::MergeOperator::MergeOperationInput in(key, base, operands, nullptr);
  rocksdb::MergeOperator::MergeOperationOutput out(value, existing);
  if (!merge.FullMergeV2(in, &out)) std::abort();
  return existing.empty() ? value : existing.ToString();
}

/// Arguments: operands, items of the base value.
void MergeFull(benchmark::State& state) {
  const auto merge = NewSeenOperator(MonthRules());
  const Operands operands(static_cast<size_t>(state.range(0)));
  std::string base;
  if (state.range(1) != 0) {
    const std::string whole = Delta(static_cast<size_t>(state.range(1)), kSeed + 1'000);
    base = FullMerge(*merge, nullptr, {whole});
  }
  const rocksdb::Slice slice(base);
  for (auto _ : state) {
    benchmark::DoNotOptimize(FullMerge(*merge, base.empty() ? nullptr : &slice, operands.slices));
  }
  TimeAnItem(state, operands.slices.size() * kDelta);
}
BENCHMARK(MergeFull)->ArgsProduct({{1, 2, 4, 8, 16, 32, 64}, {0, 3'000, 10'000}});

void MergePartial(benchmark::State& state) {
  const auto merge = NewSeenOperator(MonthRules());
  const Operands operands(static_cast<size_t>(state.range(0)));
  const std::deque<rocksdb::Slice> list(operands.slices.begin(), operands.slices.end());
  std::string value;
  for (auto _ : state) {
    benchmark::DoNotOptimize(merge->PartialMergeMulti("user", list, &value, nullptr));
  }
  TimeAnItem(state, operands.slices.size() * kDelta);
}
BENCHMARK(MergePartial)->RangeMultiplier(2)->Range(2, 64);

}  // namespace
}  // namespace seendb::perf
