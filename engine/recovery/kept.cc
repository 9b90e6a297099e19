#include "recovery/kept.h"

#include <cstdint>
#include <cstdio>

#include "base/return_if_failed.h"
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
      RETURN_IF_FAILED(MakeFolder(env_, In(folder)));
    }
  }
  if (!below.empty() && !dry_run_) {
    RETURN_IF_FAILED(MakeFolder(env_, In(folder_ + below)));
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
      RETURN_IF_FAILED(CopyFile(env_, In(file), In(kept), bytes));
    }
  }
  if (!status.ok()) return FromRocks(status, "keep " + In(file));
  RETURN_IF_FAILED(SyncFolder(env_, In(*folder)));
  return kept;
}

}  // namespace seendb
