// Shards that come and go while the others work.

#include <chrono>
#include <utility>

#include "engine_impl.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {
namespace {

// How long calls that are in a shard are waited for when it is detached.
constexpr std::chrono::seconds kLeaveWait{30};

// Behind the name of a shard's folder: kept for whoever attaches it, or about to be deleted.
constexpr char kKeptSuffix[] = ".detached";
constexpr char kRemovedSuffix[] = ".removed";
// Of one that is being made.
constexpr char kMakingSuffix[] = ".making";

Status RenameFolder(rocksdb::Env* env, const std::string& from, const std::string& to) {
  Status status = FromRocks(env->RenameFile(from, to), "rename " + from);
  if (status.ok()) status = SyncFolder(env, FolderOf(to));
  if (status.ok() && FolderOf(from) != FolderOf(to)) status = SyncFolder(env, FolderOf(from));
  return status;
}

Status CheckPlaceFree(rocksdb::Env* env, const std::string& place) {
  const Result<PathKind> there = KindOfPath(env, place);
  if (!there.ok()) return there.status();
  if (*there == PathKind::kNothing) return {};
  return Status::Incompatible(place + " is there already", "/shard");
}

// The canonical path of a folder that is to be attached.
Result<std::string> CheckFolder(rocksdb::Env* env, const std::string& database, uint32_t number,
                                const std::string& folder) {
  const auto refused = [&](const std::string& why) {
    return Status::InvalidArgument(folder + " " + why, "/folder");
  };
  const Result<PathKind> found = KindOfPath(env, folder);
  if (!found.ok()) return found.status();
  if (*found != PathKind::kFolder) return refused("is no folder");
  Result<std::string> canonical = CanonicalPath(env, folder);
  if (!canonical.ok()) return canonical;
  const std::string place = ShardPath(database, number);
  if (*canonical == place) return canonical;
  if ((*canonical + "/").starts_with(database + "/") && *canonical != place + kKeptSuffix &&
      FolderOf(*canonical) != database + "/" + kTransitName) {
    return refused("lies inside the database");
  }
  Status free = CheckPlaceFree(env, place);
  return free.ok() ? canonical : free;
}

// No later call finds the shard; what takes long in it ends soon.
Status Unpublish(Catalog& catalog, Shards& shards, uint32_t number) {
  return catalog.WithoutChanges([&](const CollectionRecords&, bool) -> Status {
    auto without = std::make_shared<ShardSet>(*shards.All());
    const std::shared_ptr<Shard> shard = std::exchange((*without)[number], nullptr);
    shards.Publish(std::move(without));
    shard->GiveUp();  // of long seals and compactions
    return {};
  });
}

}  // namespace

// What a crash left of shards that were to be deleted, or that were being made.
Status RemoveDetached(rocksdb::Env* env, const std::string& database) {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(database, &names);
  if (!listed.ok()) return FromRocks(listed, "list " + database);
  for (const std::string& name : names) {
    const bool left = name.ends_with(kRemovedSuffix) || name.ends_with(kMakingSuffix);
    if (!name.starts_with("shard-") || !left) continue;
    const Status removed = RemoveFolder(env, database + "/" + name);
    if (!removed.ok()) return removed;
  }
  return {};
}

std::vector<uint32_t> EngineImpl::AttachedShards() const {
  std::vector<uint32_t> attached;
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (uint32_t number = 0; number < all->size(); ++number) {
    if ((*all)[number] != nullptr) attached.push_back(number);
  }
  return attached;
}

// ---- Attaching ----

// It gets its name once it is whole.
Result<std::string> EngineImpl::MakeEmptyShard(const Identity& identity, uint32_t number) const {
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  Status status = CheckPlaceFree(env, place);
  const std::string folder = place + kMakingSuffix;
  if (status.ok() && env->FileExists(folder).ok()) status = RemoveFolder(env, folder);
  if (!status.ok()) return status;
  ShardStoreOptions options = OptionsOf(identity, number);
  options.path = folder;
  options.create = true;
  const Result<std::unique_ptr<ShardStore>> made = ShardStore::Open(options, shared_);
  if (made.ok()) status = (*made)->SyncWal();
  if (!made.ok()) return made.status();
  return status.ok() ? Result<std::string>(folder) : status;
}

Status EngineImpl::AttachShard(uint32_t number, const std::string& folder) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  if (left_->IsLent(number)) {
    return Status::Incompatible("shard " + std::to_string(number) + " is attached", "/shard");
  }
  rocksdb::Env* const env = shared_->env;
  Result<std::optional<Identity>> identity = ReadIdentity(env, path_);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(path_ + "/SEENDB is missing");
  const Result<std::string> from =
      folder.empty() ? MakeEmptyShard(**identity, number) : CheckFolder(env, path_, number, folder);
  if (!from.ok()) return from.status();
  status = CheckShardCopy(**identity, *from, number, false);
  if (!status.ok()) return Status(status.code(), std::string(status.message()), "/folder");

  const std::string place = ShardPath(path_, number);
  if (*from != place) status = RenameFolder(env, *from, place);
  if (status.ok()) {
    const Result<std::shared_ptr<Shard>> opened = OpenShard(**identity, number);
    status = opened.ok() ? catalog_.Admit(number, *opened) : opened.status();
    if (status.ok()) status = BringIn(number, *opened);
  }
  if (status.ok()) return {};
  // As it was: closed, and under its former name.
  left_->TakeBack(number, kLeaveWait).reset();
  if (*from != place && env->FileExists(place).ok()) {
    const Status renamed = RenameFolder(env, place, *from);
    static_cast<void>(renamed);  // the failure to report is the first
  }
  return status;
}

// ---- Detaching ----

Status EngineImpl::DetachShard(uint32_t number, Detached folder) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  if (!left_->IsLent(number)) return AbsentShard(number);
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  const bool kept = folder == Detached::kKept;
  const std::string to = place + (kept ? kKeptSuffix : kRemovedSuffix);
  const Result<PathKind> there = KindOfPath(env, to);
  if (!there.ok()) return there.status();
  if (*there != PathKind::kNothing) return Status::Incompatible(to + " is there already");
  if (const auto shard = shards_.At(number); shard.ok()) {
    // What memory has of a shard whose disk failed would be lost with it.
    status = kept ? (*shard)->CheckWritable() : Status();
    if (!status.ok()) return status;
  }
  if (shards_.At(number).ok()) status = Unpublish(catalog_, shards_, number);
  if (!status.ok()) return status;
  std::unique_ptr<Shard> left = left_->TakeBack(number, kLeaveWait);
  if (left == nullptr) {
    return Status::Busy("calls are still in shard " + std::to_string(number) +
                        ", which takes no more; detach it again");
  }
  status = left->Close(guard_.TimeToNote(true));
  left.reset();
  if (!status.ok() && kept) return status;
  status = RenameFolder(env, place, to);
  return status.ok() && !kept ? RemoveFolder(env, to) : status;
}

}  // namespace seendb
