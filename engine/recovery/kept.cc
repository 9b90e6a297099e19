#include "recovery/kept.h"

#include <cstdint>
#include <cstdio>

#include "store/copy_file.h"
#include "store/status.h"

namespace seendb {

Status PutRebuiltInPlace(rocksdb::Env* env, const std::string& root, const std::string& name,
                         const std::string& place) {
  const std::string to = root + "/" + place, from = root + "/" + name;
  rocksdb::Status moved = env->RenameFile(from, to);
  const std::string mark = to + "/" + kRebuilding;
  if (moved.ok() && env->FileExists(mark).ok()) moved = env->DeleteFile(mark);
  if (moved.ok()) moved = env->DeleteFile(to + "/" + kRebuilt);
  if (!moved.ok()) return FromRocks(moved, "move " + from);
  return SyncFolder(env, root);
}

Result<std::string> KeptFiles::Folder(const std::string& below) {
  if (folder_.empty()) {
    for (int number = 1; folder_.empty(); ++number) {
      char name[32];
      std::snprintf(name, sizeof(name), "damaged/%04d", number);
      if (!env_->FileExists(In(name)).ok()) folder_ = name;
    }
    if (dry_run_) return folder_ + below;
    for (const std::string& folder : {std::string("damaged"), folder_}) {
      const Status made = MakeFolder(env_, In(folder));
      if (!made.ok()) return made;
    }
  }
  if (!below.empty() && !dry_run_) {
    const Status made = MakeFolder(env_, In(folder_ + below));
    if (!made.ok()) return made;
  }
  return folder_ + below;
}

Result<std::string> KeptFiles::Keep(const std::string& file, bool move) {
  const size_t slash = file.rfind('/');
  const std::string below = slash == std::string::npos ? "" : "/" + file.substr(0, slash);
  const Result<std::string> folder = Folder(below);
  if (!folder.ok()) return folder.status();
  const std::string kept = *folder + "/" + file.substr(slash == std::string::npos ? 0 : slash + 1);
  if (dry_run_) return kept;
  rocksdb::Status status =
      move ? env_->RenameFile(In(file), In(kept)) : env_->LinkFile(In(file), In(kept));
  if (!status.ok() && !move) {
    uint64_t bytes = 0;
    status = env_->GetFileSize(In(file), &bytes);
    if (status.ok()) {
      const Status copied = CopyFile(env_, In(file), In(kept), bytes);
      if (!copied.ok()) return copied;
    }
  }
  if (!status.ok()) return FromRocks(status, "keep " + In(file));
  const Status synced = SyncFolder(env_, In(*folder));
  if (!synced.ok()) return synced;
  return kept;
}

}  // namespace seendb
