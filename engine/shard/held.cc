#include "shard/held.h"

#include <memory>
#include <string>

#include "format/day_key.h"
#include "format/history_codec.h"
#include "format/own_set_codec.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Looks into tables, on disk or in RocksDB's memory alone.
class TableLook {
 public:
  TableLook(const ShardStore& store, RecordTier tier)
      : store_(store), memory_only_(tier != RecordTier::kDisk) {
    if (memory_only_) options_.read_tier = rocksdb::kBlockCacheTier;
  }
  /// Whether memory alone did not tell of something.
  bool unknown() const { return unknown_; }

  /// Whether a key is there, or can't be read.
  bool MayHaveKey(rocksdb::ColumnFamilyHandle* family, std::string_view key) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status =
        store_.db()->Get(options_, family, {key.data(), key.size()}, &value);
    // Of a table that is not open, memory says OK and has no bytes: no value of ours is empty.
    const bool known = !memory_only_ || !(status.IsIncomplete() || (status.ok() && value.empty()));
    unknown_ = unknown_ || !known;
    return known && !status.IsNotFound();
  }
  /// The same of the keys that begin with the user, in a table of history.
  bool MayHaveRows(rocksdb::ColumnFamilyHandle* family, std::string_view user) {
    return MayHaveFrom(HistoryPrefix(user), HistoryPrefixEnd(user), family);
  }
  /// The same of what the user said: marks, sets.
  bool MayHaveOwn(rocksdb::ColumnFamilyHandle* family, std::string_view user) {
    return MayHaveKey(family, user) || MayHaveFrom(OwnSetPrefix(user), OwnSetEnd(user), family);
  }
  bool MayHoldIn(const CollectionFamilies& collection, std::string_view user) {
    if (!collection.losses.empty()) return true;
    if (collection.impressions != nullptr && MayHaveKey(collection.impressions->get(), user)) {
      return true;
    }
    if (collection.exposures != nullptr && MayHaveKey(collection.exposures->get(), user)) {
      return true;
    }
    if (collection.counts != nullptr && MayHaveKey(collection.counts->get(), user)) return true;
    for (const auto& [index, bucket] : collection.buckets) {
      if (MayHaveKey(bucket->family->get(), user)) return true;
    }
    for (const auto& [index, bucket] : collection.history) {
      if (MayHaveRows(bucket->states->get(), user)) return true;
      if (MayHaveRows(bucket->timeline->get(), user)) return true;
    }
    return false;
  }

 private:
  bool MayHaveFrom(const std::string& begin, const std::string& end,
                   rocksdb::ColumnFamilyHandle* family) {
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions options = options_;
    options.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> it(store_.db()->NewIterator(options, family));
    it->Seek(begin);
    if (it->Valid()) return true;
    unknown_ = unknown_ || it->status().IsIncomplete();
    return !it->status().ok() && !it->status().IsIncomplete();
  }

  const ShardStore& store_;
  const bool memory_only_;
  rocksdb::ReadOptions options_;
  bool unknown_ = false;
};

}  // namespace

// As a reader looks, so that a drain hides nothing: the ring, then the family set, then RocksDB.
Result<bool> MayHold(const ShardParts& shard, std::string_view user, RecordTier tier) {
  const ShardStore& store = *shard.store;
  UserRecordPtr record;
  if (shard.users.Find(user, RecordTier::kCached, &record).ok() && record != nullptr) return true;
  const std::shared_ptr<const FamilySet> before = store.families();
  for (const auto& [name, collection] : before->collections) {
    const uint16_t id = shard.names->Intern(name, collection.making);
    std::vector<Fingerprint> staged;
    BucketSpan buckets;
    shard.ring.Collect(id, user, INT64_MIN, false, &staged, &buckets);
    shard.ring.Collect(id, user, INT64_MIN, true, &staged, &buckets);
    if (!staged.empty() || shard.ring.HoldsHistoryOf(id, user)) return true;
  }
  const std::shared_ptr<const FamilySet> families = store.families();
  TableLook look(store, tier);
  for (const auto& [name, collection] : families->collections) {
    if (look.MayHoldIn(collection, user)) return true;
    if (look.MayHaveKey(store.users(), DayKey(user, name))) return true;
  }
  if (look.MayHaveKey(store.users(), user)) return true;
  if (!families->own_losses.empty()) return true;
  if (families->own != nullptr && look.MayHaveOwn(families->own->get(), user)) return true;
  if (look.MayHaveKey(store.meta(), ErasingKey(user))) return true;
  if (look.unknown()) return Status(StatusCode::kIncomplete, "memory alone can't tell");
  if (tier != RecordTier::kDisk) return false;  // only openings set journal records aside
  std::vector<std::string> damaged;             // one may be anybody's
  store.FindDamagedOf({}, &damaged);
  return !damaged.empty();
}

}  // namespace seendb
