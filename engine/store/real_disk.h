// store/real_disk.h: what RocksDB's Env can't tell of the operating system's files: symbolic links,
// canonical paths and permissions. An Env of a test may keep its files elsewhere: there are no
// links and no permissions then, and a path is what it says.
//
// RocksDB's Env::GetAbsolutePath is not used: in 7.8 it answers a relative path with the current
// folder alone.

#pragma once

#include <string>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

/// Whether the files of `env` are the operating system's, below whatever wraps them.
bool OnRealDisk(rocksdb::Env* env);

/// The absolute path of an existing file or folder without links, "." and "..". kNotFound: it does
/// not exist. kIOError: the file system refused.
Result<std::string> CanonicalPath(rocksdb::Env* env, const std::string& path);

/// What lies at a path. A link is never followed.
enum class PathKind { kNothing, kFile, kFolder, kLink };
Result<PathKind> KindOfPath(rocksdb::Env* env, const std::string& path);

/// Takes the permissions for a file or a folder from everybody but its owner. Does nothing where
/// the file system has none.
void LeaveToOwner(rocksdb::Env* env, const std::string& path);

/// Makes a folder that its owner alone may enter; one that is there stays as it is. Not synced.
rocksdb::Status MakeOwnersFolder(rocksdb::Env* env, const std::string& path);

}  // namespace seendb
