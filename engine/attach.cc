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
// Of one that another is put in the place of, until that is done.
constexpr char kReplacedSuffix[] = ".replaced";
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

// The canonical path of a folder that is to be attached, in a place that is free, or of another one
// that is to be replaced.
Result<std::string> CheckFolder(rocksdb::Env* env, const std::string& database, uint32_t number,
                                const std::string& folder, bool replaces) {
  const auto refused = [&](const std::string& why) {
    return Status::InvalidArgument(folder + " " + why, "/folder");
  };
  const Result<PathKind> found = KindOfPath(env, folder);
  if (!found.ok()) return found.status();
  if (*found != PathKind::kFolder) return refused("is no folder");
  Result<std::string> canonical = CanonicalPath(env, folder);
  if (!canonical.ok()) return canonical;
  const std::string place = ShardPath(database, number);
  if (*canonical == place) {
    return replaces ? refused("is the shard that is to be replaced") : canonical;
  }
  if ((*canonical + "/").starts_with(database + "/") && *canonical != place + kKeptSuffix &&
      FolderOf(*canonical) != database + "/" + kTransitName) {
    return refused("lies inside the database");
  }
  Status free = replaces ? Status() : CheckPlaceFree(env, place);
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

// What a crash left of shards that were to be deleted or replaced, or that were being made. One
// that was to be replaced is deleted where the other one has its place, and has it itself where
// not.
Status RemoveDetached(rocksdb::Env* env, const std::string& database) {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(database, &names);
  if (!listed.ok()) return FromRocks(listed, "list " + database);
  for (const std::string& name : names) {
    if (!name.starts_with("shard-")) continue;
    const bool replaced = name.ends_with(kReplacedSuffix);
    if (!replaced && !name.ends_with(kRemovedSuffix) && !name.ends_with(kMakingSuffix)) continue;
    if (replaced) {
      const std::string folder = database + "/" + name;
      const std::string place = folder.substr(0, folder.size() - sizeof(kReplacedSuffix) + 1);
      const Result<PathKind> there = KindOfPath(env, place);
      if (!there.ok()) return there.status();
      if (*there == PathKind::kNothing) {
        if (Status back = RenameFolder(env, folder, place); !back.ok()) return back;
        continue;
      }
    }
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

Result<Identity> EngineImpl::IdentityToAttach() const {
  Result<std::optional<Identity>> identity = ReadIdentity(shared_->env, path_);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(path_ + "/SEENDB is missing");
  return **identity;
}

// Opens the shard that is to lie at `from` in its place. On failure it is as it was: closed, and
// under its former name.
Status EngineImpl::OpenInPlace(const Identity& identity, uint32_t number, const std::string& from) {
  rocksdb::Env* const env = shared_->env;
  const std::string place = ShardPath(path_, number);
  Status status = from == place ? Status() : RenameFolder(env, from, place);
  if (status.ok()) {
    const Result<std::shared_ptr<Shard>> opened = OpenShard(identity, number);
    status = opened.ok() ? catalog_.Admit(number, *opened) : opened.status();
    if (status.ok()) status = BringIn(number, *opened);
  }
  if (status.ok()) return {};
  left_->TakeBack(number, kLeaveWait).reset();
  if (from != place && env->FileExists(place).ok()) {
    const Status renamed = RenameFolder(env, place, from);
    static_cast<void>(renamed);  // the failure to report is the first
  }
  return status;
}

Status EngineImpl::AttachShard(uint32_t number, const std::string& folder) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  if (left_->IsLent(number)) {
    return Status::Incompatible("shard " + std::to_string(number) + " is attached", "/shard");
  }
  const Result<Identity> identity = IdentityToAttach();
  if (!identity.ok()) return identity.status();
  const Result<std::string> from =
      folder.empty() ? MakeEmptyShard(*identity, number)
                     : CheckFolder(shared_->env, path_, number, folder, /*replaces=*/false);
  if (!from.ok()) return from.status();
  status = CheckShardCopy(*identity, *from, number, false);
  if (!status.ok()) return Status(status.code(), std::string(status.message()), "/folder");
  return OpenInPlace(*identity, number, *from);
}

// Whatever ends it in between, the place has one of the two: an opening puts back what was set
// aside where it has none.
Status EngineImpl::ReplaceShard(uint32_t number, const std::string& folder) {
  Status status = CheckChangeable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  const MutexLock one(attach_mutex_);
  if (!left_->IsLent(number)) return AbsentShard(number);
  rocksdb::Env* const env = shared_->env;
  const Result<Identity> identity = IdentityToAttach();
  if (!identity.ok()) return identity.status();
  const Result<std::string> from = CheckFolder(env, path_, number, folder, /*replaces=*/true);
  if (!from.ok()) return from.status();
  status = CheckShardCopy(*identity, *from, number, false);
  if (!status.ok()) return Status(status.code(), std::string(status.message()), "/folder");
  const std::string place = ShardPath(path_, number), aside = place + kReplacedSuffix;
  if (env->FileExists(aside).ok()) status = RemoveFolder(env, aside);
  Result<std::unique_ptr<Shard>> left = status.ok() ? TakeOut(number) : status;
  if (!left.ok()) return left.status();
  const Status closed = (*left)->Close(guard_.TimeToNote(true));
  static_cast<void>(closed);  // what it could not keep, the other one has
  left->reset();
  status = RenameFolder(env, place, aside);
  if (!status.ok()) {
    const Status back = OpenInPlace(*identity, number, place);
    static_cast<void>(back);  // the failure to report is the first
    return status;
  }
  status = OpenInPlace(*identity, number, *from);
  if (status.ok()) {
    const Status removed = RemoveFolder(env, aside);
    static_cast<void>(removed);  // the next opening removes it
    return {};
  }
  const Status back = OpenInPlace(*identity, number, aside);
  static_cast<void>(back);
  return status;
}

// ---- Detaching ----

// The shard, which no call is in any more.
Result<std::unique_ptr<Shard>> EngineImpl::TakeOut(uint32_t number) {
  Status status;
  if (shards_.At(number).ok()) status = Unpublish(catalog_, shards_, number);
  if (!status.ok()) return status;
  std::unique_ptr<Shard> left = left_->TakeBack(number, kLeaveWait);
  if (left != nullptr) return left;
  return Status::Busy("calls are still in shard " + std::to_string(number) +
                      ", which takes no more; detach it again");
}

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
  Result<std::unique_ptr<Shard>> left = TakeOut(number);
  if (!left.ok()) return left.status();
  status = (*left)->Close(guard_.TimeToNote(true));
  left->reset();
  if (!status.ok() && kept) return status;
  status = RenameFolder(env, place, to);
  return status.ok() && !kept ? RemoveFolder(env, to) : status;
}

}  // namespace seendb
