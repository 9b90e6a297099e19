// What the server and the engine say about themselves: stats, buckets, ring, metrics, health,
// and the API's own description.

#include <chrono>

#include <nlohmann/json.hpp>

#include "api/audit.h"
#include "api/openapi.h"
#include "api/routes.h"

namespace seendb::api {
void HandleStats(Call& call) { call.response.body = ReportToJson(call.engine().Stats()); }

void HandleBuckets(Call& call) { call.response.body = ReportToJson(call.engine().Buckets()); }

void HandleRing(Call& call) { call.response.body = ReportToJson(call.engine().Ring()); }

void HandleIngest(Call& call) {
  const auto& state = call.context.ingest_state;
  call.response.body = ops::IngestStateToJson(state ? state() : ops::IngestState());
}

void HandleMetrics(Call& call) {
  using std::chrono::steady_clock;
  const auto came = steady_clock::now() - std::chrono::microseconds(call.request.age_us);
  call.response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  call.response.body = call.context.scrape.For(came, steady_clock::now());
  if (!call.response.body.empty()) return;
  ops::MetricsSnapshot snapshot;
  if (call.context.listener_counters) call.context.listener_counters(&snapshot);
  snapshot.admission = &call.context.admission;
  snapshot.failed_tokens = call.context.failed_tokens.refused();
  snapshot.failed_tokens_limited = call.context.failed_tokens.limited();
  if (const auto tokens = call.context.access.Current()) {
    for (const files::Token& token : tokens->tokens) {
      if (token.expires_ms != 0) {
        snapshot.token_expires_s.emplace_back(token.name, token.expires_ms / 1'000);
      }
    }
  }
  snapshot.unsafe_integers = call.context.unsafe_integers.total();
  snapshot.access_lines = call.context.requests.written();
  snapshot.access_lines_left_out = call.context.requests.left_out();
  if (const Audit* const audit = call.context.audit.get()) snapshot.audit = audit->Counts();
  Engine* const engine = call.context.engine.load(std::memory_order_acquire);
  if (engine != nullptr) {
    snapshot.engine_open = true;
    snapshot.engine = engine->Stats();
    snapshot.ring = engine->Ring();
    snapshot.buckets = engine->Buckets();
    if (!call.context.samples_in_background) call.context.sampler.Sample(engine);
    snapshot.fill = call.context.sampler.Samples();
    snapshot.now_ms = engine->NowMs();
    if (call.context.ingest_state) snapshot.ingest = call.context.ingest_state();
  }
  call.response.body = call.context.metrics->Text(snapshot);
  call.context.scrape.Keep(call.response.body, steady_clock::now());
}

void HandleHealth(Call& call) { call.response.body = "{\"status\":\"ok\"}"; }

namespace {

/// How many shards are open yet.
void SayOpening(Call& call) {
  call.Refuse(Status::Unavailable(WhyNotReady(call.context, ops::Phase::kOpening)));
  Engine* const engine = call.context.engine.load(std::memory_order_acquire);
  if (engine == nullptr) return;  // it is not known yet how many there are
  std::string& body = call.response.body;
  body.pop_back();
  const EngineStats stats = engine->Stats();
  body += ",\"open\":" + std::to_string(stats.shards_open) +
          ",\"of\":" + std::to_string(stats.shards_open + stats.shards_opening) + "}";
}

}  // namespace

void HandleReady(Call& call) {
  Context& context = call.context;
  const ops::Phase phase = context.health->phase();
  if (phase == ops::Phase::kOpening) return SayOpening(call);
  if (phase != ops::Phase::kReady) {
    return call.Refuse(Status::Unavailable(WhyNotReady(context, phase)));
  }
  if (!context.samples_in_background) {
    context.readiness.Look(&call.engine(), context.ingest_problems);
  }
  Readiness::State state = context.readiness.Latest();
  if (!context.exposed.empty()) state.problems.push_back(context.exposed);
  if (context.audit) context.audit->AddProblem(&state.problems);
  const nlohmann::ordered_json ready = {
      {"status", "ready"},
      {"degraded", state.degraded},
      {"overloaded", context.admission.Overloaded(std::chrono::steady_clock::now())},
      {"problems", state.problems}};
  call.response.body = ready.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void HandleOpenApi(Call& call) { call.response.body = OpenApiText(OpenApiPart::kPublic); }

void HandleOpenApi30(Call& call) { call.response.body = OpenApi30Text(OpenApiPart::kPublic); }

void HandleOpenApiAdmin(Call& call) { call.response.body = OpenApiText(OpenApiPart::kAdmin); }

void HandleOpenApiAdmin30(Call& call) { call.response.body = OpenApi30Text(OpenApiPart::kAdmin); }

}  // namespace seendb::api
