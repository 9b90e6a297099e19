// store/database_lock.h: the exclusive lock of a database's folder, its file `LOCK`.
//
// On the operating system's files this is a lock of an open file description (F_OFD_SETLK): unlike
// the lock that RocksDB's Env::LockFile takes, no close of another descriptor of the file drops it.
// The two kinds of lock exclude each other, so older versions respect it and are respected. The
// file system is asked, not the spelling of the path: any path that leads to the same file finds it
// locked. A kernel without such locks, and an Env of a test, take Env::LockFile's.
//
// A child that the process forks and that does not exec keeps the folder locked after the parent
// was killed, until the child ends too. A release by the parent counts at once.

#pragma once

#include <memory>
#include <string>

#include <rocksdb/env.h>
#include <sys/types.h>

#include "seendb/status.h"

namespace seendb {

/// See the head of this file. Threads: one at a time; several locks may be taken at once.
class DatabaseLock {
 public:
  /// Locks the database in `root`. kBusy: another engine has it, and the message says whether that
  /// is in this process. kIOError: the file system refused. `env` must outlive the lock.
  static Result<std::unique_ptr<DatabaseLock>> Take(rocksdb::Env* env, const std::string& root);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

  /// Lets go of it; again: nothing.
  Status Release();

 private:
  DatabaseLock() = default;
  Status TakeOfEnv(const std::string& root, const std::string& path);
  Status TakeOfFile(const std::string& root, const std::string& path);

  rocksdb::Env* env_ = nullptr;
  rocksdb::FileLock* env_lock_ = nullptr;  // where Env::LockFile was used
  pid_t process_ = 0;                      // that took it
  int file_ = -1;                          // where the lock is an open file description's
};

}  // namespace seendb
