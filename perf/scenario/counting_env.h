// scenario/counting_env.h: the real file system, which counts reads of table files.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <rocksdb/env.h>

namespace seendb::perf {

/// See the head of this file. Threads: any.
class CountingEnv {
 public:
  CountingEnv();
  ~CountingEnv();
  CountingEnv(const CountingEnv&) = delete;
  CountingEnv& operator=(const CountingEnv&) = delete;
  /// To be injected; borrowed.
  rocksdb::Env* env() { return env_.get(); }
  /// Random reads of files since the beginning; a sequential read counts for nothing.
  uint64_t reads() const { return reads_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<uint64_t>> reads_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace seendb::perf
