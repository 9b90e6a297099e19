// seendb/repair.h: the way back from damaged files. VerifyFiles says which files of a database are
// damaged, Repair makes a database of what can still be read (doc/repair.md). Library:
// seendb::recovery, which links seendb::engine.
//
//   auto found = seendb::VerifyFiles("/var/lib/seendb").value();
//   if (!found.damages.empty()) auto done = seendb::Repair("/var/lib/seendb", {});
//
// Threads: both may run on any thread; a folder is repaired by one caller at a time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/status.h"

namespace seendb {

struct Seams;  // engine/seams.h, not installed

/// A file that is not as it was written.
struct FileDamage {
  std::string file;    ///< below the database's folder: "shard-0000/000012.sst"
  std::string kind;    ///< "missing", "shortened", "damaged", "unreadable" or "unfinished"
  std::string family;  ///< of a table: "seen/default/2026-03"; empty: unknown, or no table
  std::optional<uint64_t> offset;  ///< of the first byte that can't be used, where known
  std::string detail;              ///< for people
};

/// What VerifyFiles found.
struct FilesReport {
  uint64_t files = 0;  ///< looked at
  uint64_t bytes = 0;  ///< of them
  std::vector<FileDamage> damages;
};

/// Reads every file of the database in `path`, of stores beside its shards too, and checks all that
/// can be checked without decoding values (Engine::Verify does that). Writes nothing, takes no
/// lock; may run beside an engine. kNotFound: no database. Cost: reads everything. Cannot be
/// detected: the loss of log records that were written after the last sync; and, in a shard that
/// was never synced, missing small files (SYNCED, FILES, OPTIONS-*, IDENTITY). `as_found`: the
/// database has only some of its shards (Options::as_found). An absent shard then counts as missing
/// only if its replacement by another was not finished.
Result<FilesReport> VerifyFiles(const std::string& path, bool as_found = false);
/// The same with an injected file system.
Result<FilesReport> VerifyFiles(const std::string& path, const Seams& seams, bool as_found = false);

/// A row of a store beside the shards that is not as it was written.
struct StoreDamage {
  std::string store;   ///< "items" or "sets"
  std::string name;    ///< of the item or the set; or the first key of a range
  std::string reason;  ///< for people
  bool newer = false;  ///< of newer software, and no damage
};

/// The findings of VerifyStores.
struct StoresReport {
  std::vector<std::string> stores;  ///< which are there
  uint64_t rows = 0, bytes = 0;     ///< read and checked
  uint64_t damaged = 0, newer = 0;
  std::vector<StoreDamage> damages;  ///< the first 1,000 of each store, those of newer software too
};

/// Decodes and checks every row of the stores beside the shards, `items/` and `sets/` below `path`,
/// whose files VerifyFiles checks. Writes nothing, takes no lock; may run beside a server. No store
/// at all is sound. Fails where a store can't be opened: its MANIFEST is damaged.
Result<StoresReport> VerifyStores(const std::string& path);
/// The same with an injected file system.
Result<StoresReport> VerifyStores(const std::string& path, const Seams& seams);

/// How Repair goes about it.
struct RepairOptions {
  bool dry_run = false;   ///< say what would be done, change nothing
  bool as_found = false;  ///< as of VerifyFiles: no shard is made that has no folder
};

/// What Repair did with a damaged file.
struct RepairedFile {
  FileDamage damage;
  std::string action;       ///< for people: "rewritten", "salvaged", ...
  uint64_t salvaged = 0;    ///< keys or log records that were read from it
  uint64_t bytes_left = 0;  ///< bytes of it that could not be read
  std::string kept_as;      ///< below the database's folder: where the file is now
};

/// What Repair did, or with `dry_run` would do.
struct RepairReport {
  bool dry_run = false;
  std::vector<RepairedFile> files;
  std::vector<std::string> losses;  ///< for people: lost data, which makes answers `degraded` from
                                    ///< now on; a lost log may have held erasures, too
  std::vector<std::string> notes;   ///< for people: what was decided on the way
};

/// Makes the database in `path` one that opens, of everything that can be read; what is lost is
/// marked, so that answers that may lack it say `degraded`. Nothing is deleted: damaged files are
/// kept in `<path>/damaged/`. A missing shard that lies beside its place, as a call that was killed
/// or Engine::DetachShard left it, is put back first. Killed half way, it is to be called again;
/// called on a sound database it changes nothing. kBusy: another process has the database open.
/// kNotFound: no database. kIncompatible: of a newer version. kCorruption: what is left makes no
/// database; the message says what is needed. Durability: synced when it returns. Cost: as
/// VerifyFiles; a damaged table is written anew, and where a shard's MANIFEST or what its family
/// `default` holds is lost, the whole shard.
Result<RepairReport> Repair(const std::string& path, const RepairOptions& options);
/// The same with an injected clock and file system.
Result<RepairReport> Repair(const std::string& path, const RepairOptions& options,
                            const Seams& seams);

}  // namespace seendb
