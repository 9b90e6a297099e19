#include "store/ordered_files.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <rocksdb/file_system.h>

#include "store/copy_file.h"

namespace seendb {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class LogFile;

// The log last made in each folder, while it is open.
class OpenLogs {
 public:
  IOStatus SyncNewest(const std::string& folder);
  void Opened(const std::string& folder, LogFile* log) {
    const std::lock_guard lock(mutex_);
    newest_[folder] = log;
  }
  void Closed(const std::string& folder, LogFile* log) {
    const std::lock_guard lock(mutex_);
    const auto at = newest_.find(folder);
    if (at != newest_.end() && at->second == log) newest_.erase(at);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, LogFile*> newest_;
};

class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string folder,
          std::shared_ptr<OpenLogs> logs)
      : FSWritableFileOwnerWrapper(std::move(file)),
        folder_(std::move(folder)),
        logs_(std::move(logs)) {
    logs_->Opened(folder_, this);
  }
  ~LogFile() override { logs_->Closed(folder_, this); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    logs_->Closed(folder_, this);
    return FSWritableFileOwnerWrapper::Close(options, dbg);
  }

 private:
  const std::string folder_;
  const std::shared_ptr<OpenLogs> logs_;
};

IOStatus OpenLogs::SyncNewest(const std::string& folder) {
  const std::lock_guard lock(mutex_);  // so that it is not closed meanwhile
  const auto at = newest_.find(folder);
  return at == newest_.end() ? IOStatus::OK() : at->second->Sync(IOOptions(), nullptr);
}

class OrderedFiles final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "SeenDBOrderedFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* dbg) override {
    if (!path.ends_with(".log")) return target()->NewWritableFile(path, options, file, dbg);
    const std::string folder = FolderOf(path);
    IOStatus status = logs_->SyncNewest(folder);
    if (status.ok()) status = SyncFolder(folder, dbg);
    if (status.ok()) status = target()->NewWritableFile(path, options, file, dbg);
    if (status.ok()) *file = std::make_unique<LogFile>(std::move(*file), folder, logs_);
    return status;
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (to.ends_with("/CURRENT")) {
      const IOStatus status = SyncFolder(FolderOf(to), dbg);
      if (!status.ok()) return status;
    }
    return target()->RenameFile(from, to, options, dbg);
  }

 private:
  IOStatus SyncFolder(const std::string& path, IODebugContext* dbg) {
    std::unique_ptr<rocksdb::FSDirectory> folder;
    const IOStatus status = target()->NewDirectory(path, IOOptions(), &folder, dbg);
    return status.ok() ? folder->Fsync(IOOptions(), dbg) : status;
  }

  const std::shared_ptr<OpenLogs> logs_ = std::make_shared<OpenLogs>();
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewOrderedEnv(rocksdb::Env* base) {
  return rocksdb::NewCompositeEnv(std::make_shared<OrderedFiles>(base->GetFileSystem()));
}

}  // namespace seendb
