// server/http/shared.h: what the listener and all its sessions share.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <vector>

#include "admission/admission.h"
#include "http/bytes.h"
#include "http/current_tls.h"
#include "http/limits.h"
#include "http/peer_counts.h"
#include "http/service.h"
#include "http/worker_pool.h"

namespace seendb::http {

struct IoThread;

/// Gauges and counters of the listener. Threads: any.
struct ListenerCounters {
  std::atomic<uint64_t> opened{0};             ///< connections accepted since the start
  std::atomic<uint64_t> refused{0};            ///< connections answered 503 for their number
  std::atomic<uint64_t> evicted{0};            ///< idle connections closed to make room for another
  std::atomic<uint64_t> timed_out{0};          ///< connections closed for slowness
  std::atomic<uint64_t> handshakes_failed{0};  ///< connections that TLS was not agreed on
  std::atomic<uint64_t> handshakes_refused{0};  ///< connections reset before, for the load
  std::atomic<uint64_t> bytes_in{0};
  std::atomic<uint64_t> bytes_out{0};
  std::atomic<int64_t> open{0};       ///< connections now
  std::atomic<int64_t> in_flight{0};  ///< requests begun and not wholly answered
  std::array<admission::WaitHistogram, kExecutors>
      queue_waits;  ///< by Executor; kInline has no queue
};

/// Most requests that wait for a worker of kSlow: each may take minutes.
inline constexpr size_t kSlowQueue = 16;

/// Shared by all threads.
struct Shared {
  Shared(Service* the_service, const Limits& the_limits, const Workers& workers,
         admission::Admission* the_admission)
      : service(the_service),
        limits(the_limits),
        admission(the_admission),
        budget(the_limits.inflight_bytes),
        answers(the_limits.answer_bytes),
        unlimited(SIZE_MAX / 2),
        peers(the_limits.connections_per_peer),
        engine(workers.engine, the_limits.queue,
               the_admission->AddLane({"engine", /*disk=*/true, workers.engine})),
        slow(workers.slow, std::min(the_limits.queue, kSlowQueue)),
        probe(workers.probe, the_limits.queue) {}

  /// The workers of `executor`. Precondition: it is not kInline, which has none.
  WorkerPool& PoolOf(Executor executor) {
    assert(executor != Executor::kInline);
    if (executor == Executor::kProbe) return probe;
    return executor == Executor::kSlow ? slow : engine;
  }

  /// The waits for workers of `executor`.
  admission::WaitHistogram& QueueWaitsOf(Executor executor) {
    return counters.queue_waits[static_cast<size_t>(executor)];
  }

  Service* const service;
  const Limits limits;
  admission::Admission* const admission;
  MemoryBudget budget;     ///< of request bodies
  MemoryBudget answers;    ///< of answers that are being made or read
  MemoryBudget unlimited;  ///< of read buffers, bounded by the number of connections
  PeerCounts peers;
  CurrentTls tls;  ///< of connections over TCP
  ListenerCounters counters;
  std::atomic<bool> draining{false};  ///< answers close their connections
  std::vector<IoThread*> io_threads;  ///< that serve. Set before the first connection
  std::atomic<size_t> next_thread{0};
  WorkerPool engine, slow, probe;  ///< see Executor
};

}  // namespace seendb::http
