// store/sources.h: how far one shard has applied each source (a partition of a log), and what it
// counted: records of the family `default` (format.md, "Names"), kept in memory as well. A record
// has two keys: versions before the mark know the first alone, and take one with another member for
// damage. Where a record was lost, the second key may be left alone and say so.
//
// The records are written in the batch of the events they cover. Memory holds what was written
// with success; after a failed write the database may hold more, or after a failed sync less.
//
// Threads: any; Load and Settle need nobody else in the shard.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/write_batch.h>

#include "base/sync.h"
#include "seendb/ingest.h"
#include "seendb/status.h"
#include "store/shard_store.h"

namespace seendb {

/// One record.
struct SourceRecord {
  int64_t next_offset = 0;
  SourceCounts counts;
  std::optional<SourceMark> last;  ///< a message below next_offset
  bool held = false;               ///< not to be read on

  /// As stored under SourceKey.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<SourceRecord> FromJson(std::string_view json);

  /// As stored under TopicKey: last and held, with the next offset that they belong to.
  std::string MarkToJson() const;
  /// Takes last and held from there; nothing where the text is damaged, or belongs to another next
  /// offset: an older version went on without it.
  void TakeMark(std::string_view json);
  bool has_mark() const { return last.has_value() || held; }
};

/// See the head of this file.
class Sources {
 public:
  using Key = std::pair<std::string, uint32_t>;  // topic, partition
  using Records = std::map<Key, SourceRecord>;

  Mutex& mutex() LOCK_RETURNED(mutex_) { return mutex_; }
  const Records& records() const REQUIRES(mutex_) { return records_; }
  /// Those without a record whose offset was lost: they are to be read from the beginning.
  const std::set<Key>& forgotten() const REQUIRES(mutex_) { return forgotten_; }

  /// Reads all records; a damaged one is named in the store's problems, and not known.
  Status Load(ShardStore* store) EXCLUDES(mutex_);
  /// After the store was opened anew: a record that ran ahead of the events in memory is set back
  /// to what memory says, synced.
  Status Settle(ShardStore* store) EXCLUDES(mutex_);
  /// Removes a topic's records and marks, synced; nothing where there are none.
  Status Forget(ShardStore* store, std::string_view topic) REQUIRES(mutex_);
  /// Takes in records that were written.
  void Commit(const Records& written) REQUIRES(mutex_);
  /// For reports: calls `visit(key, record)` for all records as they were last written, and those
  /// that are forgotten, whose record is null. Waits for no write, nor for the shard.
  template <typename Visit>
  void ForEachReported(const Visit& visit) const EXCLUDES(report_mutex_) {
    const MutexLock lock(report_mutex_);
    for (const Key& key : reported_forgotten_) visit(key, nullptr);
    for (const auto& [key, record] : reported_) visit(key, &record);
  }

 private:
  /// What is reported is all as it is.
  void ReportAll() REQUIRES(mutex_) EXCLUDES(report_mutex_);

  Mutex mutex_{LockRank::kOffsets};
  Records records_ GUARDED_BY(mutex_);
  std::set<Key> forgotten_ GUARDED_BY(mutex_);
  mutable Mutex report_mutex_{LockRank::kLeaf};
  Records reported_ GUARDED_BY(report_mutex_);
  std::set<Key> reported_forgotten_ GUARDED_BY(report_mutex_);
};

/// Which steps of a batch go to a shard.
struct StepsOfShard {
  uint32_t shard = 0, shards = 1;

  bool Has(const IngestBatch& batch, const SourceStep& step) const {
    return !batch.partition_is_shard || step.partition == shard;
  }
  /// Whether it is the one shard that counts the step's dead letters, which have no user.
  bool CountsDeadLettersOf(const SourceStep& step) const {
    return step.partition % shards == shard;
  }
};

/// What one batch does to the sources of one shard. Precondition: the sources' mutex is held as
/// long as it lives.
class SourceChange {
 public:
  SourceChange(const IngestBatch& batch, Sources* sources, const StepsOfShard& steps)
      REQUIRES(sources->mutex());

  /// Whether the shard has nothing of the batch to apply.
  bool nothing_new() const { return records_.empty(); }
  /// Whether the shard has had this event.
  bool Repeated(uint32_t event) const;
  /// Counts an event that is not repeated.
  void Count(uint32_t event, bool accepted);
  /// Adds the new records to the batch that holds the events.
  Status AddTo(rocksdb::WriteBatch* batch, const ShardStore& store) const;
  /// It is written.
  void Commit() {
    sources_->mutex().AssertHeld();
    sources_->Commit(records_);
  }

 private:
  const IngestBatch& batch_;
  Sources* const sources_;
  std::vector<int64_t> from_;           // by source: the first offset that is new here
  std::vector<SourceRecord*> changed_;  // by source: its new record, or null
  Sources::Records records_;
};

}  // namespace seendb
