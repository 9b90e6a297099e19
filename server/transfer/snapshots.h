// server/transfer/snapshots.h: the side of a move that gives: copies of shards, kept for other
// nodes to fetch piece by piece; and for backups, of stores beside the shards too.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/sync.h"
#include "seendb/engine.h"
#include "threads/worker.h"
#include "transfer/copy.h"
#include "transfer/free_space.h"
#include "transfer/throttle.h"

namespace seendb::transfer {

/// How stores are copied into a new folder, by their names; false: there is no such store.
using StoreCopies = std::map<std::string, std::function<Result<bool>(const std::string& folder)>>;

/// How a node gives its shards away.
struct SnapshotSettings {
  std::string db;                               ///< the database's folder
  uint64_t bytes_per_s = 100'000'000;           ///< to all other nodes together
  std::chrono::milliseconds keep{30 * 60'000};  ///< a copy, after the last request for it
  uint64_t reserve_bytes = 256u << 20;          ///< stay free on the disk, beside what a copy takes
  FreeSpace free_space = FreeSpaceOf;
  /// Copies of the stores beside the shards.
  StoreCopies stores = {};
};

/// Part of a file: `bytes` from `offset` on.
struct PieceRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// What was asked for, or its beginning.
struct Piece {
  std::string bytes;  ///< at least one
  uint64_t file_size = 0;
};

/// Copies lie in `<db>/tmp/snapshot-*`; tables in them are links, so that a copy costs little until
/// the shard is compacted. One thread of its own reads and sends, so that what is held back by the
/// throttle holds no worker. Threads: Start and Stop from one, others from any.
class Snapshots {
 public:
  static constexpr size_t kCopiesMost = 2;
  /// The most that one Read gives; more is held in memory for no request.
  static constexpr uint64_t kPieceBytes = 1u << 20;
  /// Requests for pieces that wait.
  static constexpr size_t kReadsMost = 16;

  explicit Snapshots(SnapshotSettings settings);
  /// Stops.
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  /// Removes what a process left, and takes calls from now on. `engine` is borrowed until Stop.
  Status Start(Engine* engine);
  /// Ends every copy; calls are kUnavailable from now on, those that wait too.
  void Stop();

  /// Copies a part for a node, or for a backup; waits for the disk, for minutes where the shard is
  /// large, since all of it is read for its checksums. Asked again by the same node, it is the copy
  /// made before, unless another run of a backup asked for that. kIncompatible: the node's database
  /// is another one; nothing was done. kBusy: kCopiesMost are kept or being made. kIOError: too
  /// little free disk, nothing was done; or the disk failed. kUnavailable: the shard is not here,
  /// or the node's copy of it is being made.
  Result<Manifest> Make(const CopyPart& part, const CopyRequest& request);
  /// Calls `done` once, on any thread, when the throttle lets it go. kNotFound: no such copy or
  /// file. kInvalidArgument: the range begins behind the file's end. kBusy: kReadsMost wait.
  /// kCorruption: the file is not what it was.
  void Read(const CopyPart& part, const std::string& id, const std::string& name, PieceRange range,
            std::function<void(Result<Piece>)> done);
  /// Removes a copy. kNotFound: there is none.
  Status End(const CopyPart& part, const std::string& id);

 private:
  using Clock = std::chrono::steady_clock;
  struct Copy {
    std::string node, run;
    Manifest manifest;
    bool made = false;
    Clock::time_point used;
  };
  struct Job {
    std::string path;
    uint64_t file_size = 0;
    PieceRange range;
    std::function<void(Result<Piece>)> done;
  };

  std::string PathOf(const std::string& id) const;
  Status RemoveLeftovers() const;
  /// A place among the copies, or the copy that the node was given before.
  Result<Manifest> Reserve(const CopyPart& part, const CopyRequest& request, Engine** engine);
  Status Fill(Engine* engine, bool sha256, Manifest* manifest);
  Status CheckRoom(const CopyPart& part) const;
  /// Makes the copy itself.
  Status CopyTo(const std::string& folder, const CopyPart& part, Engine* engine) const;
  /// `pace`: of a backup, which has time, and asks for SHA-256; null: of a node, which has not.
  Status AddFile(const std::string& folder, const std::string& name, Throttle* pace,
                 Manifest* manifest);
  /// Ends the copies that an earlier run of a backup left.
  void EndOtherRuns(const CopyRequest& request);
  Result<Job> JobFor(const CopyPart& part, const std::string& id, const std::string& name,
                     PieceRange range) REQUIRES(mutex_);
  bool stopping() const;

  void Run();
  void Give(const Job& job);
  /// Waits for a request; nothing once it is time to look for old copies, or to stop.
  std::optional<Job> NextJob();
  /// False where it is to stop first.
  bool SleepUntil(int64_t at_us);
  void RemoveOld();

  const SnapshotSettings settings_;
  mutable Mutex mutex_{LockRank::kLeaf};
  Engine* engine_ GUARDED_BY(mutex_) = nullptr;            // null: it takes no calls
  std::map<std::string, Copy> copies_ GUARDED_BY(mutex_);  // by their ids
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  Throttle throttle_;  // of the thread
  Worker worker_;      // the last member: it ends before what it uses
};

}  // namespace seendb::transfer
