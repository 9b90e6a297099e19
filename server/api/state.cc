// What the server and the engine say about themselves: stats, buckets, ring, metrics, health,
// and the API's own description.

#include <chrono>

#include <nlohmann/json.hpp>

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
  ops::MetricsSnapshot snapshot;
  if (call.context.listener_counters) call.context.listener_counters(&snapshot);
  snapshot.access_lines = call.context.requests.written();
  snapshot.access_lines_left_out = call.context.requests.left_out();
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
  call.response.content_type = "text/plain; version=0.0.4; charset=utf-8";
}

void HandleHealth(Call& call) { call.response.body = "{\"status\":\"ok\"}"; }

void HandleReady(Call& call) {
  const ops::Phase phase = call.context.health->phase();
  if (phase != ops::Phase::kReady) {
    return call.Refuse(Status::Unavailable(WhyNotReady(call.context, phase)));
  }
  EngineStats stats = call.engine().Stats();
  if (call.context.ingest_problems) {
    for (std::string& problem : call.context.ingest_problems()) {
      stats.problems.push_back(std::move(problem));
    }
  }
  if (!call.context.exposed.empty()) stats.problems.push_back(call.context.exposed);
  const nlohmann::ordered_json ready = {
      {"status", "ready"}, {"degraded", stats.degraded}, {"problems", stats.problems}};
  call.response.body = ready.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void HandleOpenApi(Call& call) { call.response.body = OpenApiText(); }

void HandleOpenApi30(Call& call) { call.response.body = OpenApi30Text(); }

}  // namespace seendb::api
