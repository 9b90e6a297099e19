// server/migration/counters.h: the counts of one migration. Threads: any.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "ops/migration_state.h"

namespace seendb::migration {

using ops::MigrationCount;

/// See the head of this file.
class Counters {
 public:
  void Add(MigrationCount count, uint64_t n = 1) {
    values_[static_cast<size_t>(count)].fetch_add(n, std::memory_order_relaxed);
  }
  /// Copies all.
  void Read(std::array<uint64_t, ops::kMigrationCounts.size()>* to) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      (*to)[i] = values_[i].load(std::memory_order_relaxed);
    }
  }

 private:
  std::array<std::atomic<uint64_t>, ops::kMigrationCounts.size()> values_ = {};
};

}  // namespace seendb::migration
