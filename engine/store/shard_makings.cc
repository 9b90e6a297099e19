// Collections that go, or begin anew: what a shard stores of it. A collection that is made under a
// name that another one had begins empty, although journal records carry only the name.

#include <iterator>
#include <utility>

#include "store/shard_opening.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {

// A note that can't be read says nothing: journal records of before then count, and may hide items.
Status ShardOpening::LoadMakings(FamilySet* set) {
  const std::unique_ptr<rocksdb::Iterator> it(store_.db_->NewIterator({}, store_.meta()));
  const rocksdb::Slice prefix(kMadePrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    rocksdb::Slice name = it->key();
    name.remove_prefix(prefix.size());
    const std::optional<Making> making = Making::FromJson(it->value().ToStringView());
    if (!making) {
      store_.problems().Add(it->key().ToString() + " is damaged");
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
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const MutexLock change(change_mutex_);
  const Status noted = PutMeta(MadeKey(name), making.ToJson());
  if (!noted.ok()) return noted;
  auto set = std::make_shared<FamilySet>(*families());
  set->makings[name] = making;
  Publish(std::move(set));
  return {};
}

std::optional<CollectionFamilies> ShardStore::UnpublishCollection(std::string_view name) {
  const MutexLock change(change_mutex_);
  auto set = std::make_shared<FamilySet>(*families());
  const auto at = set->collections.find(name);
  if (at == set->collections.end()) return {};
  CollectionFamilies taken = std::move(at->second);
  set->collections.erase(at);
  Publish(std::move(set));
  return taken;
}

// All keys that go with a collection, whatever its buckets are called.
Status ShardStore::CollectionKeys(const std::string& name, std::vector<std::string>* keys) const {
  *keys = {kCollectionPrefix + name, UnwatchedKey(name), DroppedKey(name), LostKey(name),
           PolicyKey(name)};
  for (const char* const of : {kSealedPrefix, kLatePrefix, kLostPrefix}) {
    const std::string prefix = of + name + "/";
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, meta()));
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      keys->push_back(it->key().ToString());
    }
    if (!it->status().ok()) return FromRocks(it->status(), "read the marks of a collection");
  }
  return {};
}

Status ShardStore::DeleteCollection(const std::string& name, const CollectionFamilies* families) {
  AssertMayBlock();
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const MutexLock change(change_mutex_);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (families != nullptr) {
    families->ForEachFamily(
        [&](const std::shared_ptr<Family>& family) { handles.push_back(family->get()); });
  }
  if (!handles.empty()) {
    const rocksdb::Status dropped = db_->DropColumnFamilies(handles);
    if (!dropped.ok()) return InDoubt(dropped, "drop the families of " + name);
    family_count_ -= static_cast<uint32_t>(handles.size());
  }
  std::vector<std::string> keys;
  const Status listed = CollectionKeys(name, &keys);
  if (!listed.ok()) return listed;
  auto set = std::make_shared<FamilySet>(*this->families());
  Making& making = set->makings[name];
  making.deleting = false;
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(meta(), MadeKey(name), making.ToJson());
  for (const std::string& key : keys) {
    if (status.ok()) status = batch.Delete(meta(), key);
  }
  if (status.ok()) status = db_->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "delete a collection");
  Publish(std::move(set));
  return {};
}

Status ShardStore::BeginAnew(const StoredPolicy& wanted, uint64_t sequence) {
  AssertMayBlock();
  const auto& [name, policy, number, revision] = wanted;
  const Making making{number, sequence, false};
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status dropped = DropAll(&CollectionFamilies::buckets, name);
  const Status history = dropped.ok() ? DropAll(&CollectionFamilies::history, name) : dropped;
  if (!history.ok()) return history;
  const MutexLock change(change_mutex_);
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
  if (status.ok()) status = db_->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "store a policy");
  of.policy = policy;
  of.revision = revision;
  of.changed = false;
  of.making = making.number;
  set->makings[name] = making;
  Publish(std::move(set));
  return {};
}

}  // namespace seendb
