// tests/simulation/quick_env.h: an Env for simulations: nothing in it takes real time for nothing,
// and the simulator may step in between two operations of the disk.
//
// RocksDB sleeps for a second after a flush or compaction that failed: here it does not. At each
// opening, and each time a family is made or dropped, it writes an OPTIONS file with the options of
// all families and reads it back to compare: nine tenths of a simulation's work, for a file that
// the engine never reads. Nine of ten scripts go without.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include <rocksdb/env.h>

namespace seendb::simulation {

/// Where something else may be done in the middle of an operation: after the disk synced, made,
/// named or deleted a file. Threads: any.
class DiskPoints {
 public:
  /// Calls `work` once, at the `skip`-th point from now, on whatever thread gets there.
  void Arm(int64_t skip, std::function<void()> work);
  /// Waits for what is being called; nothing is from now on.
  void Disarm();
  /// A point; for the Env.
  void Reached();

 private:
  std::atomic<bool> armed_{false};
  std::mutex mutex_;  // held during the work, which passes points of its own: not armed by then
  int64_t skip_ = 0;
  std::function<void()> work_;
};

/// `env`, but nobody sleeps, and unless `options_files`, making an OPTIONS file is refused. Both
/// are borrowed.
std::unique_ptr<rocksdb::Env> NewQuickEnv(rocksdb::Env* env, bool options_files,
                                          DiskPoints* points);

}  // namespace seendb::simulation
