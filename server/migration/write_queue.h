// server/migration/write_queue.h: what is to be written to an old store, on disk until it is.
//
// Kept in files <db>/MIGRATION/<collection>.writes.N, ascending, each of frames:
//
//   u32 n  u64: SipHash, with a key of zeros, of what follows  n bytes: entries
//   entry: u8 kind  i64 at_ms  u8 size of the user  the user  u8 size of the item  the item
//
// A killed process loses nothing that Append took; a power loss may take the newest. How far it was
// read is not kept: after a restart what is in the oldest file is given again, in the same order.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "seendb/status.h"

namespace seendb::migration {

/// One change of a user's key.
struct OldWrite {
  enum class Kind : uint8_t { kPlay = 1, kDeleteKey = 2, kDeleteItem = 3 };

  Kind kind = Kind::kPlay;
  int64_t at_ms = 0;           ///< of a play
  std::string_view user = {};  ///< at most kMaxIdBytes
  std::string_view item = {};  ///< empty for kDeleteKey
};

/// See the head of this file. Threads: Append by any; the others by one.
class WriteQueue {
 public:
  /// Opens what is there. What can't be read at the end of a file is cut off. kIOError.
  static Result<std::unique_ptr<WriteQueue>> Open(const std::string& db,
                                                  const std::string& collection,
                                                  uint64_t bytes_most);
  /// Deletes the files. kIOError.
  static Status Remove(const std::string& db, const std::string& collection);
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  /// Adds to the end. False: it is full, and nothing was added; or the disk fails, and some may be.
  /// Cost: a write to the page cache.
  bool Append(std::span<const OldWrite> writes) EXCLUDES(mutex_);
  /// Waits until there is something, or Stop. False: stopped.
  bool Wait() EXCLUDES(mutex_);
  void Stop() EXCLUDES(mutex_);
  /// The oldest, at least one frame; `*writes` views `*bytes`. kIOError: then that file is left
  /// out.
  Status Peek(std::string* bytes, std::vector<OldWrite>* writes) EXCLUDES(mutex_);
  /// What Peek gave is done.
  void Done() EXCLUDES(mutex_);
  /// Bytes that wait.
  uint64_t bytes() const EXCLUDES(mutex_);

 private:
  struct Segment {
    uint64_t number = 0;
    int file = -1;
    uint64_t size = 0;
  };

  WriteQueue(std::string prefix, uint64_t bytes_most)
      : prefix_(std::move(prefix)), bytes_most_(bytes_most) {}
  Status OpenSegment(uint64_t number) EXCLUDES(mutex_);
  bool AppendFrame(std::string_view frame) REQUIRES(mutex_);
  bool NewSegment() REQUIRES(mutex_);
  void DropFront() REQUIRES(mutex_);

  const std::string prefix_;
  const uint64_t bytes_most_;
  mutable Mutex mutex_{LockRank::kServerCall};
  CondVar changed_;
  std::deque<Segment> segments_ GUARDED_BY(mutex_);
  uint64_t done_ GUARDED_BY(mutex_) = 0;    // of the first segment
  uint64_t peeked_ GUARDED_BY(mutex_) = 0;  // behind done_
  uint64_t total_ GUARDED_BY(mutex_) = 0;   // of all segments
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace seendb::migration
