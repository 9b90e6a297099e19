// server/cluster/meta_cache.h: a node's copy of the fold, in the folder of its database, so that it
// starts without Kafka; and whether a folder can be a node's.

#pragma once

#include <optional>
#include <string>

#include "cluster/meta.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// The copy's name in the database's folder.
inline constexpr char kMetaCacheName[] = "cluster.json";

/// Replaces the file, mode 0600, synced. kIOError. Cost: two syncs.
Status WriteMetaCache(const std::string& path, const Meta& meta);
/// The copy; nothing where there is no file, or none that is whole: Kafka has what it had.
std::optional<Meta> ReadMetaCache(const std::string& path);

/// Whether the folder `db` may be that of a node of the cluster: there is none, it holds nothing
/// but the copy, or it holds this cluster's database. kIncompatible, naming `seendb reshard`:
/// anything else. kIOError: it can't be read.
Status CheckHome(const std::string& db, const InitRecord& init);

}  // namespace seendb::cluster
