// server/ops/last_checkpoint.h: when the last checkpoint was complete, known after a restart too.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "seendb/status.h"

namespace seendb::ops {

/// See the head of this file. Threads: any, once it is loaded.
class LastCheckpoint {
 public:
  /// Reads the database's file CHECKPOINTED, where there is one.
  void Load(const std::string& db);
  /// Ms since 1970 by the machine's clock; 0: none is known of.
  int64_t at_ms() const noexcept { return at_ms_.load(std::memory_order_relaxed); }
  /// Notes one; also in the file, once Load has named it. Not synced: what power loss brings back
  /// is an older one, which asks for a checkpoint too early. kIOError.
  Status Note(int64_t at_ms);

 private:
  std::string path_;
  std::atomic<int64_t> at_ms_{0};
};

}  // namespace seendb::ops
