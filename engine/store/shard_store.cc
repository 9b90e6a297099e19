#include "store/shard_store.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>
#include <rocksdb/listener.h>

#include "format/bytes.h"
#include "store/status.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kIdentityKey[] = "identity";
constexpr char kRingKey[] = "ring";
constexpr char kCollectionPrefix[] = "collection/";
constexpr char kSealedPrefix[] = "sealed/";
constexpr char kDamagedPrefix[] = "damaged/";
constexpr int kDamagedKept = 100;

rocksdb::WriteOptions Synced() {
  rocksdb::WriteOptions options;
  options.sync = true;
  options.ignore_missing_column_families = true;
  return options;
}

std::string SealedKey(std::string_view collection, std::string_view label) {
  return std::string(kSealedPrefix).append(collection).append("/").append(label);
}

}  // namespace

// Turns RocksDB's background errors into problems of the shard.
class ShardStore::ErrorListener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    Add("RocksDB: " + status->ToString());
    errors_.fetch_add(1, std::memory_order_relaxed);
  }
  void OnErrorRecoveryCompleted(rocksdb::Status) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(problems_, [](const std::string& p) { return p.starts_with("RocksDB: "); });
  }
  void Add(std::string text) {
    const std::lock_guard lock(mutex_);
    if (problems_.size() < 20 &&
        std::find(problems_.begin(), problems_.end(), text) == problems_.end()) {
      problems_.push_back(std::move(text));
    }
  }
  std::vector<std::string> problems() const {
    const std::lock_guard lock(mutex_);
    return problems_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> problems_;
  std::atomic<uint64_t> errors_{0};
};

ShardStore::ShardStore(ShardStoreOptions options, std::shared_ptr<SharedResources> shared)
    : options_(std::move(options)),
      shared_(std::move(shared)),
      listener_(std::make_shared<ErrorListener>()),
      families_(std::make_shared<FamilySet>()) {}

ShardStore::~ShardStore() {
  ring_.clear();
  families_.reset();
  opened_.clear();
  users_.reset();
  meta_.reset();
  if (db_) db_->Close().PermitUncheckedError();
}

Result<std::unique_ptr<ShardStore>> ShardStore::Open(const ShardStoreOptions& options,
                                                     std::shared_ptr<SharedResources> shared) {
  std::unique_ptr<ShardStore> store(new ShardStore(options, std::move(shared)));
  for (const auto step :
       {&ShardStore::OpenDatabase, &ShardStore::CheckSynced, &ShardStore::CheckShardIdentity,
        &ShardStore::LoadPolicies, &ShardStore::PublishOpened, &ShardStore::BumpEpoch,
        &ShardStore::MakeRingFamilies}) {
    Status status = (store.get()->*step)();
    if (!status.ok()) {
      return Status(status.code(), options.path + ": " + std::string(status.message()));
    }
  }
  return store;
}

Status ShardStore::OpenDatabase() {
  rocksdb::DBOptions db_options = DatabaseOptions(*shared_);
  db_options.create_if_missing = options_.create;
  db_options.listeners.push_back(listener_);
  if (options_.create && !options_.read_only) {
    const rocksdb::Status made = shared_->env->CreateDirIfMissing(options_.path);
    if (!made.ok()) return FromRocks(made, "make the folder");
  }
  std::vector<std::string> names;
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(db_options, options_.path, &names);
  if (!listed.ok()) {
    if (!options_.create) {
      return Status::Corruption("the shard can't be listed: " + listed.ToString());
    }
    names = {rocksdb::kDefaultColumnFamilyName};
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) {
    Opened opened;
    opened.name = ParseFamilyName(name);
    if (opened.name.kind == FamilyName::kUnknown) {
      return Status::Incompatible("unknown column family " + name);
    }
    if (opened.name.kind == FamilyName::kSeen) {
      opened.seen = std::make_shared<SeenRules>();
      opened.seen->counters = shared_->counters;
    } else if (opened.name.kind == FamilyName::kImpressions) {
      opened.impressions = std::make_shared<ImpressionRules>();
      opened.impressions->counters = shared_->counters;
      opened.impressions->limit = UINT32_MAX;
    }
    descriptors.emplace_back(
        name, FamilyOptions(*shared_, opened.name.kind, opened.seen, opened.impressions));
    opened_.push_back(std::move(opened));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      options_.read_only
          ? rocksdb::DB::OpenForReadOnly(db_options, options_.path, descriptors, &handles, &db)
          : rocksdb::DB::Open(db_options, options_.path, descriptors, &handles, &db);
  if (!status.ok()) return FromRocks(status, "open");
  db_.reset(db);
  for (size_t i = 0; i < handles.size(); ++i) {
    opened_[i].family = std::make_shared<Family>(db, handles[i]);
    if (opened_[i].name.kind == FamilyName::kDefault) meta_ = opened_[i].family;
    if (opened_[i].name.kind == FamilyName::kUsers) users_ = opened_[i].family;
  }
  family_count_ = static_cast<uint32_t>(handles.size());
  if (!users_ && !options_.read_only) {
    auto made = CreateFamily(kUsersFamilyName,
                             FamilyOptions(*shared_, FamilyName::kUsers, nullptr, nullptr));
    if (!made.ok()) return made.status();
    users_ = *made;
  }
  if (!users_) return Status::Corruption("the family users is missing");
  return {};
}

// Damage in the middle of a synced log makes RocksDB stop early without a word; what SYNCED says
// tells that from a torn tail.
Status ShardStore::CheckSynced() {
  const auto synced = ReadSyncedSequence(shared_->env, options_.path);
  const uint64_t recovered = db_->GetLatestSequenceNumber();
  if (!synced || recovered >= *synced) return {};
  const std::string text = "the log (*.log in " + options_.path + ") is damaged: synced up to " +
                           std::to_string(*synced) + ", readable up to " +
                           std::to_string(recovered);
  if (!options_.open_damaged) {
    return Status::Corruption(text + "; restore the shard, or open it damaged to go on without");
  }
  AddProblem(text);
  return {};
}

Status ShardStore::CheckShardIdentity() {
  std::string stored;
  const rocksdb::Status got = db_->Get({}, meta(), kIdentityKey, &stored);
  if (got.IsNotFound() && options_.create && !options_.read_only) {
    return PutMeta(kIdentityKey, Json{{"format", kFormatVersion},
                                      {"id", options_.database_id},
                                      {"shard", options_.shard},
                                      {"shards", options_.shards}}
                                     .dump());
  }
  if (!got.ok()) return FromRocks(got, "read the shard's identity");
  const Json parsed = Json::parse(stored, nullptr, false);
  try {
    if (parsed.at("id").get<std::string>() != options_.database_id) {
      return Status::Incompatible("the shard belongs to another database, " +
                                  parsed.at("id").get<std::string>());
    }
    if (parsed.at("shard").get<uint32_t>() != options_.shard ||
        parsed.at("shards").get<uint32_t>() != options_.shards) {
      return Status::Incompatible("the folder holds shard " +
                                  std::to_string(parsed.at("shard").get<uint32_t>()) + " of " +
                                  std::to_string(parsed.at("shards").get<uint32_t>()));
    }
  } catch (const nlohmann::json::exception& e) {
    return Status::Corruption(std::string("the shard's identity: ") + e.what());
  }
  return {};
}

Status ShardStore::LoadPolicies() {
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, meta()));
  const rocksdb::Slice prefix(kCollectionPrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    rocksdb::Slice name = it->key();
    name.remove_prefix(prefix.size());
    const Result<PolicyPatch> patch = PolicyPatchFromJson(it->value().ToStringView());
    if (!patch.ok()) {
      return Status::Corruption("policy of " + name.ToString() + ": " + patch.status().ToString());
    }
    policies_[name.ToString()] = ApplyPatch({}, *patch);
  }
  return FromRocks(it->status(), "read the policies");
}

void ShardStore::BindRules(const Policy& policy, Bucket* bucket) const {
  FilterRules rules;
  rules.fpr = policy.fpr / policy.window;
  rules.list_limit = shared_->list_limit;
  rules.begin_ms = bucket->begin_ms;
  rules.end_ms = bucket->end_ms;
  rules.exact = policy.representation == Representation::kExact;
  bucket->rules->bytes_max = EffectiveMaxFilterBytes(policy);
  bucket->rules->Bind(rules);
}

Status ShardStore::PublishOpened() {
  auto set = std::make_shared<FamilySet>();
  for (const auto& [name, policy] : policies_) {
    CollectionFamilies& families = set->collections[name];
    families.name = name;
    families.policy = policy;
  }
  for (Opened& opened : opened_) {
    if (opened.name.kind == FamilyName::kRing) {
      if (opened.name.slot >= 1024) return Status::Incompatible("unknown column family ring/...");
      ring_.resize(std::max<size_t>(ring_.size(), opened.name.slot + 1));
      ring_[opened.name.slot] = opened.family;
      continue;
    }
    if (opened.name.kind != FamilyName::kSeen && opened.name.kind != FamilyName::kImpressions) {
      continue;
    }
    const auto at = set->collections.find(opened.name.collection);
    if (at == set->collections.end()) {
      return Status::Corruption("no policy for the families of " + opened.name.collection);
    }
    CollectionFamilies& families = at->second;
    if (opened.name.kind == FamilyName::kImpressions) {
      families.impressions = opened.family;
      families.impression_rules = opened.impressions;
      families.impression_rules->limit = families.policy.impressions;
      continue;
    }
    const Result<int64_t> index = BucketIndexOfLabel(families.policy, opened.name.bucket);
    if (!index.ok()) return Status::Corruption("bucket label " + opened.name.bucket);
    auto bucket = std::make_shared<Bucket>();
    bucket->index = *index;
    bucket->label = opened.name.bucket;
    bucket->begin_ms = BucketBeginMs(families.policy, *index);
    bucket->end_ms = BucketBeginMs(families.policy, *index + 1);
    bucket->family = opened.family;
    bucket->rules = opened.seen;
    BindRules(families.policy, bucket.get());
    std::string marker;
    bucket->sealed = db_->Get({}, meta(), SealedKey(families.name, bucket->label), &marker).ok();
    families.buckets[*index] = std::move(bucket);
  }
  opened_.clear();
  policies_.clear();
  if (!options_.read_only) {
    for (auto& [name, families] : set->collections) {
      const Status made = EnsureImpressions(&families);
      if (!made.ok()) return made;
    }
  }
  Publish(std::move(set));
  return {};
}

Status ShardStore::BumpEpoch() {
  std::string stored;
  const rocksdb::Status got = db_->Get({}, meta(), kRingKey, &stored);
  if (got.ok()) {
    const Json parsed = Json::parse(stored, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("epoch")) {
      return Status::Corruption("ring state is unreadable");
    }
    epoch_ = parsed["epoch"].get<uint64_t>();
  } else if (!got.IsNotFound()) {
    return FromRocks(got, "read the ring state");
  }
  if (options_.read_only) return {};
  ++epoch_;
  return PutMeta(kRingKey, Json{{"epoch", epoch_}}.dump());
}

Status ShardStore::MakeRingFamilies() {
  if (options_.read_only) return {};
  ring_.resize(std::max<size_t>(ring_.size(), shared_->ring_slots));
  for (uint32_t slot = 0; slot < ring_.size(); ++slot) {
    if (ring_[slot]) continue;
    auto made = CreateFamily(RingFamilyName(slot),
                             FamilyOptions(*shared_, FamilyName::kRing, nullptr, nullptr));
    if (!made.ok()) return made.status();
    ring_[slot] = *made;
  }
  return {};
}

std::shared_ptr<const FamilySet> ShardStore::families() const {
  const std::shared_lock lock(mutex_);
  return families_;
}

void ShardStore::Publish(std::shared_ptr<const FamilySet> families) {
  const std::unique_lock lock(mutex_);
  families_.swap(families);
}

std::shared_ptr<Family> ShardStore::ring_family(uint32_t slot) const {
  const std::shared_lock lock(mutex_);
  return slot < ring_.size() ? ring_[slot] : nullptr;
}

uint32_t ShardStore::ring_families() const {
  const std::shared_lock lock(mutex_);
  return static_cast<uint32_t>(ring_.size());
}

uint32_t ShardStore::family_count() const { return family_count_; }

Status ShardStore::PutMeta(const std::string& key, const std::string& value) {
  return FromRocks(db_->Put(Synced(), meta(), key, value), "write " + key);
}

Result<std::shared_ptr<Family>> ShardStore::CreateFamily(
    const std::string& name, const rocksdb::ColumnFamilyOptions& options) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status status = db_->CreateColumnFamily(options, name, &handle);
  if (!status.ok()) return FromRocks(status, "make the family " + name);
  ++family_count_;
  return std::make_shared<Family>(db_.get(), handle);
}

Status ShardStore::EnsureImpressions(CollectionFamilies* families) {
  if (families->impressions) return {};
  families->impression_rules = std::make_shared<ImpressionRules>();
  families->impression_rules->counters = shared_->counters;
  families->impression_rules->limit = families->policy.impressions;
  auto made = CreateFamily(
      ImpressionsFamilyName(families->name),
      FamilyOptions(*shared_, FamilyName::kImpressions, nullptr, families->impression_rules));
  if (!made.ok()) return made.status();
  families->impressions = *made;
  return {};
}

Status ShardStore::PutCollection(const std::string& name, const Policy& policy) {
  const std::lock_guard change(change_mutex_);
  const Status stored = PutMeta(kCollectionPrefix + name, PolicyToJson(policy));
  if (!stored.ok()) return stored;
  auto set = std::make_shared<FamilySet>(*families());
  CollectionFamilies& families = set->collections[name];
  families.name = name;
  families.policy = policy;
  const Status made = EnsureImpressions(&families);
  if (!made.ok()) return made;
  families.impression_rules->limit = policy.impressions;
  for (const auto& [index, bucket] : families.buckets) {
    bucket->rules->bytes_max = EffectiveMaxFilterBytes(policy);
  }
  Publish(std::move(set));
  return {};
}

Result<std::shared_ptr<Bucket>> ShardStore::EnsureBucket(std::string_view collection,
                                                         int64_t index) {
  const auto find = [&](const FamilySet& set) -> std::shared_ptr<Bucket> {
    const CollectionFamilies* found = set.Find(collection);
    if (found == nullptr) return nullptr;
    const auto at = found->buckets.find(index);
    return at == found->buckets.end() ? nullptr : at->second;
  };
  if (auto bucket = find(*families())) return bucket;
  const std::lock_guard change(change_mutex_);
  const std::shared_ptr<const FamilySet> current = families();
  if (auto bucket = find(*current)) return bucket;
  const CollectionFamilies* known = current->Find(collection);
  if (known == nullptr) return Status::NotFound("no collection " + std::string(collection));

  auto bucket = std::make_shared<Bucket>();
  bucket->index = index;
  bucket->label = BucketLabel(known->policy, index);
  bucket->begin_ms = BucketBeginMs(known->policy, index);
  bucket->end_ms = BucketBeginMs(known->policy, index + 1);
  bucket->rules = std::make_shared<SeenRules>();
  bucket->rules->counters = shared_->counters;
  BindRules(known->policy, bucket.get());
  auto made = CreateFamily(SeenFamilyName(collection, bucket->label),
                           FamilyOptions(*shared_, FamilyName::kSeen, bucket->rules, nullptr));
  if (!made.ok()) return made.status();
  bucket->family = *made;
  auto set = std::make_shared<FamilySet>(*current);
  set->collections.find(collection)->second.buckets[index] = bucket;
  Publish(std::move(set));
  return bucket;
}

std::vector<std::shared_ptr<Bucket>> ShardStore::Unpublish(std::string_view collection,
                                                           int64_t oldest_kept) {
  const std::lock_guard change(change_mutex_);
  auto set = std::make_shared<FamilySet>(*families());
  std::vector<std::shared_ptr<Bucket>> taken;
  const auto at = set->collections.find(collection);
  if (at == set->collections.end()) return taken;
  auto& buckets = at->second.buckets;
  while (!buckets.empty() && buckets.rbegin()->first < oldest_kept) {
    taken.push_back(buckets.rbegin()->second);
    buckets.erase(std::prev(buckets.end()));
  }
  if (!taken.empty()) Publish(std::move(set));
  return taken;
}

Status ShardStore::Drop(std::string_view collection,
                        const std::vector<std::shared_ptr<Bucket>>& buckets) {
  if (buckets.empty()) return {};
  const std::lock_guard change(change_mutex_);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::WriteBatch markers;
  for (const auto& bucket : buckets) {
    handles.push_back(bucket->family->get());
    const rocksdb::Status s = markers.Delete(meta(), SealedKey(collection, bucket->label));
    if (!s.ok()) return FromRocks(s, "drop");
  }
  rocksdb::Status status = db_->DropColumnFamilies(handles);
  if (!status.ok()) return FromRocks(status, "drop buckets");
  family_count_ -= static_cast<uint32_t>(handles.size());
  return FromRocks(db_->Write(Synced(), &markers), "drop buckets");
}

Status ShardStore::Seal(const std::string& collection, const std::shared_ptr<Bucket>& bucket) {
  const std::lock_guard one(seal_mutex_);
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
  const uint64_t late_before = bucket->late_items.load();
  bucket->rules->sealing = true;
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  status = db_->CompactRange(compact, handle, nullptr, nullptr);
  bucket->rules->sealing = false;
  if (status.IsColumnFamilyDropped()) return {};
  if (!status.ok()) return FromRocks(status, "seal " + bucket->label);
  const Status marked = PutMeta(SealedKey(collection, bucket->label), "{}");
  if (!marked.ok()) return marked;
  bucket->late_items -= late_before;
  bucket->sealed = true;
  return {};
}

Status ShardStore::ResetRingFamily(uint32_t slot) {
  const std::lock_guard change(change_mutex_);
  if (const std::shared_ptr<Family> old = ring_family(slot)) {
    const rocksdb::Status dropped = db_->DropColumnFamily(old->get());
    if (!dropped.ok()) {
      return FromRocks(dropped, "drop the journal of slot " + std::to_string(slot));
    }
    --family_count_;
    const std::unique_lock lock(mutex_);
    ring_[slot] = nullptr;
  }
  auto made = CreateFamily(RingFamilyName(slot),
                           FamilyOptions(*shared_, FamilyName::kRing, nullptr, nullptr));
  if (!made.ok()) return made.status();
  const std::unique_lock lock(mutex_);
  ring_[slot] = *made;
  return {};
}

Status ShardStore::CompactAll() {
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  std::vector<std::shared_ptr<Family>> all{meta_, users_};
  const std::shared_ptr<const FamilySet> set = families();
  for (const auto& [name, families] : set->collections) {
    if (families.impressions) all.push_back(families.impressions);
    for (const auto& [index, bucket] : families.buckets) all.push_back(bucket->family);
  }
  for (const auto& family : all) {
    const rocksdb::Status status = db_->CompactRange(compact, family->get(), nullptr, nullptr);
    if (status.IsColumnFamilyDropped()) continue;  // dropped meanwhile
    if (!status.ok()) return FromRocks(status, "compact " + family->get()->GetName());
  }
  return {};
}

Status ShardStore::SyncWal() {
  if (options_.read_only) return {};
  const std::lock_guard lock(sync_mutex_);
  const uint64_t sequence = db_->GetLatestSequenceNumber();
  if (sequence == noted_sequence_) return {};
  const rocksdb::Status status = db_->SyncWAL();
  if (!status.ok()) return FromRocks(status, "sync the log");
  const Status noted = WriteSyncedSequence(shared_->env, options_.path, sequence);
  if (noted.ok()) noted_sequence_ = sequence;
  return noted;
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

std::vector<std::string> ShardStore::Problems() const { return listener_->problems(); }

void ShardStore::AddProblem(std::string text) { listener_->Add(std::move(text)); }

}  // namespace seendb
