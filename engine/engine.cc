// Opening and closing: the lock, the identity, the shards, the journals.

#include "seendb/engine.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "check_options.h"
#include "engine_impl.h"
#include "filter/hash.h"
#include "store/copy_file.h"
#include "store/ordered_files.h"
#include "store/real_disk.h"
#include "store/shard_folders.h"
#include "store/status.h"

namespace seendb {
namespace {

Status CheckItemHashKey(const Options& options, const ItemHashId& of_database) {
  if (!options.item_hash_key) return {};
  if (of_database.version == kOldestHashVersion) {
    return Status::Incompatible("the database is of hash version 1, which has no key",
                                "/item_hash_key");
  }
  if (HashKeyOf(*options.item_hash_key) == of_database.key) return {};
  return Status::Incompatible("the database was made with another key", "/item_hash_key");
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
    RETURN_IF_FAILED(MakeFolder(env, path.substr(0, at)));
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

// What RocksDB reserves for an empty shard: 4.4 MB for its log, 4 MB for its MANIFEST.
constexpr uint64_t kEmptyShardBytes = 9ULL << 20;

// Whether the disk takes a new database. One that is full half way would leave it half made.
Status CheckRoomFor(rocksdb::Env* env, const std::string& path, uint32_t shards) {
  const uint64_t needed = shards * kEmptyShardBytes;
  uint64_t free = 0;
  if (!env->GetFreeSpace(path, &free).ok() || free >= needed) return {};
  return Status::IOError("a new database of " + std::to_string(shards) + " shards needs " +
                         std::to_string(needed >> 20) + " MB, " + std::to_string(free >> 20) +
                         " MB are free in " + path);
}

// Whether the folder holds any shard.
bool HasShards(rocksdb::Env* env, const std::string& path) {
  std::vector<std::string> names;
  return env->GetChildren(path, &names).ok() &&
         std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with("shard-"); });
}

// An opening waits for its disk about as long as it computes.
constexpr size_t kLeastOpeningThreads = 4;

// Runs `work` for the shards, some at once: as many as there are processors, so that the first are
// open while the last still wait. After a failure none begins. The first failure by shard number.
Status ForShards(std::span<const uint32_t> shards, const std::function<Status(uint32_t)>& work) {
  const size_t threads =
      std::max<size_t>(kLeastOpeningThreads, std::thread::hardware_concurrency());
  std::vector<Status> ended(shards.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto serve = [&] {
    for (size_t i = next++; !failed && i < shards.size(); i = next++) {
      ended[i] = work(shards[i]);
      if (!ended[i].ok()) failed = true;
    }
  };
  std::vector<std::future<void>> running;
  for (size_t i = 0; i < std::min(threads, shards.size()); ++i) {
    running.push_back(std::async(std::launch::async, serve));
  }
  for (std::future<void>& one : running) one.get();
  const auto first =
      std::find_if(ended.begin(), ended.end(), [](const Status& status) { return !status.ok(); });
  return first == ended.end() ? Status() : std::move(*first);
}

// Options::owned against the database; and whether it names the shard.
Status CheckOwned(const Options& options, const Identity& identity) {
  if (!options.owned) return {};
  const std::vector<uint32_t>& owned = *options.owned;
  if (owned.empty()) return Status::InvalidArgument("must name a shard", "/owned");
  for (size_t i = 0; i < owned.size(); ++i) {
    const std::string field = "/owned/" + std::to_string(i);
    if (owned[i] >= identity.shards) {
      return Status::InvalidArgument(
          "the database has " + std::to_string(identity.shards) + " shards", field);
    }
    if (std::count(owned.data(), owned.data() + i, owned[i]) != 0) {
      return Status::InvalidArgument("a shard is named twice", field);
    }
  }
  if (identity.ready || owned.size() == identity.shards) return {};
  return Status::InvalidArgument("a new database is made with all of its shards", "/owned");
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Open(const std::string& path, const Options& options) {
  return Open(path, options, Seams{});
}

Result<std::unique_ptr<Engine>> Engine::Open(const std::string& path, const Options& options,
                                             const Seams& seams) {
  RETURN_IF_FAILED(CheckOptions(options));
  if (path.empty()) return Status::InvalidArgument("the path is empty", "/path");
  auto engine = std::make_unique<EngineImpl>(path, options, seams);
  RETURN_IF_FAILED(engine->OpenAll());
  return std::unique_ptr<Engine>(std::move(engine));
}

EngineImpl::EngineImpl(std::string path, const Options& options, const Seams& seams)
    : WithUserSets({&catalog_, &shards_, &hash_, &closed_}),
      path_(std::move(path)),
      options_(options),
      seams_(seams),
      guard_(seams.clock, seams.machine, options.clock_jump_ms),
      env_(NewOrderedEnv(seams.env != nullptr ? seams.env : rocksdb::Env::Default(), logs_)),
      shared_(std::make_shared<SharedResources>()),
      catalog_({&options_, clock_, env_.get(), &shards_, &problems_, &names_}),
      recorder_({&options_, clock_, counters_.get(), &shards_, &catalog_, &hash_}) {
  user_sets_ = {&shards_, &catalog_, clock_, [this] { return CheckOpen(); },
                [this] { return CheckWritable(); }};
  shared_->env = env_.get();
  shared_->logs = logs_;
  shared_->block_cache = rocksdb::NewLRUCache(options.block_cache_bytes, -1, false, 0.2);
  shared_->write_buffers =
      std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_bytes);
  shared_->write_buffer_bytes = options.write_buffer_bytes;
  shared_->statistics = rocksdb::CreateDBStatistics();
  shared_->statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  shared_->counters = counters_;
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
  opening_ = std::make_unique<Opening>();
  Identity& identity = opening_->identity;
  Status status = OpenIdentity(&identity);
  if (status.ok()) status = BeginOpening();
  if (status.ok()) status = catalog_.Load(path_);
  const bool one_by_one = options_.open_later && identity.ready && !options_.read_only;
  if (status.ok() && (!one_by_one || !catalog_.tells_all())) status = OpenTogether();
  if (status.ok()) {
    shards_.BeginOpening(shard_count_, opening_->shards);
    if (options_.background && !options_.read_only) StartBackground();
    if (!options_.open_later) status = FinishOpening();
  }
  if (status.ok()) return {};
  const Status closed = Close();
  static_cast<void>(closed);  // the failure to report is the first
  return WithWayBack(std::move(status));
}

Status EngineImpl::FinishOpening() {
  const std::unique_ptr<Opening> opening = std::move(opening_);
  Status status = ForShards(opening->shards, [&](uint32_t number) {
    std::shared_ptr<Shard> shard = std::move(opening->opened[number]);
    if (shard != nullptr) return BringIn(number, shard);
    Result<std::shared_ptr<Shard>> opened = OpenShard(opening->identity, number);
    if (!opened.ok()) return opened.status();
    if ((*opened)->noted_ms()) guard_.Begin((*opened)->noted_ms(), options_.confirm_clock);
    const Status admitted = catalog_.Admit(number, *opened);
    return admitted.ok() ? BringIn(number, *opened) : admitted;
  });
  if (status.ok()) guard_.Begin({}, options_.confirm_clock);
  shards_.EndOpening();
  if (!status.ok()) return WithWayBack(std::move(status));
  status = catalog_.Finish();
  if (!status.ok() || options_.read_only) return status;
  // No shard's folder is deleted before all that are needed have been opened.
  const MutexLock one(attach_mutex_);
  DeleteLeftovers();
  return {};
}

Status EngineImpl::BringIn(uint32_t number, const std::shared_ptr<Shard>& shard) {
  Status ready = shard->Replay();
  std::shared_ptr<const CollectionMap> all;
  if (ready.ok()) ready = catalog_.FinishIn(number, shard, &all);
  if (ready.ok()) ready = shard->upkeep().Begin(*all);
  return ready.ok() ? catalog_.Join(number, shard) : ready;
}

Status EngineImpl::OpenIdentity(Identity* identity) {
  rocksdb::Env* env = shared_->env;
  if (!options_.read_only) {
    if (options_.create_if_missing) {
      RETURN_IF_FAILED(MakeFolders(env, path_));
    } else if (!env->FileExists(path_ + "/SEENDB").ok() && !HasShards(env, path_)) {
      return Status::NotFound("there is no database in " + path_);
    }
  }
  // One spelling for all that follows, and one that a change of the current folder leaves alone.
  Result<std::string> canonical = CanonicalPath(env, path_);
  if (canonical.ok()) {
    path_ = std::move(canonical).value();
  } else if (canonical.status().code() != StatusCode::kNotFound) {
    return canonical.status();
  }
  if (!options_.read_only) {
    Result<std::unique_ptr<DatabaseLock>> locked = DatabaseLock::Take(env, path_);
    if (!locked.ok()) return locked.status();
    lock_ = std::move(locked).value();
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
    if (options_.database_id && *options_.database_id != identity->id) {
      return Status::Incompatible("the database is another one: its id is " + identity->id,
                                  "/database_id");
    }
    RETURN_IF_FAILED(CheckItemHashKey(options_, identity->hash));
    RETURN_IF_FAILED(CheckOwned(options_, *identity));
    if (options_.read_only) return {};
    if (identity->older()) {
      *identity = identity->Renewed();
      RETURN_IF_FAILED(WriteIdentity(env, path_, *identity));
    }
    // Whoever made it may have been killed before the names of its shards were synced.
    return SyncFolder(env, path_);
  }
  if (HasShards(env, path_)) {
    return Status::Corruption(path_ +
                              "/SEENDB is missing, but there are shards; run: seendb repair");
  }
  if (options_.read_only || !options_.create_if_missing) {
    return Status::NotFound("there is no database in " + path_);
  }
  const uint32_t shards = options_.shards != 0 ? options_.shards : 4;
  identity->shards = shards;
  RETURN_IF_FAILED(CheckOwned(options_, *identity));
  RETURN_IF_FAILED(CheckRoomFor(env, path_, options_.as_found ? 0 : shards));
  identity->id = options_.database_id ? *options_.database_id : env->GenerateUniqueId();
  while (!identity->id.empty() && identity->id.back() == '\n') identity->id.pop_back();
  identity->hash.version = options_.item_hash;
  if (options_.item_hash > kOldestHashVersion) {
    identity->hash.key =
        options_.item_hash_key ? HashKeyOf(*options_.item_hash_key) : RandomHashKey();
  }
  return WriteIdentity(env, path_, *identity);
}

ShardStoreOptions EngineImpl::OptionsOf(const Identity& identity, uint32_t shard) const {
  ShardStoreOptions options;
  options.path = ShardPath(path_, shard);
  options.database_id = identity.id;
  options.hash = identity.hash;
  options.shard = shard;
  options.shards = identity.shards;
  options.create = !identity.ready;
  options.read_only = options_.read_only;
  options.open_damaged = options_.open_damaged;
  options.now_ms = clock_->NowMs();
  return options;
}

ShardContext EngineImpl::ContextOf(const Identity& identity) {
  return {&options_,
          clock_,
          counters_.get(),
          &names_,
          &*hash_,
          shared_,
          options_.user_cache_bytes / identity.shards};
}

Result<bool> EngineImpl::IsToOpen(uint32_t shard) const {
  if (options_.as_found) {
    const Result<PathKind> found = KindOfPath(shared_->env, ShardPath(path_, shard));
    return found.ok() ? Result<bool>(*found != PathKind::kNothing) : found.status();
  }
  const auto& owned = options_.owned;
  return !owned || std::count(owned->begin(), owned->end(), shard) != 0;
}

// Finds which shards are to be opened.
Status EngineImpl::BeginOpening() {
  const Identity& identity = opening_->identity;
  hash_.emplace(identity.hash);
  shard_count_ = identity.shards;
  opening_->opened.resize(shard_count_);
  RETURN_IF_FAILED(options_.read_only ? Status() : PutBackReplaced(shared_->env, path_));
  for (uint32_t number = 0; number < shard_count_; ++number) {
    const Result<bool> is_here = IsToOpen(number);
    if (!is_here.ok()) return is_here.status();
    if (*is_here) opening_->shards.push_back(number);
  }
  guard_.BeginInParts();
  if (options_.confirm_clock) guard_.Begin({}, true);
  return {};
}

Result<std::shared_ptr<Shard>> EngineImpl::OpenShard(const Identity& identity, uint32_t number) {
  SEENDB_PAUSE_POINT("open: before the database");
  Result<std::unique_ptr<Shard>> shard =
      Shard::Open(OptionsOf(identity, number), ContextOf(identity));
  if (!shard.ok()) return shard.status();
  return LeftShards::Lend(left_, number, std::move(shard).value());
}

// Opens all before any is replayed: a database that is new, or whose shards have to tell together
// which collections there are.
Status EngineImpl::OpenTogether() {
  Identity& identity = opening_->identity;
  Status status = ForShards(opening_->shards, [this](uint32_t number) {
    Result<std::shared_ptr<Shard>> shard = OpenShard(opening_->identity, number);
    if (!shard.ok()) return shard.status();
    opening_->opened[number] = std::move(shard).value();
    return Status();
  });
  shards_.Publish(std::make_shared<ShardSet>(opening_->opened));
  // The clock is believed, or doubted, by what the shards noted.
  std::optional<int64_t> noted_ms;
  for (const std::shared_ptr<Shard>& shard : shards_.Attached()) {
    if (shard->noted_ms()) noted_ms = std::max(noted_ms.value_or(INT64_MIN), *shard->noted_ms());
  }
  if (!status.ok()) return status;
  guard_.Begin(noted_ms, options_.confirm_clock);
  const bool fresh = !identity.ready;
  status = catalog_.Begin(fresh);
  if (!status.ok() || !fresh) return status;
  status = SyncFolder(shared_->env, path_);  // the shards' names first
  identity.ready = true;
  return status.ok() ? WriteIdentity(shared_->env, path_, identity) : status;
}

Status EngineImpl::CheckOpen() const { return closed_ ? Status::Closed() : Status(); }

Status EngineImpl::CheckWritable() const {
  if (closed_) return Status::Closed();
  if (options_.read_only) return Status::InvalidArgument("the database is open read-only");
  return {};
}

Status EngineImpl::CheckChangeable() const {
  const Status writable = CheckWritable();
  return writable.ok() ? shards_.CheckOpened() : writable;
}

uint32_t EngineImpl::ShardOf(IdRef user) const { return seendb::ShardOf(user, shard_count_); }

Result<RecordResult> EngineImpl::RecordPlays(std::span<const Play> plays,
                                             const RecordOptions& options) {
  RETURN_IF_FAILED(CheckWritable());
  return recorder_.RecordPlays(plays, options);
}

Result<RecordResult> EngineImpl::RecordImpressions(std::span<const Impression> impressions,
                                                   const RecordOptions& options) {
  RETURN_IF_FAILED(CheckWritable());
  return recorder_.RecordImpressions(impressions, options);
}

Result<RecordResult> EngineImpl::RecordExposures(std::span<const Exposure> exposures,
                                                 const RecordOptions& options) {
  RETURN_IF_FAILED(CheckWritable());
  return recorder_.RecordExposures(exposures, options);
}

Result<IngestResult> EngineImpl::Ingest(const IngestBatch& batch) {
  RETURN_IF_FAILED(CheckWritable());
  return recorder_.Ingest(batch);
}

std::shared_ptr<Shard> EngineImpl::Leaving(uint32_t number) const {
  const bool opened = shards_.CheckOpened().ok();
  return opened && !shards_.At(number).ok() ? LeftShards::Reach(left_, number) : nullptr;
}

Status EngineImpl::Sync() {
  RETURN_IF_FAILED(CheckWritable());
  Status noted = NoteClockIfDue();
  const std::shared_ptr<const ShardSet> all = shards_.All();
  std::vector<Shard*> last;  // those that are being opened anew: the others don't wait for them
  Status first;
  for (uint32_t number = 0; number < all->size(); ++number) {
    const std::shared_ptr<Shard> leaving = (*all)[number] == nullptr ? Leaving(number) : nullptr;
    Shard* const shard = leaving == nullptr ? (*all)[number].get() : leaving.get();
    if (shard == nullptr) continue;
    bool passed_over = false;
    Status synced = shard->upkeep().Sync(&passed_over);
    if (passed_over && leaving == nullptr) last.push_back(shard);
    if (first.ok()) first = std::move(synced);
  }
  for (Shard* const shard : last) {
    Status synced = shard->upkeep().Sync(nullptr);
    if (first.ok()) first = std::move(synced);
  }
  return first.ok() ? noted : first;
}

Status EngineImpl::NoteClockIfDue() {
  const std::optional<int64_t> now_ms = guard_.TimeToNote(false);
  return now_ms ? NoteClock(*now_ms) : Status();
}

Status EngineImpl::NoteClock(int64_t now_ms) {
  return shards_.InEach([&](Shard& shard) { return shard.upkeep().NoteClock(now_ms); });
}

Result<int64_t> EngineImpl::ConfirmClock() {
  Status status = CheckWritable();
  if (status.ok()) status = CheckCalendar(clock_->NowMs());
  if (!status.ok()) return status;
  const int64_t now_ms = guard_.Confirm();
  const std::optional<int64_t> to_note = guard_.TimeToNote(true);
  if (to_note) status = NoteClock(*to_note);
  if (status.ok()) status = Sync();
  if (!status.ok()) return status;
  return now_ms;
}

Status EngineImpl::Close() {
  if (closed_.exchange(true)) return {};
  for (const std::shared_ptr<Shard>& shard : shards_.Attached()) shard->GiveUp();  // of long seals
  scheduler_.reset();
  const std::optional<int64_t> now_ms = guard_.TimeToNote(true);
  Status first = shards_.InEach([&](Shard& shard) { return shard.Close(now_ms); });
  for (uint32_t number = 0; number < shards_.count(); ++number) {
    const std::shared_ptr<Shard> leaving = Leaving(number);
    Status closed = leaving == nullptr ? Status() : leaving->Close(now_ms);
    if (first.ok()) first = std::move(closed);
  }
  shards_.Publish(std::make_shared<ShardSet>(shard_count_));
  opening_.reset();
  left_->Close();
  if (lock_ != nullptr) {
    const Status unlocked = lock_->Release();
    if (first.ok()) first = unlocked;
  }
  return first;
}

}  // namespace seendb
