// server/migration/write_queue.h: what is to be written to an old store, on disk until it is.
//
// Kept in files <db>/MIGRATION/<collection>.writes.N, ascending; in a cluster a queue per partition
// P, in <collection>.writes.pP.N. They have frames:
//
//   u32 n  u8 state  u64: SipHash, with a key of zeros, of what follows  i64 offset  entries: n
//   bytes entry: u8 kind  i64 at_ms  u8 size of the user  the user  u8 size of the item  the item
//
// State: 1: it is to be written; 2: whether its plays were recorded is not known; 3: they were not.
// The offset is that of the record of the cluster's log, else 0.
//
// A killed process loses nothing that was appended or staged; a power loss may take the newest. How
// far it was read is not kept: after a restart what is in the oldest file is given again, in the
// same order.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
  int64_t at_ms = 0;           ///< of a play; of kDeleteKey: what is newer stays, 0: nothing does
  std::string_view user = {};  ///< at most kMaxIdBytes
  std::string_view item = {};  ///< empty for kDeleteKey
};

/// See the head of this file. Threads: Append by any; Stage and Settle by one; Peek and Done by
/// one; the others by any.
class WriteQueue {
 public:
  /// States of a frame, as on disk.
  enum class State : uint8_t { kRecorded = 1, kUnknown = 2, kNotRecorded = 3 };
  /// What queues of a collection share: their bytes are limited together.
  struct Space {
    explicit Space(uint64_t bytes_most) : most(bytes_most) {}
    const uint64_t most;
    std::atomic<uint64_t> used{0};
  };
  /// Of which partition of a cluster a queue is; nothing: of a server by itself.
  using Partition = std::optional<uint32_t>;

  /// Opens what is there. What can't be read at the end of a file is cut off. kIOError.
  static Result<std::unique_ptr<WriteQueue>> Open(const std::string& db,
                                                  const std::string& collection,
                                                  Partition partition,
                                                  std::shared_ptr<Space> space);
  /// The partitions that have files.
  static std::vector<uint32_t> PartitionsOf(const std::string& db, const std::string& collection);
  /// Deletes the files of all queues. kIOError.
  static Status Remove(const std::string& db, const std::string& collection);
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  /// Adds to the end. False: it is full, and nothing was added; or the disk fails, and some may be.
  /// What deletes keys alone may take kRemovalBytes more. Cost: a write to the page cache.
  bool Append(std::span<const OldWrite> writes, int64_t offset = 0) EXCLUDES(mutex_);
  /// The same, of plays that are about to be recorded: they, and what is behind them, are not given
  /// before Settle was called.
  bool Stage(std::span<const OldWrite> writes, int64_t offset = 0) EXCLUDES(mutex_);
  /// Says what became of what was staged, once after each Stage. A source that tries again stages
  /// again: what was not recorded is cut off where nothing was appended behind it.
  void Settle(bool recorded) EXCLUDES(mutex_);

  /// The offset of the oldest that can be given; nothing: there is none. Waits for nothing.
  std::optional<int64_t> front() const {
    const int64_t offset = front_.load(std::memory_order_acquire);
    return offset == kNoFront ? std::nullopt : std::optional(offset);
  }
  /// What Peek gives.
  struct Batch {
    std::string bytes;                ///< that the writes view
    std::vector<OldWrite> writes;     ///< those that are to be written
    std::vector<OldWrite> unsettled;  ///< plays of which it is not known whether they were recorded
  };
  /// The oldest, at least one frame, of those whose offset is below `before`. kIOError: then that
  /// file is left out.
  Status Peek(int64_t before, Batch* batch) EXCLUDES(mutex_);
  /// What Peek gave is done.
  void Done() EXCLUDES(mutex_);
  /// Bytes that wait.
  uint64_t bytes() const EXCLUDES(mutex_);
  Partition partition() const { return partition_; }

  static constexpr uint64_t kRemovalBytes = 64u << 20;

 private:
  struct Segment {
    uint64_t number = 0;
    int file = -1;
    uint64_t size = 0;
  };
  /// A frame that is staged.
  struct Staged {
    uint64_t number = 0;  // of the segment
    uint64_t at = 0, end = 0;
  };

  WriteQueue(std::string prefix, Partition partition, std::shared_ptr<Space> space)
      : prefix_(std::move(prefix)), partition_(partition), space_(std::move(space)) {}
  Status OpenSegment(uint64_t number) EXCLUDES(mutex_);
  bool AppendAll(std::span<const OldWrite> writes, int64_t offset, State state) EXCLUDES(mutex_);
  bool AppendFrame(std::string_view frame) REQUIRES(mutex_);
  bool NewSegment() REQUIRES(mutex_);
  void DropFront() REQUIRES(mutex_);
  bool CutOff(const std::vector<Staged>& staged) REQUIRES(mutex_);
  uint64_t ReadyEnd() const REQUIRES(mutex_);
  void RenewFront() REQUIRES(mutex_);
  static constexpr int64_t kNoFront = -1;

  const std::string prefix_;
  const Partition partition_;
  const std::shared_ptr<Space> space_;
  mutable Mutex mutex_{LockRank::kServerCall};
  std::deque<Segment> segments_ GUARDED_BY(mutex_);
  std::vector<Staged> staged_ GUARDED_BY(mutex_);  // ascending
  uint64_t done_ GUARDED_BY(mutex_) = 0;           // of the first segment
  uint64_t peeked_ GUARDED_BY(mutex_) = 0;         // behind done_
  uint64_t total_ GUARDED_BY(mutex_) = 0;          // of all segments
  std::atomic<int64_t> front_{kNoFront};           // changed in the lock
};

}  // namespace seendb::migration
