// store/ordered_files.h: an Env under which what a power loss leaves of a shard is a beginning of
// what was written, in the order in which it was written.
//
// - RocksDB makes a MANIFEST, syncs it, makes CURRENT name it by a rename, and syncs the folder
//   once, after both. POSIX promises no order between two entries of a folder before that sync: the
//   rename may be on disk and the MANIFEST's name not. Here the folder is synced before that
//   rename.
// - RocksDB begins a new log before the one before is synced. A power loss may take the end of the
//   older one, or all of it, and leave the newer one. Here the older one is synced first.

#pragma once

#include <memory>

#include <rocksdb/env.h>

namespace seendb {

/// `base` with the order above. `base` must outlive it.
std::unique_ptr<rocksdb::Env> NewOrderedEnv(rocksdb::Env* base);

}  // namespace seendb
