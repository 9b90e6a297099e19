#include "store/shard_store.h"

#include <algorithm>
#include <utility>

#include "base/return_if_failed.h"
#include "format/bytes.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr int kDamagedKept = 100;

}  // namespace

rocksdb::Status PutPolicy(const StoredPolicy& wanted, rocksdb::ColumnFamilyHandle* meta,
                          rocksdb::WriteBatch* batch) {
  const std::string copy = PolicyToJson(wanted.policy);
  const PolicyMark mark{wanted.revision, HashBytes(copy)};
  const rocksdb::Status put = batch->Put(meta, kCollectionPrefix + wanted.name, copy);
  return put.ok() ? batch->Put(meta, PolicyKey(wanted.name), mark.ToJson()) : put;
}

Status ShardStore::PutCollection(const StoredPolicy& wanted, int64_t history_incomplete_up_to_ms) {
  AssertMayBlock();
  const std::string& name = wanted.name;
  RETURN_IF_FAILED(CheckWritable());
  const MutexLock change(tables_.change_mutex());
  auto set = std::make_shared<FamilySet>(*families());
  CollectionFamilies& families = set->collections[name];
  history_incomplete_up_to_ms =
      std::max(history_incomplete_up_to_ms, families.history_gone_up_to_ms);
  rocksdb::WriteBatch batch;
  rocksdb::Status status = PutPolicy(wanted, meta(), &batch);
  if (status.ok()) {
    status = batch.Put(meta(), UnwatchedKey(name), std::to_string(history_incomplete_up_to_ms));
  }
  Making noted = set->MakingOf(name);
  if (noted.number < wanted.making) {
    noted.number = wanted.making;
    set->makings[name] = noted;
    if (status.ok()) status = batch.Put(meta(), MadeKey(name), noted.ToJson());
  }
  if (status.ok()) status = db()->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "store a policy");
  families.name = name;
  families.making = noted.number;
  families.policy = wanted.policy;
  families.revision = wanted.revision;
  families.changed = false;
  families.history_incomplete_up_to_ms = history_incomplete_up_to_ms;
  RETURN_IF_FAILED(tables_.EnsureImpressions(&families));
  SetImpressionRules(wanted.policy, families.impression_rules.get());
  if (families.exposures) SetExposureRules(wanted.policy, families.exposure_rules.get());
  if (families.counts) families.count_rules->SetKinds(wanted.policy.counts);
  for (const auto& [index, bucket] : families.buckets) {
    bucket->rules->bytes_max = EffectiveMaxFilterBytes(wanted.policy);
  }
  database_.Publish(std::move(set));
  return {};
}

void ShardStore::KeepDamaged(std::string_view name, std::string_view bytes) {
  problems().Add("a damaged journal record was set aside: " + std::string(name));
  if (database_.options().read_only) return;
  int kept = 0;
  const std::unique_ptr<rocksdb::Iterator> it(db()->NewIterator({}, meta()));
  for (it->Seek(kDamagedPrefix); it->Valid() && it->key().starts_with(kDamagedPrefix); it->Next()) {
    ++kept;
  }
  if (kept >= kDamagedKept) return;
  const std::string key = std::string(kDamagedPrefix).append(name);
  const Status stored = database_.PutMeta(key, std::string(bytes.substr(0, 64 << 10)));
  if (!stored.ok()) problems().Add(stored.ToString());
}

}  // namespace seendb
