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

/// Removes a folder with everything in it; nothing where there is none. A symbolic link in it is
/// removed and never followed; `path` itself may not be one (kIncompatible). `last`, a file right
/// in the folder, goes after everything else.
Status RemoveFolder(rocksdb::Env* env, const std::string& path, const std::string& last = {});

/// A folder that is filled under a name of its own and then renamed, so that what a crash leaves
/// can't be taken for whole. It holds a mark, a file: written first and removed last. Only a folder
/// with its mark is ours to remove.
struct MarkedFolder {
  std::string path;
  std::string mark;  ///< the file's name

  /// Removes one that an earlier attempt left, or an empty folder; does nothing where nothing is.
  /// kIncompatible, and nothing is touched: something else is there.
  Status RemoveLeftover(rocksdb::Env* env) const;
  /// Makes it, with its mark, durably. Precondition: nothing is there.
  Status Make(rocksdb::Env* env) const;
};

}  // namespace seendb
