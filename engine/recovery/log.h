// recovery/log.h: a log of RocksDB's written anew of the records that can be read of a damaged
// one. Records keep their sequence, so that RocksDB replays those behind the damage too.

#pragma once

#include <string>
#include <string_view>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

/// Writes the sound records of the log `from` as the log `to`, synced. `once`: without those that
/// are there again (LogRepeats).
Status RewriteLog(rocksdb::Env* env, const std::string& from, const std::string& to,
                  bool once = false);

/// Appends `record` to `out`, the bytes of a log so far.
void AppendLogRecord(std::string_view record, std::string* out);

}  // namespace seendb
