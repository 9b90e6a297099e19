// Hashing and naming: fingerprints, ids, shards, buckets.

#include <string>

#include "filter/item_hash.h"
#include "micro/micro.h"
#include "seendb/id.h"
#include "seendb/policy.h"

namespace seendb::perf {
namespace {

constexpr ItemHashId kVersion1{.version = 1, .key = {}};
constexpr ItemHashId kVersion2{.version = 2, .key = {kSeed, kSeed}};

void HashText25(benchmark::State& state, const ItemHashId& id) {
  const ItemHash hash(id);
  std::vector<std::string> texts(kCandidates);
  std::vector<IdRef> ids(kCandidates);
  for (size_t i = 0; i < kCandidates; ++i) {
    texts[i] = "video-" + std::to_string(1'000'000'000'000'000'000ULL + i * 7'919'777);
    ids[i] = IdRef(texts[i]);
  }
  std::vector<Fingerprint> out(kCandidates);
  for (auto _ : state) {
    hash.OfMany(ids, out.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK_CAPTURE(HashText25, version_1, kVersion1);
BENCHMARK_CAPTURE(HashText25, version_2, kVersion2);

void HashNumber(benchmark::State& state, const ItemHashId& id) {
  const ItemHash hash(id);
  std::mt19937_64 random(kSeed);
  std::vector<IdRef> ids(kCandidates);
  for (IdRef& one : ids) one = IdRef(random());
  std::vector<Fingerprint> out(kCandidates);
  for (auto _ : state) {
    hash.OfMany(ids, out.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK_CAPTURE(HashNumber, version_1, kVersion1);
BENCHMARK_CAPTURE(HashNumber, version_2, kVersion2);

void MakeIdFromText(benchmark::State& state, bool decimal) {
  std::vector<std::string> texts(kCandidates);
  std::mt19937_64 random(kSeed);
  for (std::string& text : texts) {
    text = decimal ? std::to_string(random() >> 30) : "video-" + std::to_string(random() >> 30);
  }
  for (auto _ : state) {
    for (const std::string& text : texts) {
      IdRef id{std::string_view(text)};
      benchmark::DoNotOptimize(id);
    }
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK_CAPTURE(MakeIdFromText, decimal, true);
BENCHMARK_CAPTURE(MakeIdFromText, text, false);

void ValidateId(benchmark::State& state) {
  const IdRef id("video-1000000000000000000");
  for (auto _ : state) benchmark::DoNotOptimize(id.Validate().ok());
  TimeAnItem(state, 1);
}
BENCHMARK(ValidateId);

void ShardOfUser(benchmark::State& state) {
  const std::string user = "user-0123456789abcdef";
  for (auto _ : state) benchmark::DoNotOptimize(ShardOf(user, 4));
  TimeAnItem(state, 1);
}
BENCHMARK(ShardOfUser);

void BucketIndex(benchmark::State& state, BucketSpec spec) {
  Policy policy;
  policy.bucket = spec;
  policy.utc_offset_minutes = 480;
  int64_t at_ms = 1'700'000'000'000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(BucketIndexOf(policy, at_ms));
    at_ms += 3'599'999;
  }
  TimeAnItem(state, 1);
}
BENCHMARK_CAPTURE(BucketIndex, month, BucketSpec{});
BENCHMARK_CAPTURE(BucketIndex, days_10, BucketSpec{BucketKind::kDays, 10});

}  // namespace
}  // namespace seendb::perf
