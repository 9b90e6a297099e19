#include "store/shard_families.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {

void ShardFamilies::Close() {
  {
    const MutexLock change(change_mutex_);
    dropping_.clear();
  }
  ShardDatabase::Close();
}

Status ShardFamilies::EnsureImpressions(CollectionFamilies* families) {
  if (families->impressions) return {};
  const TableRules rules = NewRules();
  auto made = CreateFamily(ImpressionsFamilyName(families->name), rules);
  if (!made.ok()) return made.status();
  families->AdoptList(kImpressionsTables, *made, rules);
  return {};
}

Status ShardFamilies::EnsureOwn() {
  AssertMayBlock();
  const MutexLock change(change_mutex_);
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  auto set = std::make_shared<FamilySet>(*families());
  if (set->own) return {};
  if (family_count() >= shared_->max_column_families) {
    return Status::Incompatible(
        "the first mark of a shard needs a column family; the "
        "setting engine.max_column_families allows " +
        std::to_string(shared_->max_column_families));
  }
  auto made = CreateFamily(std::string(kOwnTable), NewRules());
  if (!made.ok()) return made.status();
  set->own = *made;
  Publish(std::move(set));
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
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  auto set = std::make_shared<FamilySet>(*families());
  const auto at = set->collections.find(collection);
  if (at == set->collections.end()) {
    return Status::NotFound("no collection " + std::string(collection));
  }
  if (at->second.*family != nullptr) return {};
  if (family_count() >= shared_->max_column_families) {
    return Status::Incompatible("the first " + std::string(first) +
                                " of a collection needs a column family; the "
                                "setting engine.max_column_families allows " +
                                std::to_string(shared_->max_column_families));
  }
  const TableRules rules = NewRules();
  auto made = CreateFamily(std::string(table).append(collection), rules);
  if (!made.ok()) return made.status();
  at->second.AdoptList(table, *made, rules);
  Publish(std::move(set));
  return {};
}

void ShardFamilies::BindRules(const Policy& policy, Bucket* bucket) const {
  FilterRules rules;
  rules.fpr = policy.fpr / policy.window;
  rules.list_limit = shared_->list_limit;
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
    const TableRules rules = NewRules();
    bucket->rules = rules.seen;
    BindRules(known.policy, bucket.get());
    const std::string name = SeenFamilyName(collection, bucket->label);
    const Status forgotten = ForgetMarkers(MarkersOf(ParseFamilyName(name)));
    if (!forgotten.ok()) return forgotten;
    auto made = CreateFamily(name, rules);
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
    const rocksdb::Status got = db_->Get({}, meta(), key, &marker);
    if (got.IsNotFound()) continue;
    const rocksdb::Status taken = got.ok() ? stale.Delete(meta(), key) : got;
    if (!taken.ok()) return FromRocks(taken, "forget " + key);
  }
  if (stale.Count() == 0) return {};
  return FromRocks(db_->Write(Synced(), &stale), "forget markers");
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
  Status dropped;
  const rocksdb::Status status = db_->DropColumnFamilies(families);
  if (status.ok()) {
    family_count_ -= static_cast<uint32_t>(families.size());
    dropped = ForgetMarkers(markers);
  } else {
    dropped = InDoubt(status, "drop buckets");
  }
  for (const std::string& name : names) dropping_.erase(name);
  dropped_.NotifyAll();
  return dropped;
}

Status ShardFamilies::Seal(const std::string& collection, const std::shared_ptr<Bucket>& bucket) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  AssertMayBlock();
  const MutexLock one(seal_mutex_);
  rocksdb::ColumnFamilyHandle* handle = bucket->family->get();
  rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), handle);
  if (status.IsColumnFamilyDropped()) return {};  // dropped meanwhile: nothing left to seal
  if (!status.ok()) return FromRocks(status, "flush " + bucket->label);
  uint64_t needed = 0, free = 0;
  db_->GetIntProperty(handle, rocksdb::DB::Properties::kLiveSstFilesSize, &needed);
  if (shared_->env->GetFreeSpace(options_.path, &free).ok() && free < needed + (16 << 20)) {
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
  status = db_->CompactRange(compact, handle, nullptr, nullptr);
  bucket->rules->sealing = false;
  if (status.IsColumnFamilyDropped()) return {};
  if (status.IsCorruption()) bucket->unreadable = true;
  if (!status.ok()) return FromRocks(status, "seal " + bucket->label);
  const MutexLock change(change_mutex_);  // no checkpoint has the marker without the files
  const Status marked = PutMeta(SealedKey(collection, bucket->label), SealedState(total_before));
  if (!marked.ok()) return marked;
  bucket->late_items -= late_before;
  bucket->sealed = true;
  return {};
}

Status ShardFamilies::ResetRingFamily(uint32_t slot) {
  AssertMayBlock();
  const MutexLock change(change_mutex_);
  if (const std::shared_ptr<Family> old = ring_family(slot)) {
    const rocksdb::Status dropped = db_->DropColumnFamily(old->get());
    if (!dropped.ok()) {
      return InDoubt(dropped, "drop the journal of slot " + std::to_string(slot));
    }
    --family_count_;
    PublishRingFamily(slot, nullptr);
  }
  auto made = CreateFamily(RingFamilyName(slot), NewRules());
  if (!made.ok()) return made.status();
  PublishRingFamily(slot, *made);
  return {};
}

}  // namespace seendb
