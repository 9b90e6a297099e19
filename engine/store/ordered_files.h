// store/ordered_files.h: an Env under which the file CURRENT never names a MANIFEST that a power
// loss can take away.
//
// RocksDB makes a MANIFEST, syncs it, makes CURRENT name it by a rename, and syncs the folder once,
// after both. POSIX promises no order between two entries of a folder before that sync: the rename
// may be on disk and the MANIFEST's name not. Here the folder is synced before that rename, too.

#pragma once

#include <memory>

#include <rocksdb/env.h>

namespace seendb {

/// `base` with the order above. `base` must outlive it.
std::unique_ptr<rocksdb::Env> NewOrderedEnv(rocksdb::Env* base);

}  // namespace seendb
