// server/http/limits.h: everything the listener refuses to hold more of.
//
// Every limit is set in the config file under "limits", by the names given here; see
// server/doc/settings.md.

#pragma once

#include <cstddef>
#include <cstdint>

namespace seendb::http {

/// Limits of the listener and its sessions. Sizes are bytes, times milliseconds of the machine's
/// steady clock (a manual clock moves none of them).
struct Limits {
  size_t body_bytes = 8u << 20;       ///< of a whole request body, decoded; 413 beyond
  size_t line_bytes = 1u << 20;       ///< of one NDJSON event; the line is refused beyond
  size_t header_bytes = 16u << 10;    ///< of a request head; 431 beyond
  int64_t header_ms = 10'000;         ///< from a request's first byte to the end of its head
  int64_t idle_ms = 75'000;           ///< without a byte read or written; empty lines are none
  int64_t transfer_ms = 60'000;       ///< for a whole body or line to come, or an answer to be read
  int64_t stream_ms = 3'600'000;      ///< for a whole NDJSON body to come; 0: no limit
  int64_t read_bytes_per_s = 16'384;  ///< that an answer is read with, after 5 s; 0: none
  size_t connections = 10'000;        ///< open at once; an idle one goes, or 503 and close beyond
  size_t connections_per_peer = 0;    ///< of one address; 503 and close beyond; 0: no limit
  size_t failed_tokens_per_minute = 60;  ///< of one address: the application counts; 0: no limit
  size_t inflight_bytes = 1u << 30;      ///< request bodies held in memory at once; 503 beyond
  size_t answer_bytes = 256u << 20;      ///< answers held at once; what reads much is 503 beyond
  size_t backlog = 1'024;         ///< connections that the system holds until they are accepted
  size_t queue = 1'024;           ///< requests waiting for a worker thread; 503 beyond
  int64_t shutdown_delay_ms = 0;  ///< from SIGTERM on still served, while /readyz is 503
  int64_t shutdown_ms = 10'000;   ///< grace for requests in flight after that
};

}  // namespace seendb::http
