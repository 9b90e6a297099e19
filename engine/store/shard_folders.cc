#include "store/shard_folders.h"

#include <algorithm>

#include "base/return_if_failed.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {

Status RenameFolder(rocksdb::Env* env, const std::string& from, const std::string& to) {
  Status status = FromRocks(env->RenameFile(from, to), "rename " + from);
  if (status.ok()) status = SyncFolder(env, FolderOf(to));
  if (status.ok() && FolderOf(from) != FolderOf(to)) status = SyncFolder(env, FolderOf(from));
  return status;
}

Result<std::vector<std::string>> PlacesWith(rocksdb::Env* env, const std::string& database,
                                            const std::string& suffix) {
  std::vector<std::string> names, places;
  const rocksdb::Status listed = env->GetChildren(database, &names);
  if (!listed.ok()) return FromRocks(listed, "list " + database);
  for (const std::string& name : names) {
    if (!name.starts_with("shard-") || !name.ends_with(suffix)) continue;
    places.push_back(name.substr(0, name.size() - suffix.size()));
  }
  std::sort(places.begin(), places.end());
  return places;
}

Status PutBackReplaced(rocksdb::Env* env, const std::string& database) {
  const Result<std::vector<std::string>> former = PlacesWith(env, database, kReplacedSuffix);
  if (!former.ok()) return former.status();
  for (const std::string& name : *former) {
    const std::string place = database + "/" + name;
    const Result<PathKind> there = KindOfPath(env, place);
    if (!there.ok()) return there.status();
    if (*there != PathKind::kNothing) continue;
    RETURN_IF_FAILED(RenameFolder(env, place + kReplacedSuffix, place));
  }
  return {};
}

Status RetireReplaced(rocksdb::Env* env, const std::string& place) {
  const Result<PathKind> former = KindOfPath(env, place + kReplacedSuffix);
  if (!former.ok()) return former.status();
  if (*former == PathKind::kNothing) return {};
  const Status removed = RemoveFolder(env, place + kRemovedSuffix);
  return removed.ok() ? RenameFolder(env, place + kReplacedSuffix, place + kRemovedSuffix)
                      : removed;
}

Status RemoveLeftovers(rocksdb::Env* env, const std::string& database) {
  Status first;
  for (const char* const suffix : {kRemovedSuffix, kMakingSuffix}) {
    const Result<std::vector<std::string>> left = PlacesWith(env, database, suffix);
    if (!left.ok()) return left.status();
    for (const std::string& name : *left) {
      Status removed = RemoveFolder(env, std::string(database).append("/") + name + suffix);
      if (first.ok()) first = std::move(removed);
    }
  }
  return first;
}

}  // namespace seendb
