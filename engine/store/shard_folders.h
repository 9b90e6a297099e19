// store/shard_folders.h: a shard's folder, and the names beside it of folders that came from there
// or are to go there. A name tells what may become of the folder, whatever ended the process.
//
//   shard-0003            the shard
//   shard-0003.making     one that is being made: nothing in it counts
//   shard-0003.detached   one that was let go and kept: only a call, or a repair, touches it
//   shard-0003.replaced   the former shard, while another takes its place. Where the place is empty
//                         it is the shard again. It is deleted only by way of the next name
//   shard-0003.removed    one that nobody needs: it is deleted
//
// Threads: one call at a time for a database.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

inline constexpr char kMakingSuffix[] = ".making";
inline constexpr char kKeptSuffix[] = ".detached";
inline constexpr char kReplacedSuffix[] = ".replaced";
inline constexpr char kRemovedSuffix[] = ".removed";

/// Renames a folder so that its new name survives power loss. On failure it may have either name.
Status RenameFolder(rocksdb::Env* env, const std::string& from, const std::string& to);

/// Gives each former shard its place again where that is empty.
Status PutBackReplaced(rocksdb::Env* env, const std::string& database);

/// Another shard has the `place` for good: it was opened, and all of it is synced. The former one,
/// if there is one, is from now on one to be deleted.
Status RetireReplaced(rocksdb::Env* env, const std::string& place);

/// Deletes what nobody needs, and what was being made. Precondition: nothing is being made. The
/// first failure; the other folders go all the same.
Status RemoveLeftovers(rocksdb::Env* env, const std::string& database);

/// The names in the database's folder that end with `suffix` and stand beside the place of a shard,
/// without it: "shard-0003".
Result<std::vector<std::string>> PlacesWith(rocksdb::Env* env, const std::string& database,
                                            const std::string& suffix);

}  // namespace seendb
