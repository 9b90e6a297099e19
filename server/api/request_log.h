// server/api/request_log.h: one line of the log per request: of each at level "debug", of those
// that failed by the server's fault (5xx other than 503) at level "warn".
//
// `{"ts":...,"level":"warn","event":"request","route":"POST /filter","status":500,"took_us":812,
// "request_id":"a1"}`: the route, not the path, which names a user.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "http/message.h"

namespace seendb::api {

/// See the head of this file. Threads: any.
class RequestLog {
 public:
  /// An answer was made (http::Service::Done). At most one line of level "warn" per second.
  void Note(const http::RequestHead& head, int route, unsigned status,
            std::chrono::nanoseconds took);

 private:
  bool MayWarn();

  std::atomic<int64_t> next_warning_ms_{0};  // of the steady clock
};

}  // namespace seendb::api
