#include "base/disk_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace seendb {

Status DiskFailure(const char* what, const std::string& path, int error) {
  const std::string message =
      std::string(what) + " " + path + ": " + std::generic_category().message(error);
  return error == ENOENT ? Status::NotFound(message) : Status::IOError(message);
}

Result<DiskFile> DiskFile::OpenToRead(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return DiskFailure("open", path, errno);
  return DiskFile(file, path);
}

Result<DiskFile> DiskFile::OpenToAppend(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return DiskFailure("open", path, errno);
  return DiskFile(file, path);
}

DiskFile::DiskFile(DiskFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

DiskFile::~DiskFile() {
  if (file_ >= 0) close(file_);
}

Result<uint64_t> DiskFile::Size() const {
  struct stat found {};
  if (fstat(file_, &found) != 0) return DiskFailure("look at", path_, errno);
  return static_cast<uint64_t>(found.st_size);
}

Status DiskFile::Read(uint64_t offset, uint64_t bytes, std::string* to) const {
  to->resize(bytes);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(file_, to->data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return DiskFailure("read", path_, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  to->resize(done);
  return {};
}

Status DiskFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return DiskFailure("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status DiskFile::Empty() {
  return ftruncate(file_, 0) == 0 ? Status() : DiskFailure("empty", path_, errno);
}

Status DiskFile::Sync() { return fsync(file_) == 0 ? Status() : DiskFailure("sync", path_, errno); }

Result<std::vector<std::string>> NamesInFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator one(folder, failed), end; !failed && one != end;
       one.increment(failed)) {
    names.push_back(one->path().filename().string());
  }
  if (failed) return DiskFailure("list", folder, failed.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace seendb
