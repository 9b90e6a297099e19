// Hashing and naming: fingerprints, ids, shards, buckets.

#include <string>

#include "micro/micro.h"
#include "seendb/id.h"
#include "seendb/policy.h"

namespace seendb::perf {
namespace {

void HashText25(benchmark::State& state) {
  std::vector<std::string> texts(kCandidates);
  std::vector<IdRef> ids(kCandidates);
  for (size_t i = 0; i < kCandidates; ++i) {
    texts[i] = "video-" + std::to_string(1'000'000'000'000'000'000ULL + i * 7'919'777);
    ids[i] = IdRef(texts[i]);
  }
  std::vector<Fingerprint> out(kCandidates);
  for (auto _ : state) {
    FingerprintsOf(ids, out.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(HashText25);

void HashNumber(benchmark::State& state) {
  std::mt19937_64 random(kSeed);
  std::vector<IdRef> ids(kCandidates);
  for (IdRef& id : ids) id = IdRef(random());
  std::vector<Fingerprint> out(kCandidates);
  for (auto _ : state) {
    FingerprintsOf(ids, out.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(HashNumber);

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
