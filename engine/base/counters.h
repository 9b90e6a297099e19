// base/counters.h: what an engine counts, over all its shards. The rows are seendb/counters.def.

#pragma once

#include <atomic>
#include <cstdint>

namespace seendb {

/// Relaxed counters; any thread.
struct Counters {
#define SEENDB_COUNTER(name, metric, help) std::atomic<uint64_t> name{0};
#include "seendb/counters.def"
#undef SEENDB_COUNTER
};

}  // namespace seendb
