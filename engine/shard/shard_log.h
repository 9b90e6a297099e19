// shard/shard_log.h: how far one shard has taken its logs, and what it has to tell them: positions
// (store/sources.h) and first plays in the outbox (outbox.h).
//
// Threads: any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "seendb/ingest.h"
#include "shard/parts.h"

namespace seendb {

/// What all shards know of a source.
struct KnownSource {
  SourceInfo info;
  uint32_t shards = 0;  ///< that have a record of it
};
using KnownSources = std::map<Sources::Key, KnownSource>;

/// See the head of this file. Refers to the shard, which outlives it.
class ShardLog {
 public:
  explicit ShardLog(ShardParts& parts) : parts_(parts) {}

  /// Whether the shard would take the batch now; see CheckLog in apply.h.
  Status Check(const IngestBatch& batch);
  /// As last written. Does not wait.
  void AddSources(KnownSources* known);
  /// Positions and rows of the outbox, synced.
  Status ForgetTopic(std::string_view topic);

  /// The first two do not wait.
  uint64_t OutboxRows() const { return parts_.outbox.rows(); }
  void AddOutboxSources(std::vector<OutboxSource>* sources);
  Status ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                    std::vector<OutboxRow>* rows);
  Status DeleteOutbox(std::span<const OutboxRow> told);

 private:
  ShardParts& parts_;
};

}  // namespace seendb
