// JSON of a filter request in and out: 5,000 ids of 25 bytes, of which a fifth are seen.

#include <string>

#include "http/message.h"
#include "micro/micro.h"
#include "wire/filter_json.h"

namespace seendb::perf {
namespace {

// Followed by the bytes the parser may read.
std::string Body() {
  std::string body = R"({"user":"user-1234567","items":[)";
  for (uint64_t i = 0; i < kCandidates; ++i) {
    if (i != 0) body += ',';
    body += "\"video-" + std::to_string(1'000'000'000'000'000'000ULL + i * 7'919'777) + '"';
  }
  return body + "]}";
}

void ParseFilterRequest(benchmark::State& state) {
  std::string body = Body();
  const size_t size = body.size();
  body.append(http::kBodyPadding, '\0');
  wire::FilterCall call;
  for (auto _ : state) {
    wire::JsonDocument document;
    const Status parsed = wire::ParseFilter({body.data(), size}, kCandidates, &document, &call);
    if (!parsed.ok()) state.SkipWithError("refused");
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(ParseFilterRequest);

void WriteFilterAnswer(benchmark::State& state) {
  std::string body = Body();
  const size_t size = body.size();
  body.append(http::kBodyPadding, '\0');
  wire::FilterCall call;
  wire::JsonDocument document;
  if (!wire::ParseFilter({body.data(), size}, kCandidates, &document, &call).ok()) {
    state.SkipWithError("refused");
    return;
  }
  FilterResponse response;
  for (uint32_t i = 0; i < kCandidates; ++i) {
    if (i % 5 != 0) response.unseen.push_back(i);
  }
  response.examined = kCandidates;
  response.seen = kCandidates / 5;
  const Policy policy;
  std::string out;
  for (auto _ : state) {
    out.clear();
    wire::AppendFilterAnswer(call, response, policy, {}, &out);
    benchmark::DoNotOptimize(out.data());
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(WriteFilterAnswer);

}  // namespace
}  // namespace seendb::perf
