// seendb/set_store.h: keeps named sets of items, beside the engine that keeps who has seen what: in
// memory for questions, in a RocksDB of its own for keeps. Library: seendb::sets. The engine does
// not need it.
//
//   auto store = seendb::SetStore::Open("/var/lib/seendb/sets", {}).value();
//   const seendb::IdRef ids[] = {seendb::IdRef("a"), seendb::IdRef("b")};
//   auto put = store->Put("blocked", ids);
//   std::shared_ptr<const seendb::ItemSet> set = store->Find("blocked");  // for a Question
//
// A set is exact: it has the ids themselves, by their canonical text, so nothing that was not put
// is a member. Sets are of all users: an erasure, a clear or a deletion from history changes none,
// and none expires.
//
// Threads: any call on any thread. Readers wait for no writer: a set that Find gave stays as it is,
// and keeps its memory, until it is let go. Calls that write go one after the other.
// Durability: what was acknowledged survives a loss of power. A set is replaced whole: a crash
// leaves the former one or the new one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/id.h"
#include "seendb/item_set.h"
#include "seendb/status.h"

namespace seendb {

/// Most ids of a set.
inline constexpr size_t kMaxSetItems = 1'000'000;
/// Most sets of a store.
inline constexpr size_t kMaxSets = 1'000;
/// Most bytes of memory of all sets of a store.
inline constexpr uint64_t kMaxSetBytes = uint64_t{64} << 20;
/// Most ids of a page.
inline constexpr size_t kMaxSetPage = 10'000;

/// How a store is opened.
struct SetStoreOptions {
  uint64_t bytes = kMaxSetBytes;  ///< most bytes of memory; kMaxSetBytes at most
  /// Milliseconds since 1970; the system's clock where it is empty.
  std::function<int64_t()> now_ms = {};
};

/// One set.
struct SetInfo {
  std::string name;
  uint64_t count = 0;    ///< distinct ids
  uint64_t bytes = 0;    ///< of memory
  int64_t at_ms = 0;     ///< when it was put, ms since 1970
  bool damaged = false;  ///< part of it could not be read; put it anew
};

/// Some ids of a set.
struct SetPage {
  SetInfo info;
  std::vector<std::string> items;  ///< canonical texts, in the order of their bytes
  std::string after;               ///< for the next page; empty: this was the last
};

/// See the head of this file. Owns its folder: one process at a time. Sets of several processes
/// come from a log that all of them read: seendb/set_log.h.
class SetStore {
 public:
  /// Opens the store in `path`, or makes one; reads all sets into memory. kBusy: another process
  /// has it. kIncompatible: newer software made it. kCorruption, kIOError: RocksDB can't open or
  /// read it. A set with a damaged record is opened as SetInfo::damaged.
  static Result<std::unique_ptr<SetStore>> Open(const std::string& path,
                                                const SetStoreOptions& options);
  /// Copies the store in `path` as Checkpoint does, and reads no set for it. kBusy: somebody has it
  /// open. kNotFound: nothing is there.
  static Status Copy(const std::string& path, const std::string& to);
  /// Closes it, if Close was not called.
  virtual ~SetStore() = default;

  /// Makes these the set's ids, in place of those it had; none is a set without members. Repeats
  /// count once. Synced before readers see it. kInvalidArgument: a wrong name, too many ids
  /// ("/items"), a wrong id ("/items/<index>"). kIncompatible: kMaxSets are there. kBusy: all sets
  /// together would take more than `bytes`; nothing was changed. kIOError: the former set counts;
  /// after an opening it may be either. Cost: sorts the ids; while it runs both sets are in memory.
  virtual Result<SetInfo> Put(std::string_view name, std::span<const IdRef> items) = 0;
  /// Deletes it, synced. kNotFound: no such set.
  virtual Status Delete(std::string_view name) = 0;
  /// kUnavailable, with the reason: it does not have all sets yet (SetLog). Waits for nothing.
  virtual Status Ready() const { return {}; }
  /// The set as it is now; null: no such set. While Ready fails it is a set whose members may be
  /// missing (ItemSet::damaged), with those that are known.
  virtual std::shared_ptr<const ItemSet> Find(std::string_view name) const = 0;
  /// All sets, by name.
  virtual std::vector<SetInfo> List() const = 0;
  /// `limit` (1-kMaxSetPage) ids behind `after`; empty: from the first. kNotFound: no such set.
  /// Cost: a walk over the set.
  virtual Result<SetPage> Read(std::string_view name, std::string_view after,
                               size_t limit) const = 0;
  /// Reads every record and checks it; gives the names of the sets that are damaged.
  virtual Result<std::vector<std::string>> Verify() const = 0;
  /// Writes a copy of the store that can be opened, into a folder that does not exist yet.
  virtual Status Checkpoint(const std::string& path) = 0;
  /// Closes it; later calls that write give kClosed. No call may run meanwhile.
  virtual Status Close() = 0;
};

}  // namespace seendb
