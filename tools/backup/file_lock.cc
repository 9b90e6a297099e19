#include "backup/file_lock.h"

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace seendb::backup {
namespace {

constexpr std::chrono::milliseconds kTryEvery{50};

}  // namespace

Result<FileLock> FileLock::Take(const std::string& path, Kind kind,
                                std::chrono::milliseconds wait) {
  const bool together = kind == Kind::kTogether;
  const int flags = O_CLOEXEC | O_NOFOLLOW;
  int file = open(path.c_str(), O_RDWR | O_CREAT | flags, 0600);
  if (file < 0 && together) {  // of a medium that can be read alone
    file = open(path.c_str(), O_RDONLY | flags);
    if (file < 0 && errno == ENOENT) return FileLock(-1);
  }
  if (file < 0) return Status::IOError("open " + path + ": " + std::strerror(errno));
  FileLock lock(file);
  const auto until = std::chrono::steady_clock::now() + wait;
  while (flock(file, (together ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      return Status::IOError("lock " + path + ": " + std::strerror(errno));
    }
    if (std::chrono::steady_clock::now() >= until) {
      return Status::Busy(path + " is locked by another process");
    }
    std::this_thread::sleep_for(kTryEvery);
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace seendb::backup
