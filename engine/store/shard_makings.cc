// Collections that go, or begin anew: what a shard stores of it. A collection that is made under a
// name that another one had begins empty, although journal records carry only the name.

#include <iterator>
#include <utility>

#include "base/return_if_failed.h"
#include "store/shard_opening.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {

// A note that can't be read says nothing: journal records of before then count, and may hide items.
Status ShardOpening::LoadMakings(FamilySet* set) {
  const std::unique_ptr<rocksdb::Iterator> it(database_.db_->NewIterator({}, database_.meta()));
  const rocksdb::Slice prefix(kMadePrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    rocksdb::Slice name = it->key();
    name.remove_prefix(prefix.size());
    const std::optional<Making> making = Making::FromJson(it->value().ToStringView());
    if (!making) {
      database_.problems().Add(it->key().ToString() + " is damaged");
      continue;
    }
    set->makings[name.ToString()] = *making;
  }
  for (auto& [name, families] : set->collections) {
    const Making making = set->MakingOf(name);
    // One that is still being deleted is the one before.
    families.making = making.deleting ? making.number - 1 : making.number;
  }
  return FromRocks(it->status(), "read which collections were deleted");
}

Status ShardStore::NoteDeletion(const std::string& name, const Making& making) {
  AssertMayBlock();
  RETURN_IF_FAILED(CheckWritable());
  const MutexLock change(tables_.change_mutex());
  RETURN_IF_FAILED(database_.PutMeta(MadeKey(name), making.ToJson()));
  auto set = std::make_shared<FamilySet>(*families());
  set->makings[name] = making;
  database_.Publish(std::move(set));
  return {};
}

std::optional<CollectionFamilies> ShardStore::UnpublishCollection(std::string_view name) {
  const MutexLock change(tables_.change_mutex());
  auto set = std::make_shared<FamilySet>(*families());
  const auto at = set->collections.find(name);
  if (at == set->collections.end()) return {};
  CollectionFamilies taken = std::move(at->second);
  set->collections.erase(at);
  database_.Publish(std::move(set));
  return taken;
}

// All keys that go with a collection, whatever its buckets are called.
Status ShardStore::CollectionKeys(const std::string& name, std::vector<std::string>* keys) const {
  *keys = {kCollectionPrefix + name, UnwatchedKey(name), DroppedKey(name), LostKey(name),
           PolicyKey(name)};
  for (const char* const of : {kSealedPrefix, kLatePrefix, kLostPrefix}) {
    const std::string prefix = of + name + "/";
    const std::unique_ptr<rocksdb::Iterator> it(db()->NewIterator({}, meta()));
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      keys->push_back(it->key().ToString());
    }
    if (!it->status().ok()) return FromRocks(it->status(), "read the marks of a collection");
  }
  return {};
}

Status ShardStore::DeleteCollection(const std::string& name, const CollectionFamilies* families) {
  AssertMayBlock();
  RETURN_IF_FAILED(CheckWritable());
  const MutexLock change(tables_.change_mutex());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (families != nullptr) {
    families->ForEachFamily(
        [&](const std::shared_ptr<Family>& family) { handles.push_back(family->get()); });
  }
  if (!handles.empty()) {
    RETURN_IF_FAILED(database_.DropFamilies(handles, "drop the families of " + name));
  }
  std::vector<std::string> keys;
  RETURN_IF_FAILED(CollectionKeys(name, &keys));
  auto set = std::make_shared<FamilySet>(*this->families());
  Making& making = set->makings[name];
  making.deleting = false;
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(meta(), MadeKey(name), making.ToJson());
  for (const std::string& key : keys) {
    if (status.ok()) status = batch.Delete(meta(), key);
  }
  if (status.ok()) status = db()->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "delete a collection");
  database_.Publish(std::move(set));
  return {};
}

Status ShardStore::BeginAnew(const StoredPolicy& wanted, uint64_t sequence) {
  AssertMayBlock();
  const auto& [name, policy, number, revision] = wanted;
  const Making making{number, sequence, false};
  RETURN_IF_FAILED(CheckWritable());
  const Status dropped = DropAll(&CollectionFamilies::buckets, name);
  RETURN_IF_FAILED(dropped.ok() ? DropAll(&CollectionFamilies::history, name) : dropped);
  const MutexLock change(tables_.change_mutex());
  auto set = std::make_shared<FamilySet>(*families());
  CollectionFamilies& of = set->collections.find(name)->second;
  rocksdb::WriteBatch batch;
  rocksdb::Status status = PutPolicy(wanted, meta(), &batch);
  if (status.ok()) status = batch.Put(meta(), MadeKey(name), making.ToJson());
  if (of.dropped) {  // the same time under another bucket
    of.dropped = BucketIndexOf(policy, BucketBeginMs(of.policy, *of.dropped + 1) - 1);
    if (status.ok()) {
      status = batch.Put(meta(), DroppedKey(name), DroppedValue(BucketLabel(policy, *of.dropped)));
    }
  }
  if (status.ok()) status = db()->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "store a policy");
  of.policy = policy;
  of.revision = revision;
  of.changed = false;
  of.making = making.number;
  set->makings[name] = making;
  database_.Publish(std::move(set));
  return {};
}

}  // namespace seendb
