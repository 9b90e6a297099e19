// server/replica/applier.h: what a record of the log does to the engine: to the shard of its
// partition alone, with its offset. What is judged goes by the record, not by the present: every
// replica, and one that reads the log hours later, judges alike.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/log_record.h"
#include "cluster/meta.h"
#include "migration/migration.h"
#include "seendb/engine.h"
#include "wire/arena.h"

namespace seendb::replica {

/// A record as it was read; views are borrowed.
struct LogRecord {
  uint32_t partition = 0;
  int64_t offset = 0;
  std::optional<int64_t> time_ms;  ///< the log's, if it says one
  std::string_view key, value;
  std::optional<std::string_view> header;  ///< as bytes; nothing: a plain message
};

/// What it came to.
struct Applied {
  cluster::LogHeader header;  ///< of a plain message: `plays`, of the present, nonce 0
  Status verdict;             ///< kNotFound, say, where there is no such collection
  RecordResult recorded;
  Erasure erasure;
  UserSetInfo user_set;
};

/// See the head of this file. Threads: one at a time, and no other JSON of the thread meanwhile.
class Applier {
 public:
  /// As in ReplicasOptions. `engine` is borrowed.
  struct Context {
    Engine* engine = nullptr;
    std::string topic;
    std::function<std::shared_ptr<const cluster::Meta>()> meta;
    std::function<bool(std::chrono::milliseconds)> read_meta_to_end;
    migration::Migrations* migrations = nullptr;
    /// Of the partitions that are read: an offset before which all records were in the log when it
    /// was called. Waits for nothing. Null: nothing is known.
    std::function<std::map<uint32_t, int64_t>()> ends = {};
  };
  explicit Applier(Context context) : context_(std::move(context)) {}

  /// Applies it. Ok: it is, and the shard has stored its offset; what it did is in `*applied`.
  /// kIncompatible, kCorruption: nobody here knows what it means, and nothing behind it may be
  /// applied. kNotFound: the shard has stored less than `from`, what is taken to be applied: it is
  /// to be read again from what is stored. kUnavailable: not now.
  Status Apply(const LogRecord& record, int64_t from, Applied* applied);

 private:
  Status ApplyKind(const LogRecord& record, int64_t from, Applied* applied);
  Status ApplyEvents(const LogRecord& record, int64_t from, Applied* applied);
  Status ApplyPlain(const LogRecord& record, int64_t from, Applied* applied);
  Status ApplyCommand(const LogRecord& record, Applied* applied);
  /// Does what a command says; what it came to.
  Status Command(const LogRecord& record, Applied* applied);
  Status ApplyImported(const LogRecord& record, Applied* applied);
  /// What a command that was applied means for the old stores that collections move in from.
  Status TellOldStores(const LogRecord& record, const cluster::LogHeader& header);
  Status ApplyTold(const LogRecord& record, Status* verdict);
  /// Events of one fact.
  struct Events {
    Fact fact = Fact::kPlayed;
    std::span<const Play> plays = {};                 ///< the events, whatever the fact
    std::span<const std::string_view> surfaces = {};  ///< of each, or none
  };
  /// Records events, or none, with the record's offset. `dead`: it held no event that counts.
  Status Ingest(const LogRecord& record, int64_t from, std::string_view collection,
                const Events& events, bool dead, Applied* applied);
  /// Whether a record that arrived then counts for the collection. kNotFound: it does not, and it
  /// never will; kUnavailable: that can't be said now.
  Status CheckCollection(std::string_view name, const LogRecord& record, int64_t arrival_ms);
  /// Has all of X.meta in the fold that a record may go by. False: it can't be read now.
  bool ReadMetaFor(const LogRecord& record);
  /// Reads it, whatever was read before.
  bool ReadMeta(const LogRecord& record);
  /// The same of a record: by the offset of `X.meta` that it carries, and no clock; of version 1,
  /// by its arrival.
  Status CheckCounts(std::string_view name, const LogRecord& record,
                     const cluster::LogHeader& header);
  /// The value followed by what the parser may read beyond its end.
  std::string_view Padded(std::string_view value);

  static constexpr size_t kArenaBytes = 64u << 10;  // plain messages are small

  const Context context_;
  /// By partition: what lies before was in the log when X.meta was read to its end, and goes by
  /// nothing that the fold lacks. For a collection that is gone X.meta is asked once, not for each
  /// record that was written while it was there.
  std::map<uint32_t, int64_t> meta_read_for_;
  std::string padded_;
  wire::Arena arena_{kArenaBytes};
};

}  // namespace seendb::replica
