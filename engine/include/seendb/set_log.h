// seendb/set_log.h: sets that several processes have alike, since all of them read one log: each
// keeps them in a store of its own, with the place up to which it has read. Library: seendb::sets.
//
//   auto sets = seendb::SetLog::Open("/var/lib/seendb/sets", {.log = id, .append =
//   append}).value(); sets->Apply(entries, next_offset);         // whoever reads the log
//   sets->SetCurrent(true);                    // it was read to its end
//   sets->Put("blocked", ids);                 // calls append, which waits for Apply
//
// The log has one order, and may be compacted: of entries with one key the last stays, and an entry
// without a value takes away those of its key. A set is written in pieces, under its name, its
// version and the piece's number. A version counts once all its pieces came, unless one that was
// begun later counts: later is whose first piece has the greater offset. A deletion is a version
// too. So all stores that are as far have the same sets, whoever wrote at once, and whoever was
// killed between two pieces.
//
// A version that counts makes the former ones of its name useless: Leftovers names their pieces,
// and whoever writes the log appends that. The log has the later version already. A reader who is
// behind a compaction may lack both for a while: it is not current then.
//
// Threads: as SetStore; Apply and BeginAnew from one at a time.
// Durability: what Apply took is written with the place in the log in one batch, and not synced:
// after a loss of power a part of the log is read again.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/set_store.h"
#include "seendb/status.h"

namespace seendb {

/// Most bytes of pieces whose version is not whole; where a log has more, no set is put.
inline constexpr uint64_t kMaxUnfinishedBytes = uint64_t{128} << 20;
/// Most names that a log has: those of deleted sets stay in it.
inline constexpr size_t kMaxLogSetNames = 100'000;

/// An entry for the log.
struct SetRecord {
  std::string key;
  std::optional<std::string> value;  ///< nothing: what the log has under the key goes
};

/// An entry of the log. Borrows its bytes.
struct SetLogEntry {
  int64_t offset = 0;
  std::string_view key = {};
  std::optional<std::string_view> value = {};
};

/// How a store that follows a log is opened.
struct SetLogOptions {
  SetStoreOptions store = {};
  std::string log = "log";  ///< which log it is: of another one's sets the store keeps none
  /// Appends entries to the log, in this order, each once; returns once this store's Apply has
  /// taken them. Called on the thread of Put and of Delete, one call at a time. A failure may leave
  /// some of them in the log. Null: the store takes no changes.
  std::function<Status(std::span<const SetRecord> records)> append = {};
};

/// See the head of this file.
class SetLog : public SetStore {
 public:
  /// Fails as SetStore::Open does. Drops sets of the folder that are of another log, or of no log.
  static Result<std::unique_ptr<SetLog>> Open(const std::string& path,
                                              const SetLogOptions& options);

  // Put and Delete of SetStore draw up a version and append it. kUnavailable also: Ready fails, or
  // `append` does: the version may come to count later; or the log lost its pieces again meanwhile.
  // An answer of Put says what was put, though a version that was begun later may count already.
  // Put is kUnavailable too where the log has more than kMaxUnfinishedBytes of versions that nobody
  // finished, and kIncompatible where it has kMaxLogSetNames.

  /// The offset of the entry that is read next.
  virtual int64_t next_offset() const = 0;
  /// Takes entries, ascending by offset, and what lies between them and `next_offset` as read.
  /// Entries that are no piece are passed over (passed_over). kIncompatible, with the offset: newer
  /// software wrote one; those before it are taken. kIOError: next_offset says how far it came.
  virtual Status Apply(std::span<const SetLogEntry> entries, int64_t next_offset) = 0;
  /// Forgets all sets: the log is another one, to be read from its beginning.
  virtual Status BeginAnew() = 0;
  /// Whether all that the log had at some time is here. Before the first call it is not.
  virtual void SetCurrent(bool current) = 0;
  /// Entries without a value for pieces of versions that have ended: of the sets put or deleted
  /// here. With `old` also of all that have ended, or were begun and not finished, since a call of
  /// Leftovers that long before `now`; nothing of these while the store is not current. Those of a
  /// version are in the order of their numbers, to be appended so. At most some thousand.
  /// Precondition of `old`: at `now` or later the log's end was asked, and this store has read up
  /// to it. A store that is behind may take for unfinished what all others have.
  virtual std::vector<SetRecord> Leftovers(std::chrono::steady_clock::time_point now,
                                           std::optional<std::chrono::milliseconds> old) = 0;
  /// Entries that were no pieces, since the opening.
  virtual uint64_t passed_over() const = 0;
  /// The sets that the opening dropped.
  virtual size_t dropped() const = 0;
};

}  // namespace seendb
