#include "listener_metrics.h"

#include <cstddef>

#include "http/executor.h"

namespace seendb {

void FillListener(const http::Listener& listener, ops::MetricsSnapshot* to) {
  const http::ListenerCounters& from = listener.counters();
  to->connections = from.open.load();
  to->in_flight = from.in_flight.load();
  to->door_connections = listener.DoorConnections();
  to->connections_opened = from.opened.load();
  to->connections_refused = from.refused.load();
  to->connections_timed_out = from.timed_out.load();
  to->connections_evicted = from.evicted.load();
  to->handshakes_failed = from.handshakes_failed.load();
  to->handshakes_refused = from.handshakes_refused.load();
  to->bytes_in = from.bytes_in.load();
  to->bytes_out = from.bytes_out.load();
  to->inflight_bytes = listener.InflightBytes();
  to->answer_bytes = listener.AnswerBytes();
  for (size_t i = 0; i < http::kExecutors; ++i) to->queue_waits[i] = from.queue_waits[i].Read();
}

}  // namespace seendb
