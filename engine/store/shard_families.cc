#include "store/shard_families.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/return_if_failed.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {

void ShardFamilies::Close() {
  const MutexLock change(change_mutex_);
  dropping_.clear();
}

Status ShardFamilies::EnsureImpressions(CollectionFamilies* families) {
  if (families->impressions) return {};
  const TableRules rules = database_.NewRules();
  auto made = database_.CreateFamily(ImpressionsFamilyName(families->name), rules);
  if (!made.ok()) return made.status();
  families->AdoptList(kImpressionsTables, *made, rules);
  return {};
}

Status ShardFamilies::EnsureOwn() {
  AssertMayBlock();
  const MutexLock change(change_mutex_);
  RETURN_IF_FAILED(database_.CheckWritable());
  auto set = std::make_shared<FamilySet>(*database_.families());
  if (set->own) return {};
  if (database_.family_count() >= database_.shared().max_column_families) {
    return Status::Incompatible(
        "the first mark or set of a user of a shard needs a column family; the "
        "setting engine.max_column_families allows " +
        std::to_string(database_.shared().max_column_families));
  }
  const TableRules rules = database_.NewRules();
  auto made = database_.CreateFamily(std::string(kOwnTable), rules);
  if (!made.ok()) return made.status();
  set->own = *made;
  set->own_rules = rules.own;
  database_.Publish(std::move(set));
  return {};
}

Status ShardFamilies::EnsureExposures(std::string_view collection) {
  return EnsureFirst(collection, &CollectionFamilies::exposures, kExposuresTables, "exposure");
}

Status ShardFamilies::EnsureCounts(std::string_view collection) {
  return EnsureFirst(collection, &CollectionFamilies::counts, kCountsTables, "counted event");
}

Status ShardFamilies::EnsureFirst(std::string_view collection,
                                  std::shared_ptr<Family> CollectionFamilies::*family,
                                  std::string_view table, const char* first) {
  AssertMayBlock();
  const MutexLock change(change_mutex_);
  RETURN_IF_FAILED(database_.CheckWritable());
  auto set = std::make_shared<FamilySet>(*database_.families());
  const auto at = set->collections.find(collection);
  if (at == set->collections.end()) {
    return Status::NotFound("no collection " + std::string(collection));
  }
  if (at->second.*family != nullptr) return {};
  if (database_.family_count() >= database_.shared().max_column_families) {
    return Status::Incompatible("the first " + std::string(first) +
                                " of a collection needs a column family; the "
                                "setting engine.max_column_families allows " +
                                std::to_string(database_.shared().max_column_families));
  }
  const TableRules rules = database_.NewRules();
  auto made = database_.CreateFamily(std::string(table).append(collection), rules);
  if (!made.ok()) return made.status();
  at->second.AdoptList(table, *made, rules);
  database_.Publish(std::move(set));
  return {};
}

void ShardFamilies::BindRules(const Policy& policy, Bucket* bucket) const {
  FilterRules rules;
  rules.fpr = policy.fpr / policy.window;
  rules.list_limit = database_.shared().list_limit;
  rules.begin_ms = bucket->begin_ms;
  rules.end_ms = bucket->end_ms;
  rules.exact = policy.representation == Representation::kExact;
  bucket->rules->bytes_max = EffectiveMaxFilterBytes(policy);
  bucket->rules->Bind(rules);
}

Result<std::shared_ptr<Bucket>> ShardFamilies::EnsureBucket(std::string_view collection,
                                                            int64_t index) {
  const auto make = [&](const CollectionFamilies& known) -> Result<std::shared_ptr<Bucket>> {
    change_mutex_.AssertHeld();
    auto bucket = std::make_shared<Bucket>();
    bucket->index = index;
    bucket->label = BucketLabel(known.policy, index);
    bucket->begin_ms = BucketBeginMs(known.policy, index);
    bucket->end_ms = BucketBeginMs(known.policy, index + 1);
    const TableRules rules = database_.NewRules();
    bucket->rules = rules.seen;
    BindRules(known.policy, bucket.get());
    const std::string name = SeenFamilyName(collection, bucket->label);
    RETURN_IF_FAILED(ForgetMarkers(MarkersOf(ParseFamilyName(name))));
    auto made = database_.CreateFamily(name, rules);
    if (!made.ok()) return made.status();
    bucket->family = *made;
    return bucket;
  };
  return EnsureIn(&CollectionFamilies::buckets, collection, index, make);
}

// Of a bucket that is dropped; or was, with a crash or a failure before its markers went.
Status ShardFamilies::ForgetMarkers(const std::vector<std::string>& keys) {
  rocksdb::WriteBatch stale;
  for (const std::string& key : keys) {
    std::string marker;
    const rocksdb::Status got = database_.db()->Get({}, database_.meta(), key, &marker);
    if (got.IsNotFound()) continue;
    const rocksdb::Status taken = got.ok() ? stale.Delete(database_.meta(), key) : got;
    if (!taken.ok()) return FromRocks(taken, "forget " + key);
  }
  if (stale.Count() == 0) return {};
  return FromRocks(database_.db()->Write(Synced(), &stale), "forget markers");
}

Status ShardFamilies::Drop(std::string_view collection,
                           const std::vector<std::shared_ptr<Bucket>>& buckets) {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  std::vector<std::string> names;
  for (const auto& bucket : buckets) {
    names.push_back(SeenFamilyName(collection, bucket->label));
    families.push_back(bucket->family->get());
  }
  return DropBuckets(names, families);
}

Status ShardFamilies::DropBuckets(const std::vector<std::string>& names,
                                  const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  if (families.empty()) return {};
  AssertMayBlock();
  std::vector<std::string> markers;
  for (const std::string& name : names) {
    std::ranges::move(MarkersOf(ParseFamilyName(name)), std::back_inserter(markers));
  }
  const MutexLock change(change_mutex_);
  Status dropped = database_.DropFamilies(families, "drop buckets");
  if (dropped.ok()) dropped = ForgetMarkers(markers);
  for (const std::string& name : names) dropping_.erase(name);
  dropped_.NotifyAll();
  return dropped;
}

Status ShardFamilies::Seal(const std::string& collection, const std::shared_ptr<Bucket>& bucket) {
  RETURN_IF_FAILED(database_.CheckWritable());
  AssertMayBlock();
  const MutexLock one(seal_mutex_);
  rocksdb::ColumnFamilyHandle* handle = bucket->family->get();
  rocksdb::Status status = database_.db()->Flush(rocksdb::FlushOptions(), handle);
  if (status.IsColumnFamilyDropped()) return {};  // dropped meanwhile: nothing left to seal
  if (!status.ok()) return FromRocks(status, "flush " + bucket->label);
  uint64_t needed = 0, free = 0;
  database_.db()->GetIntProperty(handle, rocksdb::DB::Properties::kLiveSstFilesSize, &needed);
  if (database_.shared().env->GetFreeSpace(database_.options().path, &free).ok() &&
      free < needed + (16 << 20)) {
    return Status::IOError("sealing " + bucket->label + " needs " + std::to_string(needed) +
                           " bytes of free disk, there are " + std::to_string(free));
  }
  // Not fewer than the compaction takes in: what is drained meanwhile counts as late.
  const uint64_t total_before = bucket->late_total.load();
  const uint64_t late_before = bucket->late_items.load();
  bucket->rules->sealing = true;
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  status = database_.db()->CompactRange(compact, handle, nullptr, nullptr);
  bucket->rules->sealing = false;
  if (status.IsColumnFamilyDropped()) return {};
  if (status.IsCorruption()) bucket->unreadable = true;
  if (!status.ok()) return FromRocks(status, "seal " + bucket->label);
  const MutexLock change(change_mutex_);  // no checkpoint has the marker without the files
  RETURN_IF_FAILED(
      database_.PutMeta(SealedKey(collection, bucket->label), SealedState(total_before)));
  bucket->late_items -= late_before;
  bucket->sealed = true;
  return {};
}

Status ShardFamilies::ResetRingFamily(uint32_t slot) {
  AssertMayBlock();
  const MutexLock change(change_mutex_);
  if (const std::shared_ptr<Family> old = database_.ring_family(slot)) {
    RETURN_IF_FAILED(
        database_.DropFamilies({old->get()}, "drop the journal of slot " + std::to_string(slot)));
    database_.PublishRingFamily(slot, nullptr);
  }
  auto made = database_.CreateFamily(RingFamilyName(slot), database_.NewRules());
  if (!made.ok()) return made.status();
  database_.PublishRingFamily(slot, *made);
  return {};
}

Status ShardFamilies::CompactAll() {
  AssertMayBlock();
  RETURN_IF_FAILED(database_.CheckWritable());
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  for (const auto& family : database_.OpenTables()) {
    if (!family->kind().compacted) continue;
    const rocksdb::Status status =
        database_.db()->CompactRange(compact, family->get(), nullptr, nullptr);
    if (status.IsColumnFamilyDropped()) continue;  // dropped meanwhile
    if (!status.ok()) return FromRocks(status, "compact " + family->name());
  }
  return {};
}

Status ShardFamilies::FlushAll() {
  AssertMayBlock();
  constexpr int kTries = 100;
  for (int tried = 1;; ++tried) {
    const std::vector<std::shared_ptr<Family>> all = database_.OpenTables();
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    handles.reserve(all.size());
    for (const std::shared_ptr<Family>& family : all) handles.push_back(family->get());
    const rocksdb::Status flushed = database_.db()->Flush(rocksdb::FlushOptions(), handles);
    if (!flushed.IsColumnFamilyDropped() || tried == kTries) return FromRocks(flushed, "flush");
    // A family is being dropped: it leaves the list.
    database_.shared().env->SleepForMicroseconds(10'000);
  }
}

Status ShardFamilies::FlushUsers() {
  AssertMayBlock();
  return FromRocks(database_.db()->Flush(rocksdb::FlushOptions(), database_.users()),
                   "flush the user records");
}

}  // namespace seendb
