// store/sources.h: how far one shard has applied each source (a partition of a log), and what it
// counted: records of the family `default` (format.md, "Names"), kept in memory as well.
//
// The records are written in the batch of the events they cover. Memory holds what was written
// with success; after a failed write the database may hold more, or after a failed sync less.
//
// Threads: all calls but Load and Settle hold mutex(); those two need nobody else in the shard.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/write_batch.h>

#include "seendb/ingest.h"
#include "seendb/status.h"
#include "store/shard_store.h"

namespace seendb {

/// One record.
struct SourceRecord {
  int64_t next_offset = 0;
  SourceCounts counts;

  /// As stored.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<SourceRecord> FromJson(std::string_view json);
};

/// See the head of this file.
class Sources {
 public:
  using Key = std::pair<std::string, uint32_t>;  // topic, partition
  using Records = std::map<Key, SourceRecord>;

  std::mutex& mutex() { return mutex_; }
  const Records& records() const { return records_; }

  /// Reads all records; a damaged one is named in the store's problems, and not known.
  Status Load(ShardStore* store);
  /// After the store was opened anew: a record that ran ahead of the events in memory is set back
  /// to what memory says, synced.
  Status Settle(ShardStore* store);
  /// Removes a topic's records, synced; nothing where there are none.
  Status Forget(ShardStore* store, std::string_view topic);
  /// Takes in records that were written.
  void Commit(const Records& written);

 private:
  std::mutex mutex_;
  Records records_;
};

/// What one batch does to the sources of one shard. Precondition: the sources' mutex is held as
/// long as it lives.
class SourceChange {
 public:
  /// `first_shard`: the one that counts dead letters, which have no user.
  SourceChange(const IngestBatch& batch, Sources* sources, bool first_shard);

  /// Whether the shard has nothing of the batch to apply.
  bool nothing_new() const { return records_.empty(); }
  /// Whether the shard has had this event.
  bool Repeated(uint32_t event) const;
  /// Counts an event that is not repeated.
  void Count(uint32_t event, bool accepted);
  /// Adds the new records to the batch that holds the events.
  Status AddTo(rocksdb::WriteBatch* batch, const ShardStore& store) const;
  /// It is written.
  void Commit() { sources_->Commit(records_); }

 private:
  const IngestBatch& batch_;
  Sources* const sources_;
  std::vector<int64_t> from_;           // by source: the first offset that is new here
  std::vector<SourceRecord*> changed_;  // by source: its new record, or null
  Sources::Records records_;
};

}  // namespace seendb
