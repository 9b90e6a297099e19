// merge/counters.h: what the merge operators count, over all families of an engine.

#pragma once

#include <atomic>
#include <cstdint>

namespace seendb {

/// Relaxed counters; any thread.
struct MergeCounters {
  std::atomic<uint64_t> full{0}, partial{0}, operands{0};
  std::atomic<uint64_t> damaged{0};
  std::atomic<uint64_t> layers_created{0}, layers_dropped{0};
};

/// Operands full-merged on this thread so far: the difference around a Get is what that read had
/// to merge (RocksDB's own counters miss some).
uint64_t& OperandsMergedOnThisThread();

}  // namespace seendb
