// store/real_disk.h: what RocksDB's Env can't tell of the operating system's files: symbolic links
// and canonical paths. An Env of a test may keep its files elsewhere: there are no links then, and
// a path is what it says.
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

}  // namespace seendb
