// tests/support/fault_env.h: an Env over the real file system that fails on demand.
//
//   FaultEnv faults;
//   env_ = faults.env();                         // before opening
//   faults.Fail(FaultEnv::kAppend, ".log", rocksdb::IOStatus::NoSpace("full"));
//   ...
//   faults.Clear();
//
// Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace seendb {

/// See the head of this file. Must outlive what was opened with it.
class FaultEnv {
 public:
  /// What may fail; a bit set.
  enum Operation : uint32_t {
    kAppend = 1,  ///< writing into a file
    kSync = 2,    ///< syncing a file
    kCreate = 4,  ///< making a file to be written
    kRename = 8,  ///< renaming one
    kRead = 16,   ///< reading at a position
    kSyncFolder = 32,
    kWriting = kAppend | kSync | kCreate | kRename | kSyncFolder,
  };

  FaultEnv();
  ~FaultEnv();
  rocksdb::Env* env() { return env_.get(); }

  /// From now on, `operations` on files whose path contains `part` answer `error`: after `skip`
  /// that still work, `times` of them (-1: until Clear).
  void Fail(uint32_t operations, std::string part, rocksdb::IOStatus error, int skip = 0,
            int times = -1);
  /// Everything works again.
  void Clear();
  /// Failures so far.
  uint64_t failures() const { return failures_; }
  /// Operations seen so far, failed or not: where to aim the next failure.
  uint64_t operations() const { return operations_; }

  /// For the wrappers: the failure due now, or OK.
  rocksdb::IOStatus Check(Operation operation, std::string_view path);

 private:
  struct Rule {
    uint32_t operations;
    std::string part;
    rocksdb::IOStatus error;
    int skip;
    int times;
  };

  std::mutex mutex_;
  std::vector<Rule> rules_;
  std::atomic<bool> armed_{false};
  std::atomic<uint64_t> failures_{0}, operations_{0};
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace seendb
