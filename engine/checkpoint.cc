// A copy of the whole database that can be opened, made while everything goes on.

#include "engine_impl.h"
#include "store/copy_file.h"
#include "store/status.h"

namespace seendb {

Status EngineImpl::CheckTarget(const std::string& folder) const {
  const auto refused = [&](const std::string& why) {
    return Status::InvalidArgument(folder + " " + why, "/dir");
  };
  if (folder.empty() || folder == "/" || folder.ends_with(".tmp"))
    return refused("is no name for a checkpoint");
  std::string parent, own;
  const rocksdb::Status found = shared_->env->GetAbsolutePath(FolderOf(folder), &parent);
  if (!found.ok() || !shared_->env->FileExists(parent).ok()) {
    return refused("is to be made in a folder that does not exist");
  }
  if (!shared_->env->GetAbsolutePath(path_, &own).ok()) own = path_;
  if ((parent + "/").starts_with(own + "/")) return refused("lies inside the database");
  if (shared_->env->FileExists(folder).ok()) return refused("is there already");
  return {};
}

// The copy opens as a whole: its logs read to the sequence they are known to hold. The files that
// were linked are the database's own; of those that were copied every checksum is read.
Status EngineImpl::CheckCopy(const Identity& identity, const std::string& folder,
                             bool checksums) const {
  // What the check reads back into memory must not push the running shards to flush.
  auto apart = std::make_shared<SharedResources>(*shared_);
  apart->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(0);
  apart->statistics = rocksdb::CreateDBStatistics();
  apart->counters = std::make_shared<MergeCounters>();
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
  std::string folder = dir;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  const std::lock_guard one(admin_mutex_);  // no policy changes between two shards
  Status status = CheckTarget(folder);
  if (!status.ok()) return status;
  rocksdb::Env* const env = shared_->env;
  Result<std::optional<Identity>> identity = ReadIdentity(env, path_);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(path_ + "/SEENDB is missing");

  // Under another name until it is whole: what a crash leaves can't be taken for a checkpoint.
  const std::string fresh = folder + ".tmp";
  CheckpointReport report;
  report.shards = (*identity)->shards;
  status = RemoveFolder(env, fresh);
  if (status.ok()) status = FromRocks(env->CreateDir(fresh), "make " + fresh);
  for (uint32_t shard = 0; status.ok() && shard < shards_.size(); ++shard) {
    const Gate::Scope inside(*shards_[shard].use);
    status = shards_[shard].store->Checkpoint(ShardPath(fresh, shard), &report);
  }
  if (status.ok()) status = WriteIdentity(env, fresh, **identity);
  if (status.ok()) status = CheckCopy(**identity, fresh, report.files_linked == 0);
  if (status.ok()) {
    status = FromRocks(env->RenameFile(fresh, folder), "rename " + fresh);
  }
  if (status.ok()) status = SyncFolder(env, FolderOf(folder));
  if (status.ok()) return report;
  const Status removed = RemoveFolder(env, fresh);
  static_cast<void>(removed);  // the next checkpoint of this name tries again
  return status;
}

}  // namespace seendb
