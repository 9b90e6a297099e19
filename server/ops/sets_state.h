// server/ops/sets_state.h: how the store of sets is, for metrics.

#pragma once

#include <cstdint>

namespace seendb::ops {

/// The store's figures.
struct SetsState {
  uint64_t sets = 0;
  uint64_t ids = 0;           ///< of all together
  uint64_t memory_bytes = 0;  ///< likewise
  uint64_t limit_bytes = 0;
  uint64_t damaged = 0;  ///< sets of which part could not be read
  bool behind = false;   ///< at a node of a cluster: there may be others
};

}  // namespace seendb::ops
