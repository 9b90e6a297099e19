#include "shard/first_plays.h"

#include <algorithm>

#include "format/day_key.h"
#include "format/user_codec.h"
#include "store/status.h"

namespace seendb {

FirstPlays::~FirstPlays() {
  if (!claimed_) return;
  EndWhere(true, ClaimEnd::kUnused);
  EndWhere(false, ClaimEnd::kUnused);
}

void FirstPlays::Claim() {
  if (claims_.empty()) return;
  std::vector<std::string> keys;
  keys.reserve(claims_.size());
  for (auto& [user, one] : claims_) keys.push_back(one.key = DayKey(user, collection_));
  looked_up_ = days_->Claim(keys, today_->day);
  claimed_ = true;
  KeepOnly(looked_up_.keys);
}

void FirstPlays::KeepFirst() { KeepOnly(days_->KeepFirst(std::move(looked_up_), today_->day)); }

void FirstPlays::KeepOnly(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  std::erase_if(claims_, [&](const auto& claim) {
    return !std::binary_search(keys.begin(), keys.end(), claim.second.key);
  });
}

void FirstPlays::Take(std::string_view user, uint32_t index) {
  const auto at = claims_.find(user);
  if (at == claims_.end() || at->second.taken) return;
  at->second.taken = true;
  at->second.index = index;
}

Status FirstPlays::AddTo(rocksdb::WriteBatch* batch, const ShardStore& store) const {
  UserRecord record;
  record.last_day = today_->day;
  std::string encoded;
  record.Encode(&encoded);
  for (const auto& [user, one] : claims_) {
    if (!one.taken) continue;
    const rocksdb::Status merged = batch->Merge(store.users(), one.key, encoded);
    if (!merged.ok()) return FromRocks(merged, "record");
  }
  return {};
}

void FirstPlays::EndWhere(bool taken, ClaimEnd end) {
  std::vector<std::string> keys;
  for (const auto& [user, one] : claims_) {
    if (one.taken == taken) keys.push_back(one.key);
  }
  days_->End(keys, today_->day, end);
  std::erase_if(claims_, [taken](const auto& claim) { return claim.second.taken == taken; });
}

void FirstPlays::End(bool written, RecordResult* result) {
  for (const auto& [user, one] : claims_) {
    if (written && one.taken) result->first_today.push_back(one.index);
  }
  EndWhere(true, written ? ClaimEnd::kWritten : ClaimEnd::kFailed);
}

}  // namespace seendb
