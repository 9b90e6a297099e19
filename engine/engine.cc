// Opening and closing: the lock, the identity, the shards, the journals.

#include "seendb/engine.h"

#include <algorithm>
#include <future>
#include <utility>

#include "engine_impl.h"
#include "filter/hash.h"
#include "store/copy_file.h"
#include "store/ordered_files.h"
#include "store/status.h"

namespace seendb {
namespace {

Status CheckOptions(const Options& options) {
  if (options.shards > 1024) return Status::InvalidArgument("at most 1024 shards", "/shards");
  if (options.ring_slots < 2 || options.ring_slots > 64) {
    return Status::InvalidArgument("ring_slots must be 2-64", "/ring_slots");
  }
  if (options.slot_ms < 1) return Status::InvalidArgument("slot_ms must be positive", "/slot_ms");
  if (options.list_limit < 16 || options.list_limit > 65'535) {
    return Status::InvalidArgument("list_limit must be 16-65535", "/list_limit");
  }
  if (options.max_candidates < 1) {
    return Status::InvalidArgument("max_candidates must be positive", "/max_candidates");
  }
  const auto is_minute = [](int32_t minute) { return minute >= 0 && minute <= 1440; };
  if (!is_minute(options.maintenance_begin_minute)) {
    return Status::InvalidArgument("must be a minute of the day, 0-1440",
                                   "/maintenance_begin_minute");
  }
  if (!is_minute(options.maintenance_end_minute)) {
    return Status::InvalidArgument("must be a minute of the day, 0-1440",
                                   "/maintenance_end_minute");
  }
  if (options.sync_interval_ms < 1) {
    return Status::InvalidArgument("sync_interval_ms must be positive", "/sync_interval_ms");
  }
  return {};
}

// Whoever meets damage is told of the way back.
Status WithWayBack(Status status) {
  const std::string_view text = status.message();
  if (status.code() != StatusCode::kCorruption || text.find("seendb repair") != text.npos) {
    return status;
  }
  return Status::Corruption(std::string(text) + "; restore a checkpoint, or run: seendb repair");
}

Status MakeFolders(rocksdb::Env* env, const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const Status made = MakeFolder(env, path.substr(0, at));
    if (!made.ok()) return made;
  }
  const Status made = MakeFolder(env, path);
  if (!made.ok() || env->FileExists(path + "/SEENDB").ok()) return made;
  // Whoever made them before may have been killed before syncing their names. Folders further up
  // may be closed to us; they are older than this database, then.
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const Status synced = SyncFolder(env, FolderOf(path.substr(0, at)));
    static_cast<void>(synced);
  }
  return SyncFolder(env, FolderOf(path));
}

// Runs `work` for every shard at once; the first failure by shard number.
Status ForAllShards(size_t shards, const std::function<Status(size_t)>& work) {
  std::vector<std::future<Status>> running;
  for (size_t i = 0; i < shards; ++i) {
    running.push_back(std::async(std::launch::async, work, i));
  }
  Status first;
  for (std::future<Status>& one : running) {
    Status status = one.get();
    if (first.ok() && !status.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Open(const std::string& path, const Options& options) {
  return Open(path, options, Seams{});
}

Result<std::unique_ptr<Engine>> Engine::Open(const std::string& path, const Options& options,
                                             const Seams& seams) {
  const Status checked = CheckOptions(options);
  if (!checked.ok()) return checked;
  auto engine = std::make_unique<EngineImpl>(path, options, seams);
  const Status opened = engine->OpenAll();
  if (!opened.ok()) return opened;
  return std::unique_ptr<Engine>(std::move(engine));
}

EngineImpl::EngineImpl(std::string path, const Options& options, const Seams& seams)
    : path_(std::move(path)),
      options_(options),
      seams_(seams),
      clock_(seams.clock != nullptr ? seams.clock : SystemClock()),
      env_(NewOrderedEnv(seams.env != nullptr ? seams.env : rocksdb::Env::Default())),
      shared_(std::make_shared<SharedResources>()),
      collections_(std::make_shared<CollectionMap>()) {
  shared_->env = env_.get();
  shared_->block_cache = rocksdb::NewLRUCache(options.block_cache_bytes, -1, false, 0.2);
  shared_->write_buffers =
      std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_bytes);
  shared_->write_buffer_bytes = options.write_buffer_bytes;
  shared_->statistics = rocksdb::CreateDBStatistics();
  shared_->statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  shared_->counters = std::make_shared<MergeCounters>();
  shared_->background_threads = options.background_threads;
  shared_->ring_slots = options.ring_slots;
  shared_->list_limit = options.list_limit;
  shared_->max_column_families = options.max_column_families;
}

EngineImpl::~EngineImpl() {
  const Status closed = Close();
  static_cast<void>(closed);  // whoever wants to know calls Close
}

Status EngineImpl::OpenAll() {
  Identity identity;
  Status status = OpenIdentity(&identity);
  const bool fresh = !identity.ready;
  if (status.ok()) status = OpenShards(identity);
  if (status.ok()) status = ReconcileCollections(fresh);
  if (status.ok() && fresh) status = SyncFolder(shared_->env, path_);  // the shards' names first
  if (status.ok() && fresh) {
    identity.ready = true;
    status = WriteIdentity(shared_->env, path_, identity);
  }
  if (status.ok()) status = ReplayRings();
  if (!status.ok()) {
    const Status closed = Close();
    static_cast<void>(closed);  // the failure to report is the first
    return WithWayBack(std::move(status));
  }
  maintained_to_ms_ = clock_->NowMs();
  if (!options_.read_only) {
    status = EnsureBuckets();
    if (!status.ok()) return status;
    if (options_.background) StartBackground();
  }
  return {};
}

Status EngineImpl::OpenIdentity(Identity* identity) {
  rocksdb::Env* env = shared_->env;
  if (!options_.read_only) {
    if (options_.create_if_missing) {
      const Status made = MakeFolders(env, path_);
      if (!made.ok()) return made;
    } else if (!env->FileExists(path_ + "/SEENDB").ok() &&
               !env->FileExists(ShardPath(path_, 0)).ok()) {
      return Status::NotFound("there is no database in " + path_);
    }
    const Status locked = LockDatabase(env, path_, &lock_);
    if (!locked.ok()) return locked;
  }
  Result<std::optional<Identity>> read = ReadIdentity(env, path_);
  if (!read.ok()) return read.status();
  if (read->has_value()) {
    *identity = **read;
    if (options_.shards != 0 && options_.shards != identity->shards) {
      return Status::Incompatible("the database has " + std::to_string(identity->shards) +
                                      " shards, asked for " + std::to_string(options_.shards),
                                  "/shards");
    }
    // Whoever made it may have been killed before the names of its shards were synced.
    return options_.read_only ? Status() : SyncFolder(env, path_);
  }
  if (env->FileExists(ShardPath(path_, 0)).ok()) {
    return Status::Corruption(path_ +
                              "/SEENDB is missing, but there are shards; run: seendb repair");
  }
  if (options_.read_only || !options_.create_if_missing) {
    return Status::NotFound("there is no database in " + path_);
  }
  identity->id = env->GenerateUniqueId();
  while (!identity->id.empty() && identity->id.back() == '\n') identity->id.pop_back();
  identity->shards = options_.shards != 0 ? options_.shards : 4;
  identity->hash = kHashVersion;
  return WriteIdentity(env, path_, *identity);
}

Status EngineImpl::OpenShards(const Identity& identity) {
  shards_.resize(identity.shards);
  shard_count_ = identity.shards;
  return ForAllShards(shards_.size(), [&](size_t i) {
    ShardStoreOptions shard_options;
    shard_options.path = ShardPath(path_, static_cast<uint32_t>(i));
    shard_options.database_id = identity.id;
    shard_options.shard = static_cast<uint32_t>(i);
    shard_options.shards = identity.shards;
    shard_options.create = !identity.ready;
    shard_options.read_only = options_.read_only;
    shard_options.open_damaged = options_.open_damaged;
    shard_options.now_ms = clock_->NowMs();
    Result<std::unique_ptr<ShardStore>> store = ShardStore::Open(shard_options, shared_);
    if (!store.ok()) return store.status();
    shards_[i].store = std::move(store).value();
    return Status();
  });
}

// Shard 0 is written first when a policy changes, so what it says holds; a crash may have kept
// the others from hearing of it.
Status EngineImpl::ReconcileCollections(bool fresh) {
  auto map = std::make_shared<CollectionMap>();
  bool has_default = false;
  {
    const Gate::Scope in_first(*shards_[0].use);
    if (!shards_[0].store->readable()) return {};  // what is known of the policies stays
    const std::shared_ptr<const FamilySet> truth = shards_[0].store->families();
    has_default = truth->Find("default") != nullptr;
    for (const auto& [name, families] : truth->collections) {
      (*map)[name] = {name, names_.Intern(name), families.policy};
      for (size_t i = 1; i < shards_.size() && !options_.read_only; ++i) {
        const Gate::Scope inside(*shards_[i].use);
        const std::shared_ptr<const FamilySet> other = shards_[i].store->families();
        const CollectionFamilies* known = other->Find(name);
        if (known != nullptr && known->policy == families.policy) continue;
        const Status stored = shards_[i].store->PutCollection(
            name, families.policy, known == nullptr ? kNeverMs : INT64_MAX);
        if (!stored.ok()) return stored;
      }
    }
  }
  {
    const std::unique_lock lock(collections_mutex_);
    collections_ = std::move(map);
  }
  return fresh && !has_default ? StoreCollection("default", Policy{}) : Status();
}

Status EngineImpl::ReplayRings() {
  RingOptions ring_options;
  ring_options.slots = options_.ring_slots;
  ring_options.slot_ms = options_.slot_ms;
  ring_options.slot_bytes_max = options_.slot_bytes_max;
  ring_options.short_term_bytes = options_.short_term_bytes;
  return ForAllShards(shards_.size(), [&](size_t i) {
    shards_[i].ring = std::make_unique<seendb::Ring>(shards_[i].store.get(), ring_options, clock_,
                                                     &names_, &ring_counters_);
    const Status replayed = shards_[i].ring->Replay();
    return replayed.ok() ? shards_[i].sources->Load(shards_[i].store.get()) : replayed;
  });
}

Status EngineImpl::CheckOpen() const { return closed_ ? Status::Closed() : Status(); }

Status EngineImpl::CheckWritable() const {
  if (closed_) return Status::Closed();
  if (options_.read_only) return Status::InvalidArgument("the database is open read-only");
  return {};
}

std::shared_ptr<const CollectionMap> EngineImpl::collections() const {
  const std::shared_lock lock(collections_mutex_);
  return collections_;
}

Result<Collection> EngineImpl::FindCollection(std::string_view name) const {
  const std::shared_lock lock(collections_mutex_);
  const auto at = collections_->find(name);
  if (at != collections_->end()) return at->second;
  return Status::NotFound("no collection \"" + std::string(name) + "\"", "/collection");
}

uint32_t EngineImpl::ShardOf(IdRef user) const { return seendb::ShardOf(user, shard_count_); }

Status EngineImpl::Sync() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  return InEachShard([](Shard& shard) { return shard.store->SyncWal(); });
}

Status EngineImpl::Close() {
  if (closed_.exchange(true)) return {};
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    if (shard.store != nullptr) shard.store->GiveUp();  // no long seal is waited for
  }
  StopBackground();
  Status first;
  for (Shard& shard : shards_) {
    if (shard.store == nullptr) continue;
    Status synced = shard.store->SyncWal();
    if (first.ok() && !synced.ok()) first = std::move(synced);
  }
  shards_.clear();
  if (lock_ != nullptr) {
    const rocksdb::Status unlocked = shared_->env->UnlockFile(std::exchange(lock_, nullptr));
    if (first.ok()) first = FromRocks(unlocked, "unlock");
  }
  return first;
}

}  // namespace seendb
