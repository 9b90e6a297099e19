// A copy of the whole database that can be opened, made while everything goes on.

#include "engine_impl.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {

namespace {

// In a copy being made: whoever finds the folder knows that it is not whole, and ours.
constexpr char kUnfinished[] = "UNFINISHED";

}  // namespace

Result<std::string> EngineImpl::CheckTarget(const std::string& dir) const {
  const auto refused = [&](const std::string& why) {
    return Status::InvalidArgument(dir + " " + why, "/dir");
  };
  std::string target = dir;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  const std::string name = target.substr(target.rfind('/') + 1);  // npos + 1 is 0
  if (name.empty() || name == "." || name == ".." || name.ends_with(".tmp"))
    return refused("is no name for a checkpoint");
  rocksdb::Env* const env = shared_->env;
  const Result<std::string> parent = CanonicalPath(env, FolderOf(target));
  if (!parent.ok()) return refused("is to be made in a folder that does not exist");
  if ((*parent + "/").starts_with(path_ + "/")) return refused("lies inside the database");
  const std::string folder = *parent + (*parent == "/" ? "" : "/") + name;
  const Result<PathKind> found = KindOfPath(env, folder);
  if (!found.ok()) return found.status();
  if (*found != PathKind::kNothing) return refused("is there already");
  return folder;
}

// The copy opens as a whole: its logs read to the sequence they are known to hold. The files that
// were linked are the database's own; of those that were copied every checksum is read.
Status EngineImpl::CheckCopy(const Identity& identity, const std::string& folder,
                             bool checksums) const {
  // What the check reads back into memory must not push the running shards to flush.
  auto apart = std::make_shared<SharedResources>(*shared_);
  apart->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(0);
  apart->statistics = rocksdb::CreateDBStatistics();
  apart->counters = std::make_shared<Counters>();
  for (uint32_t shard = 0; shard < identity.shards; ++shard) {
    ShardStoreOptions options;
    options.path = ShardPath(folder, shard);
    options.database_id = identity.id;
    options.shard = shard;
    options.shards = identity.shards;
    options.read_only = true;
    Result<std::unique_ptr<ShardStore>> copy = ShardStore::Open(options, apart);
    if (!copy.ok()) return copy.status();
    if (!checksums) continue;
    const rocksdb::Status read = copy.value()->db()->VerifyChecksum();
    if (!read.ok()) return FromRocks(read, "verify " + options.path);
  }
  return {};
}

Result<CheckpointReport> EngineImpl::Checkpoint(const std::string& dir) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const MutexLock one(admin_mutex_);  // no policy changes between two shards
  const std::shared_ptr<const ShardSet> all = shards();
  const Status whole = CheckNoneAbsent(*all);
  if (!whole.ok()) return whole;
  const Result<std::string> target = CheckTarget(dir);
  if (!target.ok()) return target.status();
  const std::string& folder = *target;
  rocksdb::Env* const env = shared_->env;
  Result<std::optional<Identity>> identity = ReadIdentity(env, path_);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(path_ + "/SEENDB is missing");

  // Under another name until it is whole: what a crash leaves can't be taken for a checkpoint.
  const std::string fresh = folder + ".tmp";
  const MarkedFolder marked{fresh, kUnfinished};
  CheckpointReport report;
  report.shards = (*identity)->shards;
  Status status = marked.RemoveLeftover(env);
  if (status.code() == StatusCode::kIncompatible)
    return Status::Incompatible(std::string(status.message()), "/dir");
  if (!status.ok()) return status;
  status = marked.Make(env);
  for (uint32_t shard = 0; status.ok() && shard < all->size(); ++shard) {
    status = (*all)[shard]->Checkpoint(ShardPath(fresh, shard), &report);
  }
  if (status.ok()) status = WriteIdentity(env, fresh, **identity);
  if (status.ok()) status = CheckCopy(**identity, fresh, report.files_linked == 0);
  if (status.ok()) {
    status = FromRocks(env->RenameFile(fresh, folder), "rename " + fresh);
  }
  if (status.ok()) status = SyncFolder(env, FolderOf(folder));
  if (status.ok()) {
    // Under the target's name the mark means nothing: one that stays does no harm.
    env->DeleteFile(folder + "/" + kUnfinished).PermitUncheckedError();
    return report;
  }
  const Status removed = marked.RemoveLeftover(env);
  static_cast<void>(removed);  // the next checkpoint of this name tries again
  return status;
}

}  // namespace seendb
