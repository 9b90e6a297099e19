// A consistent copy of one shard beside the running database.

#include <algorithm>
#include <utility>

#include "store/copy_file.h"
#include "store/files.h"
#include "store/real_disk.h"
#include "store/shard_store.h"
#include "store/status.h"

namespace seendb {
namespace {

std::string PathOf(const std::string& folder, const std::string& name) {
  return name.starts_with('/') ? folder + name : folder + "/" + name;
}

// Links what never changes again, copies what may still grow.
Status TakeFile(rocksdb::Env* env, const rocksdb::LiveFileStorageInfo& file,
                const std::string& folder, CheckpointReport* report) {
  const std::string to = PathOf(folder, file.relative_filename);
  report->bytes += file.size;
  if (!file.replacement_contents.empty()) {
    ++report->files_copied;
    report->bytes_copied += file.replacement_contents.size();
    return FromRocks(rocksdb::WriteStringToFile(env, file.replacement_contents, to, true),
                     "write " + to);
  }
  const std::string from = PathOf(file.directory, file.relative_filename);
  if (!file.trim_to_size && env->LinkFile(from, to).ok()) {
    ++report->files_linked;
    return {};
  }
  ++report->files_copied;
  report->bytes_copied += file.size;
  return CopyFile(env, from, to, file.size);
}

// What FILES says in the copy, of the files that it is made of.
Inventory InventoryOf(const std::vector<rocksdb::LiveFileStorageInfo>& files,
                      const Inventory& noted) {
  Inventory inventory;
  inventory.families = noted.families;
  inventory.policies = noted.policies;
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    if (file.file_type == rocksdb::kDescriptorFile) {
      inventory.manifest = file.relative_filename;
      inventory.manifest_bytes = file.size;
    } else if (file.file_type == rocksdb::kWalFile) {
      inventory.logs.push_back(file.file_number);
      inventory.log_bytes[file.file_number] = file.size;
    } else if (const auto sum = noted.sums.find(file.relative_filename); sum != noted.sums.end()) {
      inventory.sums.insert(*sum);
    }
  }
  std::sort(inventory.logs.begin(), inventory.logs.end());
  return inventory;
}

}  // namespace

// RocksDB's own Checkpoint would do, but for one thing: no family may come or go between the
// listing of the manifest and that of the logs. A drain's merges into a family that the manifest
// does not name yet would be left out when the copy reads its log, and the journal they came from
// might be gone. So the listing, which is short, holds off changes of the families, and the
// copying, which may be long, does not.
Status ShardStore::Checkpoint(const std::string& folder, CheckpointReport* report) {
  AssertMayBlock();
  Status status = SyncWal();  // logs that are only linked must not depend on a later sync
  if (!status.ok()) return status;
  rocksdb::Env* const env = database_.shared().env;
  status = FromRocks(MakeOwnersFolder(env, folder), "make " + folder);
  if (!status.ok()) return status;
  status = FromRocks(db()->DisableFileDeletions(), "keep the files");
  if (!status.ok()) return status;
  std::vector<rocksdb::LiveFileStorageInfo> files;
  uint64_t sequence = 0;
  const Inventory noted = database_.NotedFiles();
  {
    const MutexLock change(tables_.change_mutex());
    sequence = db()->GetLatestSequenceNumber();
    rocksdb::LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = UINT64_MAX;  // logs are taken as they are: nothing is flushed
    status = FromRocks(db()->GetLiveFilesStorageInfo(options, &files), "list the files");
  }
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    if (status.ok() && database_.giving_up()) {
      status = Status::Unavailable("the shard is being closed");
    }
    if (status.ok()) status = TakeFile(env, file, folder, report);
  }
  const Status enabled = FromRocks(db()->EnableFileDeletions(), "let files go again");
  if (status.ok()) status = enabled;
  if (status.ok()) status = WriteSyncedSequence(env, folder, sequence, true);
  if (status.ok()) status = WriteInventory(env, folder, InventoryOf(files, noted));
  if (status.ok()) status = SyncFolder(env, folder);
  return status;
}

}  // namespace seendb
