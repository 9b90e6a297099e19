// Whether a shard holds anything of a user. Looks as a reader does: the ring, then the family set,
// then RocksDB, so that a drain hides nothing.

#include <memory>
#include <string>

#include "format/day_key.h"
#include "format/history_codec.h"
#include "ring/ring.h"
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

}  // namespace

bool Ring::MayHold(std::string_view user) const {
  if (settings_.Find(user) != nullptr) return true;
  const std::shared_ptr<const FamilySet> before = store_->families();
  for (const auto& [name, collection] : before->collections) {
    const uint16_t id = names_->Intern(name, collection.making);
    std::vector<Fingerprint> staged;
    Collect(id, user, INT64_MIN, false, &staged);
    Collect(id, user, INT64_MIN, true, &staged);
    StagedStates states;
    CollectHistory(id, user, &states);
    if (!staged.empty() || !states.empty()) return true;
  }
  const std::shared_ptr<const FamilySet> families = store_->families();
  for (const auto& [name, collection] : families->collections) {
    if (MayHoldIn(collection, user)) return true;
    if (MayHaveKey(*store_, store_->users(), DayKey(user, name))) return true;
  }
  if (MayHaveKey(*store_, store_->users(), user)) return true;
  if (MayHaveKey(*store_, store_->meta(), ErasingKey(user))) return true;
  std::vector<std::string> damaged;  // a journal record set aside may be anybody's
  store_->FindDamagedOf({}, &damaged);
  return !damaged.empty();
}

bool Ring::MayHoldIn(const CollectionFamilies& collection, std::string_view user) const {
  if (!collection.losses.empty()) return true;
  if (collection.impressions != nullptr &&
      MayHaveKey(*store_, collection.impressions->get(), user)) {
    return true;
  }
  for (const auto& [index, bucket] : collection.buckets) {
    if (MayHaveKey(*store_, bucket->family->get(), user)) return true;
  }
  for (const auto& [index, bucket] : collection.history) {
    if (MayHaveRows(*store_, bucket->states->get(), user)) return true;
    if (MayHaveRows(*store_, bucket->timeline->get(), user)) return true;
  }
  return false;
}

}  // namespace seendb
