// Opening a shard: its families under operators that are bound to the policies found inside, its
// identity, its epoch.

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/return_if_failed.h"
#include "format/bytes.h"
#include "store/files.h"
#include "store/real_disk.h"
#include "store/shard_identity.h"
#include "store/shard_opening.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kReadOnlyTries = 8;
constexpr uint64_t kEpochsLost = 1000;  // more than there were since a log began; of 2^24
constexpr char kWayBack[] = "; if the file SEENDB is damaged, run: seendb repair";

// Never names a key: it is a secret.
std::string DifferenceOf(const ItemHashId& shard, const ItemHashId& database) {
  if (shard.version == database.version) return "by another hash_key";
  return "its hash is " + std::to_string(shard.version) + ", the database's is " +
         std::to_string(database.version);
}

}  // namespace

// Beside a running engine, files and families may go between being listed and being opened: such
// an opening is tried again.
Result<std::unique_ptr<ShardStore>> ShardStore::Open(
    const ShardStoreOptions& options, const std::shared_ptr<SharedResources>& shared) {
  for (int tried = 1;; ++tried) {
    Result<std::unique_ptr<ShardStore>> opened = OpenOnce(options, shared);
    if (opened.ok() || !options.read_only || tried == kReadOnlyTries ||
        opened.status().code() == StatusCode::kIncompatible) {
      return opened;
    }
    shared->env->SleepForMicroseconds(10'000 * tried);
  }
}

Result<std::unique_ptr<ShardStore>> ShardStore::OpenOnce(
    const ShardStoreOptions& options, const std::shared_ptr<SharedResources>& shared) {
  std::unique_ptr<ShardStore> store(new ShardStore(options, shared));
  RETURN_IF_FAILED(ShardOpening(*store).Run());
  return store;
}

Status ShardOpening::Run() {
  for (const auto step :
       {&ShardOpening::CheckFiles, &ShardOpening::OpenDatabase, &ShardOpening::CheckSynced,
        &ShardOpening::CheckShardIdentity, &ShardOpening::CheckNewer, &ShardOpening::LoadPolicies,
        &ShardOpening::PublishOpened, &ShardOpening::BumpEpoch, &ShardOpening::RenewShardIdentity,
        &ShardOpening::KeepLogLoss, &ShardOpening::MakeRingFamilies}) {
    const Status status = (this->*step)();
    if (!status.ok()) {
      return Status(status.code(), options_.path + ": " + std::string(status.message()));
    }
  }
  return {};
}

Status ShardOpening::OpenDatabase() {
  rocksdb::DBOptions db_options = DatabaseOptions(*shared_);
  db_options.create_if_missing = options_.create;
  db_options.listeners.push_back(database_.problems_);
  if (options_.create && !options_.read_only) {
    const rocksdb::Status made = MakeOwnersFolder(shared_->env, options_.path);
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
    if (opened.name.kind == nullptr) {
      return Status::Incompatible("unknown column family " + name);
    }
    opened.rules = database_.NewRules();
    descriptors.emplace_back(name,
                             FamilyOptions(*opened.name.kind, opened.rules, shared_->block_cache));
    opened_.push_back(std::move(opened));
  }
  if (!options_.read_only) {
    RETURN_IF_FAILED(SyncLogs(shared_->env, options_.path));
    RETURN_IF_FAILED(CutTornTails(shared_->env, options_.path, logs_));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = OpenRocks(db_options, descriptors, &handles);
  if (!status.ok()) {
    RETURN_IF_FAILED(OpenWithPlaceholders(db_options, status, descriptors, &handles));
  }
  for (size_t i = 0; i < handles.size(); ++i) {
    const FamilyName& name = opened_[i].name;
    opened_[i].family = std::make_shared<Family>(database_.db_.get(), handles[i], *name.kind);
    if (name.Is(kMetaTable)) database_.meta_ = opened_[i].family;
    if (name.Is(kUsersTable)) database_.users_ = opened_[i].family;
  }
  database_.family_count_ = static_cast<uint32_t>(handles.size());
  if (!database_.users_ && !options_.read_only) {
    auto made = database_.CreateFamily(kUsersFamilyName, database_.NewRules());
    if (!made.ok()) return made.status();
    database_.users_ = *made;
  }
  if (!database_.users_) return Status::Corruption("the family users is missing");
  return {};
}

// Damage in the middle of a synced log makes RocksDB stop early without a word; what SYNCED says
// tells that from a torn tail. It was read before the log was: a running engine may have gone on.
Status ShardOpening::CheckSynced() {
  const std::optional<uint64_t> synced = logs_.synced;
  const uint64_t recovered = database_.db_->GetLatestSequenceNumber();
  if (!synced || recovered >= *synced) return {};
  const std::string text = "the log (*.log in " + options_.path + ") is damaged: synced up to " +
                           std::to_string(*synced) + ", readable up to " +
                           std::to_string(recovered);
  if (!options_.open_damaged) {
    return Status::Corruption(
        text + "; restore a checkpoint, or run: seendb repair (open_damaged goes on without)");
  }
  log_loss_ += (log_loss_.empty() ? "" : "; ") + text;
  return {};
}

// What the logs still hold goes into tables, so that the next opening does not meet them again.
Status ShardOpening::KeepLogLoss() {
  if (log_loss_.empty()) return {};
  uint64_t users = 0;
  RETURN_IF_FAILED(options_.read_only ? Status() : store_.RepeatErasures(&users));
  const Status marked = store_.MarkLogLost(log_loss_ + kForgottenWithLog);
  return marked.ok() && !options_.read_only ? tables_.FlushAll() : marked;
}

Status ShardOpening::CheckShardIdentity() {
  std::string stored;
  const rocksdb::Status got = database_.db_->Get({}, database_.meta(), kIdentityKey, &stored);
  if (got.IsNotFound() && options_.create && !options_.read_only) {
    const ShardIdentity mine{kFormatVersion, options_.database_id, options_.shard, options_.shards,
                             options_.hash};
    return database_.PutMeta(kIdentityKey, mine.ToJson());
  }
  if (!got.ok()) return FromRocks(got, "read the shard's identity");
  const Json parsed = Json::parse(stored, nullptr, false);
  try {
    const auto format = parsed.at("format").get<int64_t>();
    if (format > kFormatVersion) {
      return Status::Incompatible("the shard has format " + std::to_string(format) +
                                  ", this version reads up to " + std::to_string(kFormatVersion));
    }
    if (parsed.at("id").get<std::string>() != options_.database_id) {
      return Status::Incompatible("the shard belongs to another database, " +
                                  parsed.at("id").get<std::string>() + kWayBack);
    }
    if (parsed.at("shard").get<uint32_t>() != options_.shard ||
        parsed.at("shards").get<uint32_t>() != options_.shards) {
      return Status::Incompatible("the folder holds shard " +
                                  std::to_string(parsed.at("shard").get<uint32_t>()) + " of " +
                                  std::to_string(parsed.at("shards").get<uint32_t>()) + kWayBack);
    }
    const auto identity = ShardIdentity::FromJson(stored);
    if (!identity) return Status::Corruption("the shard's identity: hash_key is no key");
    if (identity->hash != options_.hash) {
      return Status::Incompatible("the shard hashes items otherwise than the database: " +
                                  DifferenceOf(identity->hash, options_.hash));
    }
    if (identity->format < kFormatVersion) former_identity_ = identity;
  } catch (const nlohmann::json::exception& e) {
    return Status::Corruption(std::string("the shard's identity: ") + e.what());
  }
  return {};
}

// Once nothing can refuse the shard any more: from now on older software does.
Status ShardOpening::RenewShardIdentity() {
  if (!former_identity_ || options_.read_only) return {};
  former_identity_->format = kFormatVersion;
  return database_.PutMeta(kIdentityKey, former_identity_->ToJson());
}

Status ShardOpening::LoadPolicies() {
  const std::unique_ptr<rocksdb::Iterator> it(database_.db_->NewIterator({}, database_.meta()));
  const rocksdb::Slice prefix(kCollectionPrefix);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    rocksdb::Slice name = it->key();
    name.remove_prefix(prefix.size());
    const Result<PolicyPatch> patch = PolicyPatchFromJson(it->value().ToStringView());
    if (!patch.ok()) {
      return Status::Corruption("policy of " + name.ToString() + ": " + patch.status().ToString());
    }
    const Policy policy = ApplyPatch({}, *patch);
    if (const Status valid = ValidatePolicy(policy); !valid.ok()) {
      return Status::Corruption("policy of " + name.ToString() + ": " + valid.ToString());
    }
    policies_[name.ToString()] = policy;
  }
  return FromRocks(it->status(), "read the policies");
}

// A mark that can't be read is none: what others say of the policy is believed then.
Status ShardOpening::LoadMark(CollectionFamilies* families) const {
  std::string copy, text;
  rocksdb::Status status =
      database_.db_->Get({}, database_.meta(), PolicyKey(families->name), &text);
  if (status.IsNotFound()) return {};
  if (status.ok()) {
    status = database_.db_->Get({}, database_.meta(), kCollectionPrefix + families->name, &copy);
  }
  if (!status.ok()) return FromRocks(status, "read the revision of a policy");
  const std::optional<PolicyMark> mark = PolicyMark::FromJson(text);
  if (!mark) return {};
  families->revision = mark->revision;
  families->changed = mark->sum != HashBytes(copy);
  return {};
}

// Without it, or where it is damaged, history is not trusted to be whole.
Status ShardOpening::LoadHistoryIncomplete(CollectionFamilies* families) const {
  std::string text;
  const rocksdb::Status status =
      database_.db_->Get({}, database_.meta(), UnwatchedKey(families->name), &text);
  if (status.IsNotFound()) return {};
  if (!status.ok()) return FromRocks(status, "read since when history is whole");
  int64_t at_ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), at_ms);
  if (error == std::errc() && end == text.data() + text.size()) {
    families->history_incomplete_up_to_ms = at_ms;
  }
  return {};
}

// Whether the bucket was sealed, and what was merged into it since. Where the marker, of older
// software, does not say how much was counted before that seal, all of it counts: one seal too
// many.
void ShardOpening::LoadGrowth(std::string_view collection, Bucket* bucket) const {
  std::string marker, late;
  bucket->sealed =
      database_.db_->Get({}, database_.meta(), SealedKey(collection, bucket->label), &marker).ok();
  if (!database_.db_->Get({}, database_.meta(), LateKey(collection, bucket->label), &late).ok()) {
    return;
  }
  uint64_t total = 0;
  const auto [end, error] = std::from_chars(late.data(), late.data() + late.size(), total);
  if (error != std::errc() || end != late.data() + late.size()) return;
  bucket->late_total = total;
  bucket->late_items = total - std::min(total, ParseSealedState(marker).value_or(0));
}

// Its name is of no calendar, so that no window reaches it and no retention drops it. It stays in
// RocksDB, closed.
void ShardOpening::SetAside(const Opened& opened) {
  database_.problems_->Add(opened.family->name() + ": set aside: " + opened.name.bucket +
                           " is no bucket of the collection's policy");
}

Status ShardOpening::PublishOpened() {
  auto set = std::make_shared<FamilySet>();
  for (const auto& [name, policy] : policies_) {
    CollectionFamilies& families = set->collections[name];
    families.name = name;
    families.policy = policy;
    RETURN_IF_FAILED(LoadHistoryIncomplete(&families));
    RETURN_IF_FAILED(LoadDropped(&families));
    RETURN_IF_FAILED(LoadMark(&families));
  }
  RETURN_IF_FAILED(LoadMakings(set.get()));
  for (Opened& opened : opened_) {
    if (opened.name.Is(kRingTables)) {
      if (opened.name.slot >= 1024) return Status::Incompatible("unknown column family ring/...");
      const WriterLock lock(database_.mutex_);
      database_.ring_.resize(std::max<size_t>(database_.ring_.size(), opened.name.slot + 1));
      database_.ring_[opened.name.slot] = opened.family;
      continue;
    }
    if (opened.name.Is(kOwnTable)) {
      set->own = opened.family;
      set->own_rules = opened.rules.own;
    }
    if (opened.name.collection.empty()) continue;
    const auto at = set->collections.find(opened.name.collection);
    if (at == set->collections.end()) {
      return Status::Corruption("no policy for the families of " + opened.name.collection);
    }
    CollectionFamilies& families = at->second;
    if (families.AdoptList(opened.name.kind->prefix, opened.family, opened.rules)) continue;
    if (!opened.name.Is(kSeenTables)) {
      RETURN_IF_FAILED(AdoptHistory(opened, &families));
      continue;
    }
    const Result<int64_t> index = BucketIndexOfLabel(families.policy, opened.name.bucket);
    if (!index.ok()) {
      SetAside(opened);
      continue;
    }
    auto bucket = std::make_shared<Bucket>();
    bucket->index = *index;
    bucket->label = opened.name.bucket;
    bucket->begin_ms = BucketBeginMs(families.policy, *index);
    bucket->end_ms = BucketBeginMs(families.policy, *index + 1);
    bucket->family = opened.family;
    bucket->rules = opened.rules.seen;
    tables_.BindRules(families.policy, bucket.get());
    LoadGrowth(families.name, bucket.get());
    families.buckets[*index] = std::move(bucket);
  }
  for (auto& [name, families] : set->collections) {
    RETURN_IF_FAILED(CompleteHistory(&families));
  }
  RETURN_IF_FAILED(LoadLosses(set.get()));
  if (!options_.read_only) {
    for (auto& [name, families] : set->collections) {
      RETURN_IF_FAILED(tables_.EnsureImpressions(&families));
    }
  }
  database_.Publish(std::move(set));
  return {};
}

Status ShardOpening::BumpEpoch() {
  std::string stored;
  const rocksdb::Status got = database_.db_->Get({}, database_.meta(), kRingKey, &stored);
  if (got.ok()) {
    const std::optional<uint64_t> epoch = ParseRingState(stored);
    if (!epoch) return Status::Corruption("ring state is unreadable");
    store_.epoch_ = *epoch;
    RETURN_IF_FAILED(LoadClockNote());
  } else if (!got.IsNotFound()) {
    return FromRocks(got, "read the ring state");
  }
  if (options_.read_only) return {};
  // A log that lost a part may have lost openings: no sequence is given twice.
  store_.epoch_ += log_loss_.empty() && !options_.repairing ? 1 : kEpochsLost;
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(database_.meta(), kRingKey, RingState(store_.epoch_));
  const ClockNote note{store_.epoch_, store_.noted_ms()};
  if (status.ok()) status = batch.Put(database_.meta(), kClockKey, note.ToJson());
  if (status.ok()) status = database_.db_->Write(Synced(), &batch);
  return FromRocks(status, "begin an epoch");
}

Status ShardOpening::MakeRingFamilies() {
  if (options_.read_only) return {};
  std::vector<std::shared_ptr<Family>> ring(
      std::max<size_t>(database_.ring_families(), shared_->ring_slots));
  for (uint32_t slot = 0; slot < ring.size(); ++slot) {
    ring[slot] = database_.ring_family(slot);
    if (ring[slot]) continue;
    auto made = database_.CreateFamily(RingFamilyName(slot), database_.NewRules());
    if (!made.ok()) return made.status();
    ring[slot] = *made;
  }
  const WriterLock lock(database_.mutex_);
  database_.ring_ = std::move(ring);
  return {};
}

}  // namespace seendb
