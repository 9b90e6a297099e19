#include "api/request_log.h"

#include <random>

#include <nlohmann/json.hpp>

#include "api/routes.h"

namespace seendb::api {
namespace {

int64_t Microseconds(std::chrono::nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::microseconds>(span).count();
}

/// True for a share of the calls.
bool Draw(double share) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>()(random) < share;
}

bool NamesUserInPath(const Route& route) { return route.path.starts_with("/users/{user}"); }

/// Whether a call destroys something or looks after the database: each has its line.
bool IsAdministrative(const Route& route) {
  if (route.route_class == RouteClass::kAdmin) return route.method != http::Method::kGet;
  return route.route_class == RouteClass::kWrite && NamesUserInPath(route);
}

/// Whether an answer takes as long as the caller asked it to: such a call is never slow.
bool TakesItsTime(const Route& route) { return route.path == "/admin/tail"; }

const Route* RouteOf(const http::Outcome& outcome) {
  return outcome.plan.route < 0 ? nullptr : &Routes()[static_cast<size_t>(outcome.plan.route)];
}

}  // namespace

RequestLog::RequestLog(const ops::AccessLogConfig& config)
    : mode_(config.mode),
      sample_(config.sample),
      slow_(config.slow_ms),
      key_(ParseHashKey(config.user_key).value_or(RandomHashKey())),
      faults_(1),
      denials_(config.lines_per_s),
      lines_(config.lines_per_s) {}

bool RequestLog::Wants(bool slow) const {
  switch (mode_) {
    case ops::AccessLogMode::kOff:
      return false;
    case ops::AccessLogMode::kSampled:
      return slow || Draw(sample_);
    case ops::AccessLogMode::kSlow:
      return slow;
    case ops::AccessLogMode::kAll:
      return true;
  }
  return false;
}

void RequestLog::Note(const http::Outcome& outcome) {
  using ops::LogLevel;
  uint64_t left_out = 0;
  const Route* const route = RouteOf(outcome);
  const bool slow = mode_ != ops::AccessLogMode::kOff && outcome.waited + outcome.worked >= slow_ &&
                    (route == nullptr || !TakesItsTime(*route));
  const bool administrative = route != nullptr && IsAdministrative(*route);
  const std::string_view event = administrative ? "admin_request"
                                 : slow         ? "slow_request"
                                                : "request";
  const bool fault = outcome.status >= 500 && outcome.status != 503;
  if (fault && faults_.Take(outcome.at, &left_out)) return Write(LogLevel::kWarn, event, outcome);
  if (outcome.status == 401 || outcome.status == 403) return NoteDenied(administrative, outcome);
  const LogLevel level = slow ? LogLevel::kWarn : LogLevel::kInfo;
  if (administrative) return Write(level, event, outcome);
  if (Wants(slow) && ops::Logs(level) && lines_.Take(outcome.at, &left_out)) {
    if (left_out > 0) {
      ops::Log(LogLevel::kWarn, "requests_not_logged",
               {{"lines", left_out}, {"reason", "access_log.lines_per_s"}});
    }
    return Write(level, event, outcome);
  }
  if (ops::Logs(LogLevel::kDebug)) Write(LogLevel::kDebug, event, outcome);
}

/// Those who may not can ask as often as they like: their lines have a limit.
void RequestLog::NoteDenied(bool administrative, const http::Outcome& outcome) {
  uint64_t left_out = 0;
  const bool taken = denials_.Take(outcome.at, &left_out);
  if (!taken && !ops::Logs(ops::LogLevel::kDebug)) return;
  Write(taken ? ops::LogLevel::kWarn : ops::LogLevel::kDebug,
        administrative ? "admin_request" : "access_refused", outcome);
}

uint64_t RequestLog::UserOf(const http::Outcome& outcome) const {
  if (outcome.log_tag != 0) return outcome.log_tag;
  const Route* const route = RouteOf(outcome);
  const bool named = route != nullptr && NamesUserInPath(*route) && !outcome.plan.arguments.empty();
  return named ? TagOf(IdRef(outcome.plan.arguments.front())) : 0;
}

void RequestLog::Write(ops::LogLevel level, std::string_view event,
                       const http::Outcome& outcome) const {
  const Route* const route = RouteOf(outcome);
  nlohmann::ordered_json fields = {{"method", http::MethodName(outcome.head.method)},
                                   {"route", route == nullptr ? std::string() : RouteLabel(*route)},
                                   {"status", outcome.status}};
  if (!outcome.error_code.empty()) fields["error"] = outcome.error_code;
  fields["took_us"] = Microseconds(outcome.took);
  fields["waited_us"] = Microseconds(outcome.waited);
  fields["worked_us"] = Microseconds(outcome.worked);
  fields["bytes_in"] = outcome.bytes_in;
  fields["bytes_out"] = outcome.bytes_out;
  if (!outcome.peer.empty()) fields["peer"] = outcome.peer;
  if (const Caller caller = CallerOf(outcome.plan)) fields["token"] = caller->name;
  if (!outcome.head.request_id.empty()) fields["request_id"] = outcome.head.request_id;
  if (const http::TraceContext& trace = outcome.head.trace; !trace.trace_id.empty()) {
    fields["trace_id"] = trace.trace_id;
    fields["parent_id"] = trace.parent_id;
    fields["span_id"] = trace.span_id;
  }
  if (const uint64_t user = UserOf(outcome); user != 0) fields["user"] = ops::HashText(user);
  ops::Log(level, event, fields);
}

}  // namespace seendb::api
