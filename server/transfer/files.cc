#include "transfer/files.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace seendb::transfer {
namespace {

Status FileFailed(const char* what, const std::string& path, int error = errno) {
  const std::string message =
      std::string(what) + " " + path + ": " + std::generic_category().message(error);
  return error == ENOENT ? Status::NotFound(message) : Status::IOError(message);
}

}  // namespace

File::File(File&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

File::~File() {
  if (file_ >= 0) close(file_);
}

Result<File> File::OpenToRead(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return FileFailed("open", path);
  return File(file, path);
}

Result<File> File::OpenToAppend(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return FileFailed("open", path);
  return File(file, path);
}

Result<uint64_t> File::Size() const {
  struct stat found {};
  if (fstat(file_, &found) != 0) return FileFailed("look at", path_);
  return static_cast<uint64_t>(found.st_size);
}

Status File::Read(uint64_t offset, uint64_t bytes, std::string* to) const {
  to->resize(bytes);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(file_, to->data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileFailed("read", path_);
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
    if (written < 0) return FileFailed("write", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status File::Empty() { return ftruncate(file_, 0) == 0 ? Status() : FileFailed("empty", path_); }

Status File::Sync() { return fsync(file_) == 0 ? Status() : FileFailed("sync", path_); }

Status SyncNames(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return FileFailed("open", folder);
  return File(file, folder).Sync();
}

Status MakeOwnFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    return SyncNames(std::filesystem::path(path).parent_path().string());
  }
  if (errno != EEXIST) return FileFailed("make", path);
  std::error_code failed;
  const auto kind = std::filesystem::symlink_status(path, failed).type();
  if (kind == std::filesystem::file_type::directory) return {};
  return Status::IOError(path + " is no folder");
}

Status RemoveAll(const std::string& path) {
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  return failed ? FileFailed("remove", path, failed.value()) : Status();
}

Status RenameFolder(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return FileFailed("rename", from);
  return SyncNames(std::filesystem::path(to).parent_path().string());
}

}  // namespace seendb::transfer
