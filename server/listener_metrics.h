// server/listener_metrics.h: what /metrics tells of the listener.

#pragma once

#include "http/listener.h"
#include "ops/metrics.h"

namespace seendb {

/// Copies the listener's counters. Threads: any.
void FillListener(const http::Listener& listener, ops::MetricsSnapshot* to);

}  // namespace seendb
