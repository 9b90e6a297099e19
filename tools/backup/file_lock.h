// backup/file_lock.h: locks between processes that use one folder of backups: flock's, which the
// kernel drops when the process ends.

#pragma once

#include <chrono>
#include <string>

#include "seendb/status.h"

namespace seendb::backup {

/// A file that is locked while this lives. Threads: one.
class FileLock {
 public:
  enum class Kind { kTogether, kAlone };

  /// Locks the file, which is made unless it is there; waits for at most `wait`. kBusy: somebody
  /// else has it locked. kIOError. In a folder that can't be written to and has no such
  /// file nobody can lock it alone, and kTogether succeeds.
  static Result<FileLock> Take(const std::string& path, Kind kind, std::chrono::milliseconds wait);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;  // -1: none is needed
};

}  // namespace seendb::backup
