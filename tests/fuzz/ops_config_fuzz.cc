// Arbitrary bytes as the server's settings: refused with a reason, or read to values within their
// limits that are those of a plain reading; what is not named stays as it was.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "fuzz/input.h"
#include "http/listener.h"
#include "ops/config.h"

namespace {

using Json = nlohmann::json;
using seendb::fuzz::Check;
using seendb::ops::Config;

/// Either `section` names `key` and `value` is what it says, or `value` is `unset`.
template <typename T>
void CheckValue(const Json& section, const char* key, const T& value, const T& unset) {
  Check(value == (section.contains(key) ? section.at(key).get<T>() : unset));
}

void CheckRead(const Json& document, const Config& config) {
  const Config unset;
  const Json limits = document.value("limits", Json::object());
  const Json engine = document.value("engine", Json::object());
  CheckValue(document, "db", config.db, unset.db);
  CheckValue(document, "checkpoints", config.checkpoints, unset.checkpoints);
  CheckValue(document, "listen", config.listen, unset.listen);
  CheckValue(document, "threads", config.threads, unset.threads);
  CheckValue(document, "compress_filter", config.compress_filter, unset.compress_filter);
  CheckValue(document, "log_level", config.log_level, unset.log_level);
  CheckValue(limits, "body_bytes", config.limits.body_bytes, unset.limits.body_bytes);
  CheckValue(limits, "line_bytes", config.limits.line_bytes, unset.limits.line_bytes);
  CheckValue(limits, "header_bytes", config.limits.header_bytes, unset.limits.header_bytes);
  CheckValue(limits, "header_ms", config.limits.header_ms, unset.limits.header_ms);
  CheckValue(limits, "idle_ms", config.limits.idle_ms, unset.limits.idle_ms);
  CheckValue(limits, "transfer_ms", config.limits.transfer_ms, unset.limits.transfer_ms);
  CheckValue(limits, "connections", config.limits.connections, unset.limits.connections);
  CheckValue(limits, "inflight_bytes", config.limits.inflight_bytes, unset.limits.inflight_bytes);
  CheckValue(limits, "queue", config.limits.queue, unset.limits.queue);
  CheckValue(limits, "shutdown_ms", config.limits.shutdown_ms, unset.limits.shutdown_ms);
  CheckValue(limits, "candidates", config.engine.max_candidates, unset.engine.max_candidates);
  CheckValue(engine, "shards", config.engine.shards, unset.engine.shards);
  CheckValue(engine, "open_damaged", config.engine.open_damaged, unset.engine.open_damaged);
  CheckValue(engine, "ring_slots", config.engine.ring_slots, unset.engine.ring_slots);
  CheckValue(engine, "slot_ms", config.engine.slot_ms, unset.engine.slot_ms);
  CheckValue(engine, "slot_bytes", config.engine.slot_bytes_max, unset.engine.slot_bytes_max);
  CheckValue(engine, "list_limit", config.engine.list_limit, unset.engine.list_limit);
  CheckValue(engine, "background_threads", config.engine.background_threads,
             unset.engine.background_threads);
  CheckValue(engine, "max_column_families", config.engine.max_column_families,
             unset.engine.max_column_families);
  CheckValue(engine, "sync_interval_ms", config.engine.sync_interval_ms,
             unset.engine.sync_interval_ms);
}

void CheckRanges(const Config& config) {
  const auto& engine = config.engine;
  Check(seendb::http::ParseHostPort(config.listen).has_value());
  Check(config.limits.body_bytes >= 1'024 && config.limits.connections >= 1);
  Check(config.limits.header_ms >= 1 && config.limits.queue >= 1);
  Check(engine.ring_slots >= 2 && engine.slot_ms >= 1 && engine.max_candidates >= 1);
  Check(engine.maintenance_begin_minute >= 0 && engine.maintenance_begin_minute < 1440);
  Check(engine.maintenance_end_minute >= 0 && engine.maintenance_end_minute < 1440);
  Check(!config.manual_clock_ms || *config.manual_clock_ms >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Config config;
  const seendb::Status status = ReadConfig(text, &config);
  if (!status.ok()) {
    Check(!status.message().empty() && status.code() == seendb::StatusCode::kInvalidArgument);
    Check(status.field().empty() || status.field().front() == '/');
    return 0;
  }
  const Json document =
      Json::parse(text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  Check(document.is_object());
  CheckRead(document, config);
  CheckRanges(config);
  return 0;
}
