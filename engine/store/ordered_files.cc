#include "store/ordered_files.h"

#include <utility>

#include <rocksdb/file_system.h>

#include "store/copy_file.h"

namespace seendb {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

IOStatus SyncFolderIn(rocksdb::FileSystem* files, const std::string& path, IODebugContext* dbg) {
  std::unique_ptr<rocksdb::FSDirectory> folder;
  const IOStatus status = files->NewDirectory(path, IOOptions(), &folder, dbg);
  return status.ok() ? folder->Fsync(IOOptions(), dbg) : status;
}

}  // namespace

// A log that is being written. RocksDB and we sync it through here, one at a time, so that neither
// takes a sync for a success that followed one that failed.
class OpenLog {
 public:
  OpenLog(rocksdb::FSWritableFile* file, rocksdb::FileSystem* files, std::string folder)
      : file_(file), files_(files), folder_(std::move(folder)) {}

  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) {
    const MutexLock lock(mutex_);
    return SyncFile(options, dbg);
  }
  // One that is closed was synced when a newer one was made.
  IOStatus SyncWithName() {
    const MutexLock lock(mutex_);
    if (file_ == nullptr) return failed_;
    IOStatus status = SyncFile(IOOptions(), nullptr);
    if (!status.ok() || name_synced_) return status;
    status = SyncFolderIn(files_, folder_, nullptr);
    name_synced_ = status.ok();
    return failed_ = status;
  }
  // Waits for a sync under way.
  void Close() {
    const MutexLock lock(mutex_);
    file_ = nullptr;
  }

 private:
  IOStatus SyncFile(const IOOptions& options, IODebugContext* dbg) REQUIRES(mutex_) {
    if (failed_.ok() && file_ != nullptr) failed_ = file_->Sync(options, dbg);
    return failed_;
  }

  Mutex mutex_{LockRank::kOpenLog};
  rocksdb::FSWritableFile* file_ GUARDED_BY(mutex_);
  rocksdb::FileSystem* const files_;
  const std::string folder_;
  IOStatus failed_ GUARDED_BY(mutex_);
  bool name_synced_ GUARDED_BY(mutex_) = false;
};

IOStatus OpenLogs::SyncNewest(const std::string& folder) {
  std::shared_ptr<OpenLog> log;
  {
    const MutexLock lock(mutex_);
    const auto at = newest_.find(folder);
    if (at == newest_.end()) return IOStatus::NotFound("no log is open in " + folder);
    log = at->second;
  }
  return log->SyncWithName();
}

void OpenLogs::Opened(const std::string& folder, std::shared_ptr<OpenLog> log) {
  const MutexLock lock(mutex_);
  newest_[folder] = std::move(log);
}

void OpenLogs::Closed(const std::string& folder, const OpenLog* log) {
  const MutexLock lock(mutex_);
  const auto at = newest_.find(folder);
  if (at != newest_.end() && at->second.get() == log) newest_.erase(at);
}

namespace {

class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, rocksdb::FileSystem* files,
          const std::string& folder, std::shared_ptr<OpenLogs> logs)
      : FSWritableFileOwnerWrapper(std::move(file)),
        folder_(folder),
        log_(std::make_shared<OpenLog>(target(), files, folder)),
        logs_(std::move(logs)) {
    logs_->Opened(folder_, log_);
  }
  ~LogFile() override { Forget(); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return log_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return log_->Sync(options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    Forget();
    return FSWritableFileOwnerWrapper::Close(options, dbg);
  }

 private:
  void Forget() {
    logs_->Closed(folder_, log_.get());
    log_->Close();
  }

  const std::string folder_;
  const std::shared_ptr<OpenLog> log_;
  const std::shared_ptr<OpenLogs> logs_;
};

// RocksDB's text log, of which lines may be lost.
class TextLogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* dbg) override {
    return Lose(FSWritableFileOwnerWrapper::Append(data, options, dbg));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* dbg) override {
    return Lose(FSWritableFileOwnerWrapper::Append(data, options, info, dbg));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return Lose(FSWritableFileOwnerWrapper::Flush(options, dbg));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return Lose(FSWritableFileOwnerWrapper::Close(options, dbg));
  }

 private:
  static IOStatus Lose(const IOStatus& status) {
    status.PermitUncheckedError();
    return IOStatus::OK();
  }
};

class OrderedFiles final : public rocksdb::FileSystemWrapper {
 public:
  OrderedFiles(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<OpenLogs> logs)
      : FileSystemWrapper(base), logs_(std::move(logs)) {}
  const char* Name() const override { return "SeenDBOrderedFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* dbg) override {
    if (path.ends_with("/LOG")) {
      const IOStatus status = target()->NewWritableFile(path, options, file, dbg);
      if (status.ok()) *file = std::make_unique<TextLogFile>(std::move(*file));
      return status;
    }
    if (!path.ends_with(".log")) return target()->NewWritableFile(path, options, file, dbg);
    const std::string folder = FolderOf(path);
    IOStatus status = logs_->SyncNewest(folder);
    if (status.ok() || status.IsNotFound()) status = SyncFolderIn(target(), folder, dbg);
    if (status.ok()) status = target()->NewWritableFile(path, options, file, dbg);
    if (status.ok()) *file = std::make_unique<LogFile>(std::move(*file), target(), folder, logs_);
    return status;
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (to.ends_with("/CURRENT")) {
      const IOStatus status = SyncFolderIn(target(), FolderOf(to), dbg);
      if (!status.ok()) return status;
    }
    return target()->RenameFile(from, to, options, dbg);
  }

  // The default file system's logger opens its file past NewWritableFile.
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<rocksdb::Logger>* result, IODebugContext* dbg) override {
    if (target() != rocksdb::FileSystem::Default().get())
      return target()->NewLogger(path, options, result, dbg);
    // The one of FileSystem: it makes the file by NewWritableFile, above. The wrapper's would not.
    // NOLINTNEXTLINE(bugprone-parent-virtual-call)
    return FileSystem::NewLogger(path, options, result, dbg);
  }

 private:
  const std::shared_ptr<OpenLogs> logs_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewOrderedEnv(rocksdb::Env* base, std::shared_ptr<OpenLogs> logs) {
  return rocksdb::NewCompositeEnv(
      std::make_shared<OrderedFiles>(base->GetFileSystem(), std::move(logs)));
}

}  // namespace seendb
