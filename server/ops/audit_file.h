// server/ops/audit_file.h: the file of the audit: lines that are never dropped.
//
// One thread writes. A call waits until its line is in the file, and learns if it can't be written.
// Besides, a call may reserve room for a line that is written later, while nobody waits for it: if
// the disk is full then, the line stays in memory and is tried again.
//
// A line is one write(2). What a full disk has cut short is ended with a line break before the next
// line, so that it stands by itself.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/sync.h"
#include "seendb/status.h"
#include "threads/worker.h"

namespace seendb::ops {

/// Whether AuditFile::Open would take the file: it is looked at, and not made. kInvalidArgument,
/// kIOError.
Status CheckAuditFile(const std::string& path);

/// See the head of this file. Threads: any.
class AuditFile {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Most lines that are reserved and not written yet.
  static constexpr size_t kReservedMost = 4'096;

  /// Opens the file to append to it; one that is not there is made with the mode 0640.
  /// kInvalidArgument: others may write to it, or it is no file. kIOError.
  static Result<std::unique_ptr<AuditFile>> Open(std::string path);
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;
  /// Writes what is left, once; what can't be written is told to the log. No other call is running.
  ~AuditFile();

  /// Writes a line, without its line break, and returns once it is in the file; with `synced` it
  /// survives a loss of power as well. For threads that may wait for a disk. kIOError: it is not in
  /// the file, or cut short, or may be lost with the power. kUnavailable: the disk took longer than
  /// `until`; it may get there yet.
  Status Write(std::string line, bool synced, Time until);
  /// Room for one line of WriteReserved; false where too many are reserved.
  bool Reserve();
  /// Gives the room back.
  void Release();
  /// Writes the line for which Reserve made room. Does not wait.
  void WriteReserved(std::string line);
  /// Opens the path again soon: it may name another file now. If that fails, the open file goes on
  /// taking lines. Does not wait.
  void Reopen();

  /// Lines that are in the file, and failures to write one or to open the file anew.
  uint64_t lines() const { return lines_.load(std::memory_order_relaxed); }
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }
  /// Why the newest line could not be written, or the file not opened anew; empty: nothing is
  /// wrong.
  std::string Problem() const;

 private:
  enum class State : uint8_t { kWaits, kBeingWritten, kWritten, kFailed };
  struct Line {
    std::string text;
    bool synced = false;
    bool reserved = false;
    State state = State::kWaits;  // guarded by mutex_
    std::string error = {};       // likewise, of kFailed
  };
  using Lines = std::deque<std::shared_ptr<Line>>;

  AuditFile(std::string path, int fd, bool torn);
  void Run();
  bool AwaitWork(bool* reopen, Lines* batch);
  void Finish(const Lines& batch, size_t written, const std::string& error);
  // On the writer's thread.
  std::string OpenAnew();
  size_t WriteAll(const Lines& lines, std::string* error);
  bool WriteLine(const std::string& text, std::string* error);

  const std::string path_;
  // The writer's thread alone uses these.
  int fd_;
  bool torn_;                    // the file does not end with a line break
  std::string reopening_error_;  // of the last try; empty: none

  std::atomic<uint64_t> lines_{0}, failures_{0};
  mutable Mutex mutex_{LockRank::kLeaf};
  CondVar done_;
  Lines queue_ GUARDED_BY(mutex_);
  size_t reserved_ GUARDED_BY(mutex_) = 0;
  bool retries_ GUARDED_BY(mutex_) =
      false;  // the queue has reserved lines that failed, and no more
  bool reopen_ GUARDED_BY(mutex_) = false;
  std::string problem_ GUARDED_BY(mutex_);
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::ops
