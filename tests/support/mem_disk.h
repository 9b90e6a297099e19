// tests/support/mem_disk.h: a disk in memory: it fails on demand, is full on demand, and forgets
// what was not synced when the power is cut.
//
//   MemDisk disk;
//   env_ = disk.env();                                       // before opening; paths: "/db"
//   disk.Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::NoSpace("full"), /*skip=*/3);
//   ...
//   disk.Clear();
//   disk.CrashAt(MemDisk::kSync, "", 5);  ... engine_.reset();  disk.PowerCut(seed); disk.Revive();
//
// What survives a power cut is what was promised and no more: bytes up to the file's last sync,
// names up to the folder's last sync; a file synced under a name that was not may be gone. The
// dice decide about the rest. Clock and threads are the real ones. RocksDB's text log (LOG) is not
// kept at all.
//
// Threads: any. Must outlive what was opened with it.

#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "support/mem_tree.h"

namespace seendb {

/// See the head of this file.
class MemDisk {
 public:
  /// What may fail; a bit set.
  enum Operation : uint32_t {
    kAppend = 1,       ///< writing into a file
    kSync = 2,         ///< syncing one
    kCreate = 4,       ///< making one to be written, or emptying it
    kRename = 8,       ///< by the new name
    kRead = 16,        ///< reading bytes
    kSyncFolder = 32,  ///< making names durable
    kDelete = 64,      ///< a file or a folder
    kLink = 128,       ///< a second name, by that name
    kTruncate = 256,
    kMakeFolder = 512,
    kOpen = 1024,  ///< opening a file to be read or written on, listing, asking about
    kWriting = kAppend | kSync | kCreate | kRename | kSyncFolder | kDelete | kLink | kTruncate |
               kMakeFolder,
    kReading = kRead | kOpen,
  };
  static constexpr size_t kKinds = 11;
  /// No limit; see SetCapacity.
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  MemDisk();
  ~MemDisk();
  rocksdb::Env* env() { return env_.get(); }
  /// A disk with the same contents, synced and not; no rules, locks or open files. Cheap.
  std::unique_ptr<MemDisk> Clone();

  /// From now on, `operations` on files whose path contains `part` answer `error`: after `skip`
  /// that still work, `times` of them (-1: until Clear). A star in `part` stands for anything:
  /// "shard-0001*.log".
  void Fail(uint32_t operations, std::string part, rocksdb::IOStatus error, int skip = 0,
            int times = -1);
  /// The same; half the bytes of a failing append reach the file.
  void FailShort(uint32_t operations, std::string part, rocksdb::IOStatus error, int skip = 0,
                 int times = -1);
  /// From now on these operations wait, each, until Release; held() of them do.
  void Hold(uint32_t operations, std::string part);
  void Release();
  int held() const;
  /// Every rule goes: nothing fails on demand any more.
  void Clear();
  /// Beyond so many bytes of files, appends and creations answer NoSpace.
  void SetCapacity(uint64_t bytes);
  uint64_t used() const;

  /// With the `skip`-th next of these operations (0: the next) the process dies: of an append half
  /// the bytes reach the disk, and every further operation of whatever kind fails until Revive.
  void CrashAt(uint32_t operations, std::string part, int skip);
  /// It dies now.
  void Crash();
  bool crashed() const;
  /// A new process may begin: locks are free, files opened before stay dead.
  void Revive();
  /// Forgets what was not synced. Precondition: crashed, or nothing is open.
  void PowerCut(uint64_t seed, MemTear tear = MemTear::kShorten);

  /// Failures by rules so far.
  uint64_t failures() const;
  /// Operations of these kinds so far, failed or not: where to aim.
  uint64_t operations(uint32_t kinds = kWriting | kReading) const;
  /// "append /db/SEENDB" of the last failure by a rule, or of what met the crash.
  std::string last_failure() const;

  /// Every file whose path contains `part`, by path.
  std::vector<std::string> Files(std::string_view part) const;
  /// A file's bytes, for damage; replaced bytes count as synced. False where there is none.
  bool Read(const std::string& path, std::string* bytes) const;
  bool Write(const std::string& path, const std::string& bytes);
  bool Remove(const std::string& path);

 private:
  friend class MemFiles;
  friend struct MemHandle;
  struct Rule {
    uint32_t operations;
    std::string part;
    rocksdb::IOStatus error;
    int skip;
    int times;
    bool half;
    bool crash;
    bool hold = false;
  };
  /// What the wrappers do next: go on if the status is OK, and of an append half anyway.
  struct Verdict {
    rocksdb::IOStatus status;
    bool half = false;
  };

  void AddRule(Rule rule);
  // With mutex_ held:
  Verdict Check(Operation operation, std::string_view path, uint64_t generation);
  rocksdb::IOStatus CheckSpace(uint64_t more) const;

  mutable std::mutex mutex_;  // guards all but env_
  MemTree tree_;
  std::vector<Rule> rules_;
  std::set<std::string> locks_;
  std::array<uint64_t, kKinds> counts_{};
  uint64_t failures_ = 0;
  uint64_t capacity_ = kUnlimited;
  uint64_t generation_ = 0;  // of the process: files opened by an older one are dead
  bool crashed_ = false;
  int held_ = 0;
  uint64_t releases_ = 0;
  std::condition_variable_any released_;
  std::string last_failure_;
  std::unique_ptr<rocksdb::Env> env_;
};

/// The file system of a disk, for its Env.
std::shared_ptr<rocksdb::FileSystem> NewMemFiles(MemDisk* disk);

}  // namespace seendb
