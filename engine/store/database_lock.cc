#include "store/database_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/return_if_failed.h"
#include "base/sync.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {
namespace {

/// A file that this process has locked. A forked child inherits the list, not its meaning.
struct Held {
  dev_t device;
  ino_t inode;
  pid_t process;
  const DatabaseLock* owner;
};

// Held across open, lock, unlock and close, so that the list is exact.
Mutex held_mutex(LockRank::kDatabaseFiles);
std::vector<Held>& HeldFiles() REQUIRES(held_mutex) {
  static std::vector<Held>* const held = new std::vector<Held>;  // outlives static engines
  return *held;
}

Status OpenElsewhere(const std::string& root, const std::string& why) {
  return Status::Busy(root + " is open in another process (" + why + ")");
}

Status OpenHere(const std::string& root) {
  return Status::Busy(root + " is already open in this process");
}

Status NoLock(const std::string& path, const std::string& why) {
  return Status::IOError("the database can't be locked, " + path + " can't be opened: " + why);
}

int SetLock(int file, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<DatabaseLock>> DatabaseLock::Take(rocksdb::Env* env,
                                                         const std::string& root) {
  std::unique_ptr<DatabaseLock> lock(new DatabaseLock);
  lock->env_ = env;
  lock->process_ = getpid();
  const std::string path = root + "/LOCK";
  RETURN_IF_FAILED(OnRealDisk(env) ? lock->TakeOfFile(root, path) : lock->TakeOfEnv(root, path));
  return lock;
}

DatabaseLock::~DatabaseLock() {
  const Status released = Release();
  static_cast<void>(released);  // the caller that wants to know calls Release
}

// RocksDB answers with the same code whether the file can't be made or is locked: its words differ
// ("While lock file", "lock hold by current process" against "While open a file for lock").
Status DatabaseLock::TakeOfEnv(const std::string& root, const std::string& path) {
  const rocksdb::Status locked = env_->LockFile(path, &env_lock_);
  if (locked.ok()) return {};
  env_lock_ = nullptr;
  const std::string text = locked.ToString();
  for (const char* here : {"lock hold by", "already held"}) {
    if (text.find(here) != std::string::npos) return OpenHere(root);
  }
  if (text.find("While lock file") != std::string::npos) return OpenElsewhere(root, text);
  return NoLock(path, text);
}

Status DatabaseLock::TakeOfFile(const std::string& root, const std::string& path) {
  const MutexLock guard(held_mutex);
  // Asked before the file is opened: where Env::LockFile had to be used, closing it would unlock.
  const auto held_here = [](const struct stat& file) {
    held_mutex.AssertHeld();
    const std::vector<Held>& held = HeldFiles();
    return std::any_of(held.begin(), held.end(), [&](const Held& one) {
      return one.device == file.st_dev && one.inode == file.st_ino && one.process == getpid();
    });
  };
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && held_here(found)) return OpenHere(root);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return NoLock(path, std::strerror(errno));
  const int failed = fstat(file, &found) == 0 ? SetLock(file, F_WRLCK) : errno;
  if (failed == 0) {
    file_ = file;
    HeldFiles().push_back({found.st_dev, found.st_ino, process_, this});
    return {};
  }
  close(file);
  if (failed == EAGAIN || failed == EACCES) return OpenElsewhere(root, path + " is locked");
  if (failed == EINVAL) {  // a kernel without locks of open file descriptions
    const Status locked = TakeOfEnv(root, path);
    if (locked.ok()) HeldFiles().push_back({found.st_dev, found.st_ino, process_, this});
    return locked;
  }
  return Status::IOError("the database can't be locked, " + path + ": " + std::strerror(failed));
}

Status DatabaseLock::Release() {
  if (file_ < 0 && env_lock_ == nullptr) return {};
  const MutexLock guard(held_mutex);
  std::erase_if(HeldFiles(), [&](const Held& one) { return one.owner == this; });
  if (env_lock_ != nullptr) {
    return FromRocks(env_->UnlockFile(std::exchange(env_lock_, nullptr)), "unlock");
  }
  const int file = std::exchange(file_, -1);
  // A child forked meanwhile shares the description: the parent's unlocking counts, the child's
  // copy is only closed.
  int failed = process_ == getpid() ? SetLock(file, F_UNLCK) : 0;
  if (close(file) != 0 && failed == 0) failed = errno;
  return failed == 0 ? Status() : Status::IOError("unlock: " + std::string(std::strerror(failed)));
}

}  // namespace seendb
