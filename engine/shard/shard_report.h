// shard/shard_report.h: what people are told of one shard: users, every row, statistics.
//
// Threads: any.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "seendb/report.h"
#include "shard/parts.h"
#include "shard/report.h"

namespace seendb {

/// See the head of this file. Refers to the shard, which outlives it.
class ShardReport {
 public:
  explicit ShardReport(ShardParts& parts) : parts_(parts) {}

  // ---- Requests (report.h) ----

  Status Inspect(std::string_view only, UserReport* report);
  Status Verify(VerifyReport* report);
  Status Scan(std::string_view family_prefix, const std::function<bool(const ScanRow&)>& visit,
              bool* enough);

  // ---- Statistics: a shard that is being opened anew is left out, without waiting ----

  void AddTo(EngineStats* stats);
  void AddBucketsTo(const Collection& collection, int64_t now_ms, BucketSums* sums);
  void AddSlotsTo(std::vector<SlotInfo>* infos);

 private:
  ShardParts& parts_;
};

}  // namespace seendb
