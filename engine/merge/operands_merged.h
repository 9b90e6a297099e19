// merge/operands_merged.h: how many operands reads had to merge.

#pragma once

#include <cstdint>

namespace seendb {

/// Operands full-merged on this thread so far: the difference around a Get is what that read had
/// to merge (RocksDB's own counters miss some).
uint64_t& OperandsMergedOnThisThread();

}  // namespace seendb
