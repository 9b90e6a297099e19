// shard/buckets.h: the buckets of one shard: made ahead of time, sealed, dropped.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "shard/parts.h"

namespace seendb {

/// How a problem begins that a bucket can't be sealed.
inline constexpr char kSealProblem[] = "seal ";

/// The oldest bucket that a policy keeps.
using OldestKept = std::function<int64_t(const Policy&)>;

/// Whether a bucket whose seal failed has rested.
bool MaySeal(const Bucket& bucket, int64_t now_ms);

/// Makes the buckets wanted of a collection, where they are not there. Rests after each, unless all
/// are wanted `at_once`: RocksDB holds the shard's writes back while it makes a family.
Status MakeBuckets(const ShardParts& shard, const Collection& collection,
                   std::span<const int64_t> wanted, bool at_once) REQUIRES_SHARED(shard.use);

/// Seals the buckets wanted; the first failure. What can't be sealed is a problem of the shard.
Status SealBuckets(const ShardParts& shard, const Collection& collection,
                   const std::function<bool(const Bucket&)>& wanted) REQUIRES_SHARED(shard.use);

/// Drops the filters, or the history, of buckets older than `oldest_kept` says; it is remembered
/// first that they are gone. Rests after each.
Status DropFilters(ShardParts& shard, const Collection& collection, const OldestKept& oldest_kept)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);
Status DropHistory(ShardParts& shard, const Collection& collection, const OldestKept& oldest_kept)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

}  // namespace seendb
