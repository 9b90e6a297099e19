// A copy of the whole database that can be opened, made while everything goes on.

#include "base/return_if_failed.h"
#include "engine_impl.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {

namespace {

// In a copy being made: whoever finds the folder knows that it is not whole, and ours.
constexpr char kUnfinished[] = "UNFINISHED";

// `of_shard`: a copy of one shard, which may lie in the database's folder for those.
Result<std::string> CheckTarget(rocksdb::Env* env, const std::string& database,
                                const std::string& dir, bool of_shard) {
  const auto refused = [&](const std::string& why) {
    return Status::InvalidArgument(dir + " " + why, "/dir");
  };
  std::string target = dir;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  const std::string name = target.substr(target.rfind('/') + 1);  // npos + 1 is 0
  if (name.empty() || name == "." || name == ".." || name.ends_with(".tmp"))
    return refused("is no name for a checkpoint");
  const Result<std::string> parent = CanonicalPath(env, FolderOf(target));
  if (!parent.ok()) return refused("is to be made in a folder that does not exist");
  const bool in_transit = of_shard && *parent == database + "/" + kTransitName;
  if ((*parent + "/").starts_with(database + "/") && !in_transit) {
    return refused("lies inside the database");
  }
  const std::string folder = *parent + (*parent == "/" ? "" : "/") + name;
  const Result<PathKind> found = KindOfPath(env, folder);
  if (!found.ok()) return found.status();
  if (*found != PathKind::kNothing) return refused("is there already");
  return folder;
}

// Under another name until it is whole: what a crash leaves can't be taken for a checkpoint. `part`
// of what is filled becomes the copy; empty: all of it.
Status MakeCopy(
    rocksdb::Env* env, const std::string& database, const std::string& dir, const std::string& part,
    const std::function<Status(const Identity& identity, const std::string& fresh)>& fill) {
  const Result<std::string> target = CheckTarget(env, database, dir, !part.empty());
  if (!target.ok()) return target.status();
  const std::string& folder = *target;
  Result<std::optional<Identity>> identity = ReadIdentity(env, database);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(database + "/SEENDB is missing");

  const std::string fresh = folder + ".tmp";
  const MarkedFolder marked{fresh, kUnfinished};
  Status status = marked.RemoveLeftover(env);
  if (status.code() == StatusCode::kIncompatible)
    return Status::Incompatible(std::string(status.message()), "/dir");
  if (!status.ok()) return status;
  status = marked.Make(env);
  if (status.ok()) status = fill(**identity, fresh);
  if (status.ok()) {
    status = FromRocks(env->RenameFile(fresh + part, folder), "rename " + fresh + part);
  }
  if (status.ok()) status = SyncFolder(env, FolderOf(folder));
  if (status.ok() && part.empty()) {
    // Under the target's name the mark means nothing: one that stays does no harm.
    env->DeleteFile(folder + "/" + kUnfinished).PermitUncheckedError();
    return {};
  }
  const Status removed = marked.RemoveLeftover(env);
  static_cast<void>(removed);  // the next checkpoint of this name tries again
  return status;
}

}  // namespace

// The copy opens as a whole: its logs read to the sequence they are known to hold. The files that
// were linked are the database's own; of those that were copied every checksum is read.
Status EngineImpl::CheckShardCopy(const Identity& identity, const std::string& path, uint32_t shard,
                                  bool checksums, CollectionClaims* claims) const {
  // What the check reads back into memory must not push the running shards to flush.
  auto apart = std::make_shared<SharedResources>(*shared_);
  apart->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(0);
  apart->statistics = rocksdb::CreateDBStatistics();
  apart->counters = std::make_shared<Counters>();
  ShardStoreOptions options = OptionsOf(identity, shard);
  options.path = path;
  options.create = options.open_damaged = false;
  options.read_only = true;
  Result<std::unique_ptr<ShardStore>> copy = ShardStore::Open(options, apart);
  if (!copy.ok()) return copy.status();
  if (claims != nullptr) *claims = ClaimsOf(*(*copy)->families());
  return checksums ? FromRocks((*copy)->db()->VerifyChecksum(), "verify " + path) : Status();
}

Result<CheckpointReport> EngineImpl::Checkpoint(const std::string& dir,
                                                const CheckpointAlso& also) {
  RETURN_IF_FAILED(CheckWritable());
  CheckpointReport report;
  const Status made =
      catalog_.WithoutChanges([&](const CollectionRecords& collections, bool changing) {
        const std::shared_ptr<const ShardSet> all = shards_.All();
        RETURN_IF_FAILED(options_.as_found ? Status() : CheckNoneAbsent(*all));
        return MakeCopy(shared_->env, path_, dir, "",
                        [&](const Identity& identity, const std::string& fresh) -> Status {
                          rocksdb::Env* const env = shared_->env;
                          Status status;
                          for (uint32_t shard = 0; status.ok() && shard < all->size(); ++shard) {
                            if ((*all)[shard] == nullptr) continue;
                            status = (*all)[shard]->Checkpoint(ShardPath(fresh, shard), &report);
                            ++report.shards;
                          }
                          if (status.ok())
                            status = WriteCollections(env, fresh, collections, changing);
                          if (status.ok()) status = WriteIdentity(env, fresh, identity);
                          for (uint32_t shard = 0; status.ok() && shard < all->size(); ++shard) {
                            if ((*all)[shard] == nullptr) continue;
                            status = CheckShardCopy(identity, ShardPath(fresh, shard), shard,
                                                    report.files_linked == 0);
                          }
                          if (status.ok() && also) status = also(fresh);
                          return status;
                        });
      });
  if (!made.ok()) return made;
  return report;
}

Result<CheckpointReport> EngineImpl::CheckpointShard(uint32_t number, const std::string& dir) {
  Status status = CheckWritable();
  if (status.ok()) status = CheckShardNumber(number, shard_count_);
  if (!status.ok()) return status;
  CheckpointReport report;
  report.shards = 1;
  status = catalog_.WithoutChanges([&](const CollectionRecords&, bool) -> Status {
    const Result<std::shared_ptr<Shard>> shard = shards_.At(number);
    if (!shard.ok()) return shard.status();
    const std::string part = ShardPath("", number);
    return MakeCopy(shared_->env, path_, dir, part,
                    [&](const Identity& identity, const std::string& fresh) -> Status {
                      RETURN_IF_FAILED((*shard)->Checkpoint(fresh + part, &report));
                      return CheckShardCopy(identity, fresh + part, number,
                                            report.files_linked == 0);
                    });
  });
  if (!status.ok()) return status;
  return report;
}

}  // namespace seendb
