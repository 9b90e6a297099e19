// Proofs between nodes: what a filter that is passed on costs more at the node that asks and at the
// one that is asked, by the number of its candidates.

#include <optional>
#include <string>

#include "micro/micro.h"
#include "proof/proofs.h"

namespace seendb::perf {
namespace {

/// As JSON, with ids of 25 bytes.
std::string Body(int64_t candidates) {
  std::string body = R"({"user":"user-1234567","items":[)";
  for (uint64_t i = 0; i < static_cast<uint64_t>(candidates); ++i) {
    if (i != 0) body += ',';
    body += "\"video-" + std::to_string(1'000'000'000'000'000'000ULL + i * 7'919'777) + '"';
  }
  return body + "]}";
}

/// What a node passes on.
proof::Question Passed() {
  return {.method = "POST",
          .target = "/filter",
          .headers = {"seendb-hop:1", "content-type:application/json", "seendb-user:user-1234567",
                      R"(seendb-caller:{"collections":[],"name":"page","role":"read"})",
                      "seendb-tenant:1234567890123456789", "seendb-priority:normal",
                      "seendb-timeout-ms:1500"}};
}

void MakeProof(benchmark::State& state) {
  const std::string body = Body(state.range(0));
  proof::Proofs asks("n1");
  asks.SetSecrets({"a-secret-of-the-nodes"});
  const proof::Question question = Passed();
  for (auto _ : state) {
    std::string proof = asks.Make(question, proof::Sha256(body), "n2");
    benchmark::DoNotOptimize(proof);
  }
  state.counters["body_bytes"] = static_cast<double>(body.size());
}
BENCHMARK(MakeProof)->Arg(0)->Arg(2'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void CheckProof(benchmark::State& state) {
  constexpr size_t kAtOnce = 1'000;
  const std::string body = Body(state.range(0));
  const std::string sha256 = proof::Sha256(body);
  const proof::Question question = Passed();
  proof::Proofs asked("n2");
  asked.SetSecrets({"a-secret-of-the-nodes"});
  proof::Proofs asks("n1");
  asks.SetSecrets({"a-secret-of-the-nodes"});
  const std::string first = asks.Make(question, sha256, "n2");
  asks.Learn(first, asked.Check(first, question).challenge);
  std::vector<std::string> proofs;  // each counts once
  for (auto _ : state) {
    if (proofs.empty()) {
      state.PauseTiming();
      for (size_t i = 0; i < kAtOnce; ++i) proofs.push_back(asks.Make(question, sha256, "n2"));
      state.ResumeTiming();
    }
    const bool proven =
        asked.Check(proofs.back(), question).kind == proof::Checked::Kind::kProven &&
        proof::IsBody(proofs.back(), body);
    proofs.pop_back();
    if (!proven) {
      state.SkipWithError("not proven");
      break;
    }
  }
  state.counters["body_bytes"] = static_cast<double>(body.size());
}
BENCHMARK(CheckProof)->Arg(0)->Arg(2'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace seendb::perf
