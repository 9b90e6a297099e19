#include "store/copy_file.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kPiece = 1 << 20;

}  // namespace

Status CopyFile(rocksdb::Env* env, const std::string& from, const std::string& to, uint64_t size) {
  std::unique_ptr<rocksdb::SequentialFile> source;
  std::unique_ptr<rocksdb::WritableFile> target;
  rocksdb::Status status = env->NewSequentialFile(from, &source, rocksdb::EnvOptions());
  if (status.ok()) status = env->NewWritableFile(to, &target, rocksdb::EnvOptions());
  std::vector<char> room(kPiece);
  while (status.ok() && size > 0) {
    rocksdb::Slice piece;
    status =
        source->Read(static_cast<size_t>(std::min<uint64_t>(size, kPiece)), &piece, room.data());
    if (!status.ok()) break;
    if (piece.empty()) return Status::Corruption(from + " is shorter than it was");
    status = target->Append(piece);
    size -= piece.size();
  }
  if (status.ok()) status = target->Sync();
  if (status.ok()) status = target->Close();
  return FromRocks(status, "copy " + from);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status MakeFolder(rocksdb::Env* env, const std::string& path) {
  if (env->FileExists(path).ok()) {
    bool is_folder = true;
    const bool known = env->IsDirectory(path, &is_folder).ok();
    return known && !is_folder ? Status::IOError(path + " is no folder") : Status::Ok();
  }
  const rocksdb::Status made = env->CreateDirIfMissing(path);
  if (!made.ok()) return FromRocks(made, "make " + path);
  return SyncFolder(env, FolderOf(path));
}

Status SyncFolder(rocksdb::Env* env, const std::string& path) {
  std::unique_ptr<rocksdb::Directory> folder;
  rocksdb::Status status = env->NewDirectory(path, &folder);
  if (status.ok()) status = folder->Fsync();
  return FromRocks(status, "sync " + path);
}

Status RemoveFolder(rocksdb::Env* env, const std::string& path) {
  std::vector<std::string> names;
  rocksdb::Status status = env->GetChildren(path, &names);
  if (status.IsNotFound()) return {};
  for (const std::string& name : names) {
    if (!status.ok()) break;
    const std::string child = path + "/" + name;
    bool is_folder = false;
    status = env->IsDirectory(child, &is_folder);
    if (status.ok() && !is_folder) status = env->DeleteFile(child);
    if (!status.ok() || !is_folder) continue;
    const Status removed = RemoveFolder(env, child);
    if (!removed.ok()) return removed;
  }
  if (status.ok()) status = env->DeleteDir(path);
  return FromRocks(status, "remove " + path);
}

}  // namespace seendb
