// recovery/former.h: where a shard lies that is not in its place: what a call left that moves
// shards and was killed, or that let one go (store/shard_folders.h).

#pragma once

#include <optional>
#include <string>

#include <rocksdb/env.h>

namespace seendb {

/// The name of the folder beside `place` ("shard-0003", in the database's folder) that has the
/// shard, if there is one. In this order: the former shard of a replacement that was not finished;
/// unless `as_found`, where a shard that was let go is not missing, one that was kept, and one that
/// was to be deleted. Where the place is `taken`, the first alone counts.
std::optional<std::string> FormerOf(rocksdb::Env* env, const std::string& database,
                                    const std::string& place, bool taken, bool as_found);

}  // namespace seendb
