// server/migrated/imported_users.h: of which users the past was imported from an old store, per
// collection. The server asks it at each filter request while a migration goes on; the tool's
// import into a folder notes into the same file.
//
// The file <db>/MIGRATION/<collection>.users has a hash of each user and grows by appending:
//
//   "SEENIMP1"  16 bytes: the key of the hashes  u32 n  n bytes: the template of the old store's
//   keys u64: SipHash of all that then, as often as was noted:  u32 n  u64: SipHash of what follows
//   n times u64: SipHash of a user
//
// All numbers are little-endian. What a killed process left half-written at the end is cut off.
// A file <collection>.everybody beside it says that an import read all keys to their end.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.h"
#include "base/sync.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb::migrated {

/// The folder of a database in which migrations keep their files.
std::string FolderOf(const std::string& db);

/// What a note survives.
enum class Survives : uint8_t {
  kKill,       ///< a killed process
  kPowerLoss,  ///< power loss as well; waits for the disk
};

/// See the head of this file. Two users have one hash at odds of 1 to 2^64 per pair, by a secret
/// key. Memory: 11 to 22 bytes per user. Threads: any.
class ImportedUsers {
 public:
  /// Opens the file, or makes it. kIncompatible: it is of other keys than `key_template`;
  /// kCorruption: its head can't be read; kIOError. No other process may have it open.
  static Result<std::unique_ptr<ImportedUsers>> Open(const std::string& db,
                                                     std::string_view collection,
                                                     std::string_view key_template);
  /// Deletes the file, if it is there. kIOError.
  static Status Remove(const std::string& db, std::string_view collection);

  ~ImportedUsers();
  ImportedUsers(const ImportedUsers&) = delete;
  ImportedUsers& operator=(const ImportedUsers&) = delete;

  /// Whether the user was noted. Cost: one look-up in memory.
  bool Has(IdRef user) const;
  /// Notes users. The caller has made everything that was imported of them as durable before.
  /// kIOError: none is noted.
  Status Add(std::span<const IdRef> users, Survives survives = Survives::kPowerLoss)
      EXCLUDES(append_mutex_);
  /// Notes that an import read all keys to their end: who was not noted had none. Durable once it
  /// returns, where everything imported is. kIOError.
  Status AddEverybody() EXCLUDES(append_mutex_);
  /// Tells these notes from those of other files: 16 hexadecimal digits.
  std::string id() const;
  bool everybody() const { return everybody_.load(std::memory_order_relaxed); }
  /// Forgets all; durable once it returns. kIOError.
  Status Clear() EXCLUDES(append_mutex_);
  /// Users noted.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  /// A set of hashes by open addressing; 0 is an empty place.
  struct Stripe {
    mutable ReadWriteMutex mutex{LockRank::kLeaf};
    std::vector<uint64_t> places GUARDED_BY(mutex);
    size_t used GUARDED_BY(mutex) = 0;
  };
  static constexpr size_t kStripes = 64;

  ImportedUsers(int file, const HashKey& key, std::string everybody_path);
  Status ReadFrames(const std::string& path, uint64_t begin);
  void Insert(uint64_t hash);
  uint64_t HashOf(IdRef user) const;

  const int file_;
  const HashKey key_;
  const std::string everybody_path_;
  std::atomic<bool> everybody_{false};
  Mutex append_mutex_{LockRank::kServerCall};
  uint64_t begin_ GUARDED_BY(append_mutex_) = 0;  // of the frames
  uint64_t size_ GUARDED_BY(append_mutex_) = 0;   // of the file
  std::array<Stripe, kStripes> stripes_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace seendb::migrated
