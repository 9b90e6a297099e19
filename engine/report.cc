// What the engine tells people, put together from its shards.

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/return_if_failed.h"
#include "engine_impl.h"

namespace seendb {

Result<UserReport> EngineImpl::Inspect(IdRef user, std::string_view only) {
  RETURN_IF_FAILED(CheckOpen());
  RETURN_IF_FAILED(CheckUser(user));
  if (!only.empty()) {
    const Result<CollectionPtr> known = catalog_.Find(only);
    if (!known.ok()) return known.status();
  }
  UserReport report;
  report.user = user.ToString();
  report.shard = ShardOf(user);
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  RETURN_IF_FAILED((*shard)->report().Inspect(only, &report));
  return report;
}

std::vector<BucketInfo> EngineImpl::Buckets() {
  std::vector<BucketInfo> infos;
  if (!CheckOpen().ok()) return infos;
  const int64_t now = clock_->NowMs();
  const std::shared_ptr<const CollectionMap> all = catalog_.All();
  const std::shared_ptr<const ShardSet> shards = shards_.All();
  for (const auto& [name, collection] : *all) {
    BucketSums sums;
    for (const std::shared_ptr<Shard>& shard : *shards) {
      if (shard != nullptr) shard->report().AddBucketsTo(*collection, now, &sums);
    }
    const Policy& policy = collection->policy;
    const int64_t current = BucketIndexOf(policy, now);
    for (auto& [index, info] : sums.infos) {
      info.state = index < OldestBucket(policy, now) ? BucketState::kExpired
                   : !sums.unsealed[index]           ? BucketState::kSealed
                   : index > current                 ? BucketState::kFuture
                   : index == current                ? BucketState::kOpen
                                                     : BucketState::kClosed;
      infos.push_back(std::move(info));
    }
  }
  return infos;
}

std::vector<SlotInfo> EngineImpl::Ring() {
  std::vector<SlotInfo> infos;
  if (!CheckOpen().ok()) return infos;
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (const std::shared_ptr<Shard>& shard : *all) {
    if (shard != nullptr) shard->report().AddSlotsTo(&infos);
  }
  return infos;
}

EngineStats EngineImpl::Stats() {
  EngineStats stats;
  if (!CheckOpen().ok()) return stats;
#define SEENDB_COUNTER(name, metric, help) \
  stats.name = counters_->name.load(std::memory_order_relaxed);
#include "seendb/counters.def"
#undef SEENDB_COUNTER
  stats.shards = shard_count_;
  std::tie(stats.shards_open, stats.shards_opening) = shards_.OpenAndComing();
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (const std::shared_ptr<Shard>& shard : *all) {
    if (shard != nullptr) shard->report().AddTo(&stats);
  }
  for (std::string& problem : problems_.problems()) stats.problems.push_back(std::move(problem));
  stats.block_cache_bytes = shared_->block_cache->GetUsage();
  stats.wal_bytes_written = shared_->statistics->getTickerCount(rocksdb::WAL_FILE_BYTES);
  stats.flush_bytes_written = shared_->statistics->getTickerCount(rocksdb::FLUSH_WRITE_BYTES);
  stats.compaction_bytes_written =
      shared_->statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  const Status believed = ClockGuard::Check(clock_->Look());
  stats.clock_in_doubt = !believed.ok();
  if (!believed.ok()) stats.problems.emplace_back(believed.message());
  stats.degraded = !stats.problems.empty();
  return stats;
}

Result<VerifyReport> EngineImpl::Verify() {
  RETURN_IF_FAILED(CheckOpen());
  VerifyReport report;
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (const std::shared_ptr<Shard>& shard : *all) {
    RETURN_IF_FAILED(shard == nullptr ? Status() : shard->report().Verify(&report));
  }
  return report;
}

Status EngineImpl::Scan(std::string_view family_prefix,
                        const std::function<bool(const ScanRow&)>& visit) {
  RETURN_IF_FAILED(CheckOpen());
  bool enough = false;
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (const std::shared_ptr<Shard>& shard : *all) {
    if (shard == nullptr) continue;
    const Status read = shard->report().Scan(family_prefix, visit, &enough);
    if (!read.ok() || enough) return read;
  }
  return {};
}

}  // namespace seendb
