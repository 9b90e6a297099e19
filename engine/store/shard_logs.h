// store/shard_logs.h: a shard's logs (*.log) before RocksDB reads them, each read once: what they
// hold, what they lack, and half a record at the end cut off.
//
// RocksDB passes over what can't be read of a log without a word, and takes a log that is gone for
// one it has let go. What was noted at the last sync (SYNCED, FILES) tells what ought to be there.
//
// A write that fails half way, or a power loss, leaves half a record. RocksDB reads up to it,
// leaves it where it is and goes on in a new log; at every later opening it has to guess, by
// sequences that a failed write may have used up, whether the newer log belongs behind the old one,
// and may drop it, or refuse to open. Without the half record there is nothing to guess.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/env.h>

#include "seendb/status.h"
#include "store/inventory.h"

namespace seendb {

/// A log as it reads.
struct LogState {
  uint64_t number = 0;
  Status read;  ///< kIOError: it does not, and nothing else is known
  uint64_t bytes = 0;
  uint64_t sound_bytes = 0;    ///< before the first damage
  uint64_t damaged_bytes = 0;  ///< in front of a sound record
  uint64_t records = 0;
  uint64_t first_sequence = 0, last_sequence = 0;  ///< RocksDB's; 0: no record
  uint64_t resumed_sequence = 0;                   ///< of the first record behind damage; 0: none
  /// The place from which on records are there again, which no writer leaves. RocksDB ends the
  /// process over such a log.
  std::optional<uint64_t> repeats_at = {};
};

/// Tells which records of one log are there again, as it is read from its beginning.
class LogRepeats {
 public:
  /// Whether the next record is one that was there before, or has a sequence from before one.
  /// Memory: a record.
  bool Has(std::string_view record);

 private:
  std::string newest_;
};

/// What is known of a shard's logs.
struct ShardLogs {
  std::optional<uint64_t> synced;  ///< the sequence up to which all was, by SYNCED
  std::optional<Inventory> noted;  ///< FILES
  bool current = false;            ///< the logs in `noted` are those needed now
  std::vector<LogState> all;       ///< by number
};

/// What was noted of the logs of the shard in `path`. Comes before ReadLogs: a running engine goes
/// on.
ShardLogs ReadLogNotes(rocksdb::Env* env, const std::string& path);
/// Reads every log there is into `*logs`. kIOError: the folder can't be listed.
Status ReadLogs(rocksdb::Env* env, const std::string& path, ShardLogs* logs);

/// "000004.log has records again behind byte 400" of the first such log; empty without one.
std::string RepeatsText(const ShardLogs& logs);

/// A log that is gone, or shorter than it was.
struct LogShortage {
  uint64_t number = 0;
  bool missing = false;    ///< else shortened
  uint64_t bytes = 0;      ///< there are
  uint64_t bytes_was = 0;  ///< noted; 0: unknown
};
/// The logs that are gone and can't have been let go, or are shorter than noted.
std::vector<LogShortage> ShortagesOf(const ShardLogs& logs);

/// Whether what can't be read of `log` was synced: a record that was is behind it, there or in one
/// of `newer`.
bool LacksSynced(const LogState& log, std::span<const LogState> newer, uint64_t synced);
/// The names of those needed now that lack something synced, with what is wrong with them, as text;
/// empty: none, or it is not known which are needed.
std::string LackSyncedText(const ShardLogs& logs);

/// Cuts off, and makes that survive power loss, what follows the last sound record of the newest
/// log with records, and of those newer than it. Nothing is cut where records follow what is
/// unsound, nor where it may have been synced.
Status CutTornTails(rocksdb::Env* env, const std::string& path, const ShardLogs& logs);

}  // namespace seendb
