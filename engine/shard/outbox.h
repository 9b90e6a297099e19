// shard/outbox.h: the outbox of one shard: first plays of the day out of a log that are still to be
// told. A row (tables/outbox_row.h) is written in the batch of the plays, their days and the
// offset, so that it is there exactly where the play is a first one and the log is not read again.
//
// In memory are the numbers of rows alone, by source. They are counted when the shard is opened
// (about a second for a million rows), and again when it was opened anew.
//
// Whoever changes rows that are there holds changes(). A write of new rows does not need it: their
// offsets lie beyond all rows. Only where the log is read again may a write meet rows (MayMeet).
//
// Threads: any; Load needs nobody else in the shard.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/write_batch.h>

#include "base/sync.h"
#include "seendb/ingest.h"
#include "shard/first_plays.h"
#include "shard/user_lookup.h"
#include "store/shard_store.h"
#include "store/sources.h"
#include "tables/outbox_row.h"

namespace seendb {

/// See the head of this file.
class Outbox {
 public:
  /// New rows of one write, by source: they count once the write has succeeded.
  using Added = std::map<Sources::Key, uint64_t>;

  explicit Outbox(ShardStore* store) : store_(store), changes_(LockRank::kOutbox, store->shard()) {}

  Mutex& changes() LOCK_RETURNED(changes_) { return changes_; }

  /// Counts the rows.
  Status Load();
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  void AddSources(std::vector<OutboxSource>* sources) const;

  /// Whether the write of a batch may meet rows: one that was there when they were counted has an
  /// offset of its plays, or a later one.
  bool MayMeet(const IngestBatch& batch) const;
  /// Adds rows of first plays that the batch has. `meets`: MayMeet, and changes() is held; what a
  /// row has is kept then.
  Status AddTo(rocksdb::WriteBatch* batch, const IngestBatch& log, const OutboxValue& stamp,
               const FirstPlays& firsts, bool meets, Added* added);
  void Commit(const Added& added);

  /// See Engine::ReadOutbox; `users` say who was erased.
  Status Read(const OutboxSource& source, int64_t after, size_t limit, const UserLookup& users,
              std::vector<OutboxRow>* rows) const;
  Status Delete(std::span<const OutboxRow> told) EXCLUDES(changes_);
  /// Takes a user out of all rows written before the shard's sequence `seq`. Cost: a look at each
  /// row.
  Status Erase(std::string_view user, uint64_t seq) EXCLUDES(changes_);
  /// Deletes all rows of a topic.
  Status Forget(std::string_view topic) EXCLUDES(changes_);

 private:
  struct Source {
    uint64_t rows = 0;
    int64_t last_counted = -1;  // the greatest offset when the rows were counted
  };
  /// The value at a key; nothing there: false. A damaged one names nobody.
  Status Find(const std::string& key, bool* found, OutboxValue* value) const;
  /// Deletes those of the keys that are there.
  Status DeleteKeys(std::span<const std::string> keys) REQUIRES(changes_);
  Status EraseFrom(std::span<const std::string> keys, std::string_view user, uint64_t seq)
      EXCLUDES(changes_);
  Status WriteDeletions(rocksdb::WriteBatch* batch, const Added& deleted) REQUIRES(changes_);

  ShardStore* const store_;
  Mutex changes_;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<Sources::Key, Source> sources_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> rows_{0};
};

}  // namespace seendb
