// server/api/request_log.h: lines of the log about requests.
//
// Which requests have one says the setting "access_log" (ops/access_log_config.h): slow ones at
// level "warn", others at "info". Besides, each has one at level "debug", those that failed by the
// server's fault (5xx other than 503) have one at level "warn", and each that destroys something or
// looks after the database (`admin_request`) has one in every mode.
//
// `{"ts":...,"level":"warn","event":"slow_request","method":"POST","route":"POST /filter",
// "status":200,"took_us":1200300,"waited_us":1100000,"worked_us":100100,"bytes_in":812,
// "bytes_out":377,"peer":"10.0.0.7","request_id":"a1","user":"726fdb47dd0e0e31"}`: the route, not
// the path, which names a user; `user` is a keyed hash (ops/user_hash.h). A request that belongs to
// a trace (http/trace_context.h) has `trace_id`, `parent_id` and `span_id` too. Nothing else of a
// request gets there.

#pragma once

#include <string_view>

#include "http/service.h"
#include "ops/access_log_config.h"
#include "ops/line_limit.h"
#include "ops/log.h"
#include "ops/user_hash.h"
#include "seendb/id.h"

namespace seendb::api {

/// See the head of this file. Threads: any.
class RequestLog {
 public:
  explicit RequestLog(const ops::AccessLogConfig& config);

  /// An answer was made (http::Service::Done). Of lines for faults there is one per second at most,
  /// of those that the setting asks for and of those for denials (401 and 403,
  /// in every mode) AccessLogConfig::lines_per_s; what is left out is counted,
  /// and told by a line `requests_not_logged`.
  void Note(const http::Outcome& outcome);
  /// For Response::log_tag: the user that a request's body names, hashed. Allocates nothing.
  uint64_t TagOf(const IdRef& user) const noexcept { return ops::HashUser(key_, user); }

  /// The user of a request that was answered, hashed; 0: it names none, or several.
  uint64_t UserOf(const http::Outcome& outcome) const;

  /// Lines that the setting asked for: written, and left out.
  uint64_t written() const noexcept { return lines_.written(); }
  uint64_t left_out() const noexcept { return lines_.left_out(); }

 private:
  bool Wants(bool slow) const;
  void NoteDenied(bool administrative, const http::Outcome& outcome);
  void Write(ops::LogLevel level, std::string_view event, const http::Outcome& outcome) const;

  const ops::AccessLogMode mode_;
  const double sample_;
  const std::chrono::milliseconds slow_;
  const HashKey key_;
  ops::LineLimit faults_, denials_, lines_;
};

}  // namespace seendb::api
