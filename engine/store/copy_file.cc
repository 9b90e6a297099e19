#include "store/copy_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/return_if_failed.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kPiece = 1 << 20;

Status NotRemoved(const std::string& path, int error) {
  return Status::IOError("remove " + path + ": " + std::strerror(error));
}

// The names in an open folder; takes the descriptor.
Status ListFolder(int folder, std::vector<std::string>* names) {
  DIR* const entries = fdopendir(folder);
  if (entries == nullptr) {
    const int error = errno;
    close(folder);
    return Status::IOError(std::strerror(error));
  }
  errno = 0;
  while (const dirent* const entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
  const int error = errno;
  closedir(entries);
  return error == 0 ? Status() : Status::IOError(std::strerror(error));
}

// By descriptors, so that no link is followed, not even one that is put in place meanwhile. `name`
// is relative to the folder `parent`; `path` is for messages.
Status RemoveRealFolder(int parent, const std::string& name, const std::string& path,
                        const std::string& last) {
  const int folder = openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    const int error = errno;
    if (error == ENOENT) return {};
    if (error != ENOTDIR && error != ELOOP) return NotRemoved(path, error);
    return Status::Incompatible(path + " is in the way: it is a symbolic link, or no folder");
  }
  std::vector<std::string> names;
  Status status = ListFolder(dup(folder), &names);
  if (const auto at = std::find(names.begin(), names.end(), last); at != names.end()) {
    std::iter_swap(at, names.end() - 1);
  }
  for (size_t i = 0; status.ok() && i < names.size(); ++i) {
    const std::string child = path + "/" + names[i];
    if (unlinkat(folder, names[i].c_str(), 0) == 0 || errno == ENOENT) continue;
    const int error = errno;
    status = error == EISDIR || error == EPERM ? RemoveRealFolder(folder, names[i], child, {})
                                               : NotRemoved(child, error);
  }
  close(folder);
  if (!status.ok()) return status;
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return NotRemoved(path, errno);
}

// The same for an Env without links.
Status RemoveEnvFolder(rocksdb::Env* env, const std::string& path, const std::string& last) {
  std::vector<std::string> names;
  rocksdb::Status status = env->GetChildren(path, &names);
  if (status.IsNotFound()) return {};
  if (const auto at = std::find(names.begin(), names.end(), last); at != names.end()) {
    std::iter_swap(at, names.end() - 1);
  }
  for (const std::string& name : names) {
    if (!status.ok()) break;
    const std::string child = path + "/" + name;
    bool is_folder = false;
    status = env->IsDirectory(child, &is_folder);
    if (status.ok() && !is_folder) status = env->DeleteFile(child);
    if (!status.ok() || !is_folder) continue;
    RETURN_IF_FAILED(RemoveEnvFolder(env, child, {}));
  }
  if (status.ok()) status = env->DeleteDir(path);
  return FromRocks(status, "remove " + path);
}

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

Status RemoveFolder(rocksdb::Env* env, const std::string& path, const std::string& last) {
  return OnRealDisk(env) ? RemoveRealFolder(AT_FDCWD, path, path, last)
                         : RemoveEnvFolder(env, path, last);
}

Status MarkedFolder::RemoveLeftover(rocksdb::Env* env) const {
  const Result<PathKind> found = KindOfPath(env, path);
  if (!found.ok()) return found.status();
  if (*found == PathKind::kNothing) return {};
  const auto refused = [&](const char* why) {
    return Status::Incompatible(path + " is in the way: it is " + why + "; move it away");
  };
  if (*found == PathKind::kLink) return refused("a symbolic link");
  if (*found == PathKind::kFile) return refused("no folder");
  const Result<PathKind> marked = KindOfPath(env, path + "/" + mark);
  if (!marked.ok()) return marked.status();
  if (*marked == PathKind::kFile) return RemoveFolder(env, path, mark);
  std::vector<std::string> children;  // none: Make was killed before it wrote the mark
  if (env->GetChildren(path, &children).ok() && children.empty()) {
    return FromRocks(env->DeleteDir(path), "remove " + path);
  }
  return refused(("not a folder that was begun here (it has no file " + mark + ")").c_str());
}

Status MarkedFolder::Make(rocksdb::Env* env) const {
  rocksdb::Status status = env->CreateDir(path);
  if (!status.ok()) return FromRocks(status, "make " + path);
  status = rocksdb::WriteStringToFile(env, "", path + "/" + mark, true);
  if (status.ok()) return SyncFolder(env, path);
  env->DeleteDir(path).PermitUncheckedError();  // empty: without a mark nobody would remove it
  return FromRocks(status, "make " + path);
}

}  // namespace seendb
