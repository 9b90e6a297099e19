#include "store/shard_store.h"

#include <algorithm>
#include <utility>

#include "format/bytes.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr int kDamagedKept = 100;

}  // namespace

rocksdb::WriteOptions NotSynced() {
  rocksdb::WriteOptions options;
  options.ignore_missing_column_families = true;
  return options;
}

rocksdb::WriteOptions Synced() {
  rocksdb::WriteOptions options = NotSynced();
  options.sync = true;
  return options;
}

ShardStore::ShardStore(ShardStoreOptions options, std::shared_ptr<SharedResources> shared)
    : options_(std::move(options)),
      shared_(std::move(shared)),
      problems_(std::make_shared<ProblemList>()),
      families_(std::make_shared<FamilySet>()) {}

ShardStore::~ShardStore() { CloseDatabase(); }

std::shared_ptr<const FamilySet> ShardStore::families() const {
  const ReaderLock lock(mutex_);
  return families_;
}

void ShardStore::Publish(std::shared_ptr<const FamilySet> families) {
  const WriterLock lock(mutex_);
  families_.swap(families);
}

std::shared_ptr<Family> ShardStore::ring_family(uint32_t slot) const {
  const ReaderLock lock(mutex_);
  return slot < ring_.size() ? ring_[slot] : nullptr;
}

uint32_t ShardStore::ring_families() const {
  const ReaderLock lock(mutex_);
  return static_cast<uint32_t>(ring_.size());
}

uint32_t ShardStore::family_count() const { return family_count_; }

Status ShardStore::PutMeta(const std::string& key, const std::string& value) {
  return FromRocks(db_->Put(Synced(), meta(), key, value), "write " + key);
}

Result<std::shared_ptr<Family>> ShardStore::CreateFamily(const std::string& name,
                                                         const TableRules& rules) {
  const Table& kind = *ParseFamilyName(name).kind;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status status =
      db_->CreateColumnFamily(FamilyOptions(kind, rules, shared_->block_cache), name, &handle);
  if (!status.ok()) return InDoubt(status, "make the family " + name);
  ++family_count_;
  return std::make_shared<Family>(db_.get(), handle, kind);
}

Status ShardStore::EnsureImpressions(CollectionFamilies* families) {
  if (families->impressions) return {};
  const TableRules rules = NewRules();
  families->impression_rules = rules.impressions;
  SetImpressionRules(families->policy, families->impression_rules.get());
  auto made = CreateFamily(ImpressionsFamilyName(families->name), rules);
  if (!made.ok()) return made.status();
  families->impressions = *made;
  return {};
}

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
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const MutexLock change(change_mutex_);
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
  if (status.ok()) status = db_->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "store a policy");
  families.name = name;
  families.making = noted.number;
  families.policy = wanted.policy;
  families.revision = wanted.revision;
  families.changed = false;
  families.history_incomplete_up_to_ms = history_incomplete_up_to_ms;
  const Status made = EnsureImpressions(&families);
  if (!made.ok()) return made;
  SetImpressionRules(wanted.policy, families.impression_rules.get());
  for (const auto& [index, bucket] : families.buckets) {
    bucket->rules->bytes_max = EffectiveMaxFilterBytes(wanted.policy);
  }
  Publish(std::move(set));
  return {};
}

Result<std::shared_ptr<Bucket>> ShardStore::EnsureBucket(std::string_view collection,
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
Status ShardStore::ForgetMarkers(const std::vector<std::string>& keys) {
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

Status ShardStore::Drop(std::string_view collection,
                        const std::vector<std::shared_ptr<Bucket>>& buckets) {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  std::vector<std::string> names;
  for (const auto& bucket : buckets) {
    names.push_back(SeenFamilyName(collection, bucket->label));
    families.push_back(bucket->family->get());
  }
  return DropBuckets(names, families);
}

Status ShardStore::DropBuckets(const std::vector<std::string>& names,
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

Status ShardStore::Seal(const std::string& collection, const std::shared_ptr<Bucket>& bucket) {
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

Status ShardStore::ResetRingFamily(uint32_t slot) {
  AssertMayBlock();
  const MutexLock change(change_mutex_);
  if (const std::shared_ptr<Family> old = ring_family(slot)) {
    const rocksdb::Status dropped = db_->DropColumnFamily(old->get());
    if (!dropped.ok()) {
      return InDoubt(dropped, "drop the journal of slot " + std::to_string(slot));
    }
    --family_count_;
    const WriterLock lock(mutex_);
    ring_[slot] = nullptr;
  }
  auto made = CreateFamily(RingFamilyName(slot), NewRules());
  if (!made.ok()) return made.status();
  const WriterLock lock(mutex_);
  ring_[slot] = *made;
  return {};
}

std::vector<std::shared_ptr<Family>> ShardStore::OpenTables() const {
  std::vector<std::shared_ptr<Family>> all{meta_, users_};
  const ReaderLock lock(mutex_);
  for (const std::shared_ptr<Family>& family : ring_) {
    if (family) all.push_back(family);
  }
  const auto add = [&all](const std::shared_ptr<Family>& family) { all.push_back(family); };
  for (const auto& [name, families] : families_->collections) families.ForEachFamily(add);
  return all;
}

Status ShardStore::CompactAll() {
  AssertMayBlock();
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  for (const auto& family : OpenTables()) {
    if (!family->kind().compacted) continue;
    const rocksdb::Status status = db_->CompactRange(compact, family->get(), nullptr, nullptr);
    if (status.IsColumnFamilyDropped()) continue;  // dropped meanwhile
    if (!status.ok()) return FromRocks(status, "compact " + family->name());
  }
  return {};
}

void ShardStore::NameFamilies(Inventory* files) const {
  for (const std::shared_ptr<Family>& family : OpenTables()) {
    files->families[family->get()->GetID()] = family->name();
  }
  const std::shared_ptr<const FamilySet> set = families();
  for (const auto& [name, of] : set->collections) {
    files->policies[name] = PolicyToJson(of.policy);
  }
}

Status ShardStore::SyncWal() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  if (options_.read_only) return {};
  const MutexLock lock(sync_mutex_);
  Inventory files = TakeInventory(db_.get(), noted_files_);
  NameFamilies(&files);
  const uint64_t sequence = db_->GetLatestSequenceNumber();
  if (sequence == noted_sequence_ && files == noted_files_) return {};
  const rocksdb::Status status = log_sync_->SyncTo(sequence);
  if (!status.ok()) return InDoubt(status, "sync the log");
  // The folder is synced too by now: no log is noted that a power loss could take.
  const Status noted = WriteSyncedSequence(shared_->env, options_.path, sequence);
  if (!noted.ok()) return noted;
  noted_sequence_ = sequence;
  // A list that could not be written says less, nothing wrong.
  if (files.manifest.empty()) return {};
  if (WriteInventory(shared_->env, options_.path, files).ok()) noted_files_ = files;
  return {};
}

void ShardStore::KeepDamaged(std::string_view name, std::string_view bytes) {
  AddProblem("a damaged journal record was set aside: " + std::string(name));
  if (options_.read_only) return;
  int kept = 0;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, meta()));
  for (it->Seek(kDamagedPrefix); it->Valid() && it->key().starts_with(kDamagedPrefix); it->Next()) {
    ++kept;
  }
  if (kept >= kDamagedKept) return;
  const std::string key = std::string(kDamagedPrefix).append(name);
  const Status stored = PutMeta(key, std::string(bytes.substr(0, 64 << 10)));
  if (!stored.ok()) AddProblem(stored.ToString());
}

std::vector<std::string> ShardStore::Problems() const { return problems_->problems(); }

void ShardStore::ClearProblems(std::string_view prefix) { problems_->Clear(prefix); }

void ShardStore::AddProblem(std::string text) { problems_->Add(std::move(text)); }

}  // namespace seendb
