// shard/report.h: what a shard tells people: of users, buckets, statistics and every row.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "seendb/report.h"
#include "shard/parts.h"

namespace seendb {

/// The buckets of a collection by index, newest first, summed over shards; and which of them are
/// not sealed in one of them.
struct BucketSums {
  std::map<int64_t, BucketInfo, std::greater<>> infos;
  std::map<int64_t, bool> unsealed;
};

/// kUnavailable, with what stopped the shard.
Status Unreadable(const ShardParts& shard);

/// Fills in what is stored of `report->user`; `only`: of one collection, unless that is empty.
Status InspectUser(const ShardParts& shard, std::string_view only, UserReport* report)
    REQUIRES_SHARED(shard.use);
void AddBuckets(const ShardParts& shard, const Collection& collection, int64_t now_ms,
                BucketSums* sums) REQUIRES_SHARED(shard.use);
void AddStats(ShardParts& shard, EngineStats* stats) REQUIRES_SHARED(shard.use);

/// Reads every row, checks its bytes and counts what is damaged.
Status VerifyRows(const ShardParts& shard, VerifyReport* report) REQUIRES_SHARED(shard.use);
/// Visits every row of the families whose name begins so, until `visit` returns false; `*enough` is
/// true then.
Status ScanRows(const ShardParts& shard, std::string_view family_prefix,
                const std::function<bool(const ScanRow&)>& visit, bool* enough)
    REQUIRES_SHARED(shard.use);

/// Adds to a user's report what is stored of the history in a collection (history_report.cc).
void ReportHistory(const ShardParts& shard, const CollectionFamilies& collection,
                   UserReport* report);

}  // namespace seendb
