#include "shard/held.h"

#include <memory>
#include <string>

#include "format/day_key.h"
#include "format/history_codec.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Whether a key is there, or can't be read.
bool MayHaveKey(const ShardStore& store, rocksdb::ColumnFamilyHandle* family,
                std::string_view key) {
  rocksdb::PinnableSlice value;
  return !store.db()->Get({}, family, {key.data(), key.size()}, &value).IsNotFound();
}

// The same of the keys that begin with the user, in a table of history.
bool MayHaveRows(const ShardStore& store, rocksdb::ColumnFamilyHandle* family,
                 std::string_view user) {
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(options, family));
  it->Seek(HistoryPrefix(user));
  return it->Valid() || !it->status().ok();
}

bool MayHoldIn(const ShardStore& store, const CollectionFamilies& collection,
               std::string_view user) {
  if (!collection.losses.empty()) return true;
  if (collection.impressions != nullptr && MayHaveKey(store, collection.impressions->get(), user)) {
    return true;
  }
  for (const auto& [index, bucket] : collection.buckets) {
    if (MayHaveKey(store, bucket->family->get(), user)) return true;
  }
  for (const auto& [index, bucket] : collection.history) {
    if (MayHaveRows(store, bucket->states->get(), user)) return true;
    if (MayHaveRows(store, bucket->timeline->get(), user)) return true;
  }
  return false;
}

}  // namespace

// As a reader looks, so that a drain hides nothing: the ring, then the family set, then RocksDB.
bool MayHold(const ShardParts& shard, std::string_view user) {
  const ShardStore& store = *shard.store;
  UserRecordPtr record;
  if (shard.users.Find(user, RecordTier::kCached, &record).ok() && record != nullptr) return true;
  const std::shared_ptr<const FamilySet> before = store.families();
  for (const auto& [name, collection] : before->collections) {
    const uint16_t id = shard.names->Intern(name, collection.making);
    std::vector<Fingerprint> staged;
    shard.ring.Collect(id, user, INT64_MIN, false, &staged);
    shard.ring.Collect(id, user, INT64_MIN, true, &staged);
    StagedStates states;
    shard.ring.CollectHistory(id, user, &states);
    if (!staged.empty() || !states.empty()) return true;
  }
  const std::shared_ptr<const FamilySet> families = store.families();
  for (const auto& [name, collection] : families->collections) {
    if (MayHoldIn(store, collection, user)) return true;
    if (MayHaveKey(store, store.users(), DayKey(user, name))) return true;
  }
  if (MayHaveKey(store, store.users(), user)) return true;
  if (MayHaveKey(store, store.meta(), ErasingKey(user))) return true;
  std::vector<std::string> damaged;  // a journal record set aside may be anybody's
  store.FindDamagedOf({}, &damaged);
  return !damaged.empty();
}

}  // namespace seendb
