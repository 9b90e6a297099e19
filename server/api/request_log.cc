#include "api/request_log.h"

#include <nlohmann/json.hpp>

#include "api/routes.h"
#include "ops/log.h"

namespace seendb::api {

bool RequestLog::MayWarn() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  const int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  int64_t next_ms = next_warning_ms_.load(std::memory_order_relaxed);
  return now_ms >= next_ms && next_warning_ms_.compare_exchange_strong(next_ms, now_ms + 1'000,
                                                                       std::memory_order_relaxed);
}

void RequestLog::Note(const http::RequestHead& head, int route, unsigned status,
                      std::chrono::nanoseconds took) {
  const bool fault = status >= 500 && status != 503;
  const bool warns = fault && MayWarn();
  const auto level = warns ? ops::LogLevel::kWarn : ops::LogLevel::kDebug;
  if (!ops::Logs(level)) return;
  nlohmann::ordered_json fields = {
      {"route", route < 0 ? std::string() : RouteLabel(Routes()[static_cast<size_t>(route)])},
      {"status", status},
      {"took_us", std::chrono::duration_cast<std::chrono::microseconds>(took).count()}};
  if (!head.request_id.empty()) fields["request_id"] = head.request_id;
  ops::Log(level, "request", fields);
}

}  // namespace seendb::api
