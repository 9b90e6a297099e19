#include "shard/shard_report.h"

#include <string>
#include <utility>

#include "shard/entry.h"

namespace seendb {

Status ShardReport::Inspect(std::string_view only, UserReport* report) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return InspectUser(parts_, only, report);
}

Status ShardReport::Verify(VerifyReport* report) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return VerifyRows(parts_, report);
}

Status ShardReport::Scan(std::string_view family_prefix,
                         const std::function<bool(const ScanRow&)>& visit, bool* enough) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return ScanRows(parts_, family_prefix, visit, enough);
}

void ShardReport::AddTo(EngineStats* stats) {
  const std::string name = "shard " + std::to_string(parts_.store->shard()) + ": ";
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) {
    stats->problems.push_back(name + "is being opened anew");
    return;
  }
  parts_.use.AssertHeldShared();
  for (const std::string& problem : parts_.store->problems().problems()) {
    stats->problems.push_back(name + problem);
  }
  AddStats(parts_, stats);
}

void ShardReport::AddBucketsTo(const Collection& collection, int64_t now_ms, BucketSums* sums) {
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) return;
  parts_.use.AssertHeldShared();
  AddBuckets(parts_, collection, now_ms, sums);
}

void ShardReport::AddSlotsTo(std::vector<SlotInfo>* infos) {
  const std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(parts_.use);
  if (!inside) return;
  for (SlotInfo& info : parts_.ring.Slots()) {
    info.shard = parts_.store->shard();
    infos->push_back(std::move(info));
  }
}

}  // namespace seendb
