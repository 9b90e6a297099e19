#include "store/real_disk.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <rocksdb/file_system.h>
#include <sys/stat.h>

#include "store/status.h"

namespace seendb {
namespace {

Status Refused(const std::string& path, int error) {
  return Status::IOError(path + ": " + std::strerror(error));
}

}  // namespace

bool OnRealDisk(rocksdb::Env* env) {
  const rocksdb::Customizable* files = env->GetFileSystem().get();
  while (files != nullptr && !files->IsInstanceOf(rocksdb::FileSystem::kDefaultName())) {
    files = files->Inner();
  }
  return files != nullptr;
}

Result<std::string> CanonicalPath(rocksdb::Env* env, const std::string& path) {
  if (!OnRealDisk(env)) {
    if (env->FileExists(path).ok()) return path;
    return Status::NotFound(path + " does not exist");
  }
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr && errno == ENOENT) return Status::NotFound(path + " does not exist");
  if (real == nullptr) return Refused(path, errno);
  std::string canonical(real);
  std::free(real);
  return canonical;
}

Result<PathKind> KindOfPath(rocksdb::Env* env, const std::string& path) {
  if (!OnRealDisk(env)) {
    bool is_folder = false;
    if (env->FileExists(path).IsNotFound()) return PathKind::kNothing;
    const rocksdb::Status asked = env->IsDirectory(path, &is_folder);
    if (!asked.ok()) return FromRocks(asked, "ask about " + path);
    return is_folder ? PathKind::kFolder : PathKind::kFile;
  }
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return PathKind::kNothing;
    return Refused(path, errno);
  }
  if (S_ISLNK(found.st_mode)) return PathKind::kLink;
  return S_ISDIR(found.st_mode) ? PathKind::kFolder : PathKind::kFile;
}

void LeaveToOwner(rocksdb::Env* env, const std::string& path) {
  struct stat found {};
  if (!OnRealDisk(env) || lstat(path.c_str(), &found) != 0 || S_ISLNK(found.st_mode)) return;
  static_cast<void>(chmod(path.c_str(), found.st_mode & S_IRWXU));
}

rocksdb::Status MakeOwnersFolder(rocksdb::Env* env, const std::string& path) {
  if (env->FileExists(path).ok()) return env->CreateDirIfMissing(path);
  const rocksdb::Status made = env->CreateDir(path);
  if (made.ok()) LeaveToOwner(env, path);
  return made;
}

}  // namespace seendb
