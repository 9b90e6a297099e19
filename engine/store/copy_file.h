// store/copy_file.h: whole files and folders: copied, synced, removed.

#pragma once

#include <cstdint>
#include <string>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

/// Copies the first `size` bytes of `from` into the new file `to`, synced. kCorruption: there are
/// fewer.
Status CopyFile(rocksdb::Env* env, const std::string& from, const std::string& to, uint64_t size);

/// The folder that a file or folder lies in: "/a" of "/a/b", "." of "b".
std::string FolderOf(const std::string& path);

/// Makes a folder whose name survives power loss; nothing where there is one.
Status MakeFolder(rocksdb::Env* env, const std::string& path);

/// Makes the entries of a folder survive power loss.
Status SyncFolder(rocksdb::Env* env, const std::string& path);

/// Removes a folder of files and of folders of files; nothing where there is none.
Status RemoveFolder(rocksdb::Env* env, const std::string& path);

}  // namespace seendb
