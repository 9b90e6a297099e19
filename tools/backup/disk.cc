#include "backup/disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <rocksdb/env.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/copy_file.h"

namespace seendb::backup {
namespace {

namespace fs = std::filesystem;

Status DiskFailed(const char* what, const std::string& path, int error = errno) {
  const std::string message = std::string(what) + " " + path + ": " + std::strerror(error);
  return error == ENOENT ? Status::NotFound(message) : Status::IOError(message);
}

}  // namespace

Result<File> File::ToRead(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return DiskFailed("open", path);
  return File(file, path);
}

Result<File> File::ToAppend(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return DiskFailed("open", path);
  return File(file, path);
}

File::File(File&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

File::~File() {
  if (file_ >= 0) close(file_);
}

Result<uint64_t> File::Size() const {
  struct stat found {};
  if (fstat(file_, &found) != 0) return DiskFailed("look at", path_);
  return static_cast<uint64_t>(found.st_size);
}

Status File::Read(uint64_t offset, uint64_t bytes, std::string* to) const {
  to->resize(bytes);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(file_, to->data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return DiskFailed("read", path_);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  to->resize(done);
  return {};
}

Status File::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return DiskFailed("write", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status File::Empty() { return ftruncate(file_, 0) == 0 ? Status() : DiskFailed("empty", path_); }

Status File::Sync() { return fsync(file_) == 0 ? Status() : DiskFailed("sync", path_); }

Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator one(folder, failed), end; !failed && one != end;
       one.increment(failed)) {
    names.push_back(one->path().filename().string());
  }
  if (failed) return DiskFailed("list", folder, failed.value());
  std::sort(names.begin(), names.end());
  return names;
}

Status MakeOwnFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    std::string plain = path;
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return SyncFolder(rocksdb::Env::Default(), FolderOf(plain));
  }
  if (errno != EEXIST) return DiskFailed("make", path);
  std::error_code failed;
  if (fs::is_directory(path, failed)) return {};
  return Status::IOError(path + " is no folder");
}

Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return DiskFailed("remove", path);
}

}  // namespace seendb::backup
