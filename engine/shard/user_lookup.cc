#include "shard/user_lookup.h"

#include <utility>

namespace seendb {
namespace {

const UserRecordPtr& UnreadableRecord() {
  static const UserRecordPtr unreadable =
      std::make_shared<const UserRecord>(UserRecord{.damaged = true});
  return unreadable;
}

}  // namespace

// Some room is left for those to come: a second filter costs every look-up a cache line.
void UserLookup::Enter(const std::vector<uint64_t>& users) {
  if (directory_.empty()) directory_.Reserve(users.size() + users.size() / 4);
  for (const uint64_t user : users) directory_.Add(user);
  cache_.Clear();
}

Status UserLookup::Look(std::string_view user, uint64_t hash, RecordTier tier,
                        UserRecordPtr* record, uint64_t* version) const {
  record->reset();
  *version = cache_.Version(hash);
  if (!directory_.MayHave(hash)) return {};
  UserCache::Found found = cache_.Find(user, hash);
  if (found.known) {
    counters_->user_cache_hits.fetch_add(1, std::memory_order_relaxed);
    *record = std::move(found.record);
    return {};
  }
  if (tier == RecordTier::kCached) return Status(StatusCode::kIncomplete, "not cached");
  Result<UserRecordPtr> read = read_(user, tier == RecordTier::kMemory);
  if (read.status().code() == StatusCode::kIncomplete) return read.status();
  counters_->user_cache_misses.fetch_add(1, std::memory_order_relaxed);
  if (!read.ok()) {
    *record = UnreadableRecord();
    return read.status();
  }
  *record = *read;
  cache_.Insert(user, hash, *std::move(read), *version);
  return {};
}

Status UserLookup::Find(std::string_view user, RecordTier tier, UserRecordPtr* record,
                        uint64_t* version) const {
  record->reset();
  if (directory_.empty()) return {};
  uint64_t before = 0;
  Status found = Look(user, KeyedHash(user), tier, record, &before);
  if (version != nullptr) *version = before;
  return found;
}

UserRecordPtr UserLookup::Find(std::string_view user) const {
  UserRecordPtr record;
  (void)Find(user, RecordTier::kDisk, &record);  // what can't be read is damaged
  return record;
}

void UserLookup::Settle(std::string_view user, const UserRecord& change) {
  cache_.Join(user, KeyedHash(user), change);
  changed_ = true;
}

void UserLookup::Replace(std::string_view user, UserRecord record) {
  cache_.Replace(user, KeyedHash(user), std::make_shared<const UserRecord>(std::move(record)));
  changed_ = true;
}

void UserLookup::Forget(std::string_view user) {
  cache_.Replace(user, KeyedHash(user), nullptr);
  changed_ = true;
}

// A record that is loaded and did not change since is good. One that could not be read is tried
// again by the next load, not at each user's next play.
Status LoadedRecords::LoadOne(std::string_view user, uint64_t hash, RecordTier tier) {
  const auto [at, added] = records_.try_emplace(user);
  Loaded& one = at->second;
  if (!added && one.version == of_->cache_.Version(hash)) return {};
  Status found = of_->Look(user, hash, tier, &one.record, &one.version);
  if (found.code() == StatusCode::kIncomplete) {
    records_.erase(at);
    return found;
  }
  return found.code() == StatusCode::kCorruption ? Status() : found;
}

}  // namespace seendb
