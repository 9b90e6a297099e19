// server/router/imports.h: what a migration has imported, on its way through the log: plays, and
// notes of users whose past is complete.

#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "router/log_writer.h"
#include "seendb/engine.h"

namespace seendb::router {

/// See the head of this file. Calls wait until the acting primaries have applied all. Threads: any
/// that may wait.
class Imports {
 public:
  /// Borrows the writer. `shard_of`: a user's partition.
  Imports(const LogWriter* writer, std::function<uint32_t(IdRef)> shard_of)
      : writer_(*writer), shard_of_(std::move(shard_of)) {}

  /// As Engine::RecordPlays; how many were refused. kUnavailable: some may be recorded; repeating
  /// is harmless.
  Result<uint64_t> Record(std::string_view collection, std::span<const Play> plays) const;
  /// Notes users as imported, at every replica. `key`: the template of the old store's keys.
  /// kNotFound: the acting primary has no such migration; kIncompatible: it has other keys, or is
  /// finished; kUnavailable, as of Record.
  Status Note(std::string_view collection, std::string_view key,
              std::span<const IdRef> users) const;
  /// Notes that an import read all keys to their end, in each of so many partitions. As Note.
  Status NoteEverybody(std::string_view collection, std::string_view key,
                       uint32_t partitions) const;

 private:
  Result<uint64_t> AppendAll(std::vector<OwnedRecord> records) const;

  const LogWriter& writer_;
  const std::function<uint32_t(IdRef)> shard_of_;
};

}  // namespace seendb::router
