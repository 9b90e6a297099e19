#include "support/fault_env.h"

#include <utility>

namespace seendb {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class FaultyWritable final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyWritable(std::unique_ptr<rocksdb::FSWritableFile> file, std::string path, FaultEnv* faults)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), faults_(faults) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kAppend, path_);
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, dbg) : s;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kAppend, path_);
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, info, dbg) : s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kSync, path_);
    return s.ok() ? FSWritableFileOwnerWrapper::Sync(options, dbg) : s;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kSync, path_);
    return s.ok() ? FSWritableFileOwnerWrapper::Fsync(options, dbg) : s;
  }

 private:
  const std::string path_;
  FaultEnv* const faults_;
};

class FaultyReadable final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  FaultyReadable(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::string path,
                 FaultEnv* faults)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), path_(std::move(path)), faults_(faults) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    IOStatus s = faults_->Check(FaultEnv::kRead, path_);
    return s.ok() ? FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg)
                  : s;
  }

 private:
  const std::string path_;
  FaultEnv* const faults_;
};

class FaultyFolder final : public rocksdb::FSDirectory {
 public:
  FaultyFolder(std::unique_ptr<rocksdb::FSDirectory> folder, std::string path, FaultEnv* faults)
      : folder_(std::move(folder)), path_(std::move(path)), faults_(faults) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kSyncFolder, path_);
    return s.ok() ? folder_->Fsync(options, dbg) : s;
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const rocksdb::DirFsyncOptions& how) override {
    IOStatus s = faults_->Check(FaultEnv::kSyncFolder, path_);
    return s.ok() ? folder_->FsyncWithDirOptions(options, dbg, how) : s;
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return folder_->Close(options, dbg);
  }

 private:
  const std::unique_ptr<rocksdb::FSDirectory> folder_;
  const std::string path_;
  FaultEnv* const faults_;
};

class FaultyFiles final : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFiles(FaultEnv* faults)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), faults_(faults) {}
  const char* Name() const override { return "FaultyFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kCreate, path);
    if (s.ok()) s = target()->NewWritableFile(path, options, file, dbg);
    if (s.ok()) *file = std::make_unique<FaultyWritable>(std::move(*file), path, faults_);
    return s;
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* dbg) override {
    const IOStatus s = target()->ReopenWritableFile(path, options, file, dbg);
    if (s.ok()) *file = std::make_unique<FaultyWritable>(std::move(*file), path, faults_);
    return s;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    IOStatus s = target()->NewRandomAccessFile(path, options, file, dbg);
    if (s.ok()) *file = std::make_unique<FaultyReadable>(std::move(*file), path, faults_);
    return s;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* folder,
                        IODebugContext* dbg) override {
    IOStatus s = target()->NewDirectory(path, options, folder, dbg);
    if (s.ok()) *folder = std::make_unique<FaultyFolder>(std::move(*folder), path, faults_);
    return s;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    IOStatus s = faults_->Check(FaultEnv::kRename, to);
    return s.ok() ? target()->RenameFile(from, to, options, dbg) : s;
  }

 private:
  FaultEnv* const faults_;
};

}  // namespace

FaultEnv::FaultEnv() : env_(rocksdb::NewCompositeEnv(std::make_shared<FaultyFiles>(this))) {}
FaultEnv::~FaultEnv() = default;

void FaultEnv::Fail(uint32_t operations, std::string part, IOStatus error, int skip, int times) {
  const std::lock_guard lock(mutex_);
  rules_.push_back({operations, std::move(part), std::move(error), skip, times});
  armed_ = true;
}

void FaultEnv::Clear() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
  armed_ = false;
}

IOStatus FaultEnv::Check(Operation operation, std::string_view path) {
  operations_.fetch_add(1, std::memory_order_relaxed);
  if (!armed_) return IOStatus::OK();
  const std::lock_guard lock(mutex_);
  for (Rule& rule : rules_) {
    if ((rule.operations & operation) == 0 || path.find(rule.part) == std::string_view::npos) {
      continue;
    }
    if (rule.skip > 0) {
      --rule.skip;
      continue;
    }
    if (rule.times == 0) continue;
    if (rule.times > 0) --rule.times;
    failures_.fetch_add(1, std::memory_order_relaxed);
    return rule.error;
  }
  return IOStatus::OK();
}

}  // namespace seendb
