// Compressing a filter's answer (4,000 of 5,000 ids of 25 bytes) and decoding NDJSON of 1,000
// plays. Counters: plain and coded, their sizes in bytes.

#include <string>

#include "http/decoder.h"
#include "http/encoder.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

std::string Id(uint64_t i) {
  return "\"video-" + std::to_string(1'000'000'000'000'000'000ULL + i * 7'919'777) + '"';
}

std::string FilterAnswer() {
  std::string answer = R"({"unseen":[)";
  for (uint64_t i = 0; i < kCandidates; ++i) {
    if (i % 5 != 0) answer += Id(i) + ',';
  }
  answer.pop_back();
  return answer + R"(],"seen":1000,"examined":5000,"degraded":false})";
}

std::string Plays() {
  std::string plays;
  for (uint64_t i = 0; i < 1'000; ++i) {
    plays += R"({"user":"user-)" + std::to_string(i * 7'919 % 100'000) + R"(","item":)" + Id(i) +
             R"(,"at":)" + std::to_string(1'700'000'000'000 + i * 137) + "}\n";
  }
  return plays;
}

void CountBytes(benchmark::State& state, size_t plain, size_t coded) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(plain));
  state.counters["plain"] = static_cast<double>(plain);
  state.counters["coded"] = static_cast<double>(coded);
}

void EncodeAnswer(benchmark::State& state, http::Coding coding) {
  const std::string answer = FilterAnswer();
  std::string coded;
  for (auto _ : state) {
    coded.clear();
    http::Encoder(coding).Put(answer, /*end=*/true, &coded);
    benchmark::DoNotOptimize(coded.data());
  }
  CountBytes(state, answer.size(), coded.size());
}
BENCHMARK_CAPTURE(EncodeAnswer, gzip, http::Coding::kGzip);
BENCHMARK_CAPTURE(EncodeAnswer, zstd, http::Coding::kZstd);

void DecodeBody(benchmark::State& state, http::Coding coding) {
  const std::string plays = Plays();
  std::string coded, made(plays.size() + 1, '\0');
  http::Encoder(coding).Put(plays, /*end=*/true, &coded);
  http::MemoryBudget budget(SIZE_MAX / 2);
  for (auto _ : state) {
    http::Decoder decoder(coding, &budget);
    decoder.Put(coded, made.data(), made.size());
    if (!decoder.End()) state.SkipWithError("not decoded");
  }
  CountBytes(state, plays.size(), coded.size());
}
BENCHMARK_CAPTURE(DecodeBody, gzip, http::Coding::kGzip);
BENCHMARK_CAPTURE(DecodeBody, zstd, http::Coding::kZstd);

}  // namespace
}  // namespace seendb::perf
