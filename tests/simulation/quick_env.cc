#include "simulation/quick_env.h"

#include <utility>

#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

namespace seendb::simulation {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class WatchedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WatchedFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, DiskPoints* points)
      : FSWritableFileOwnerWrapper(std::move(file)), points_(points) {}
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Passed(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Passed(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  IOStatus Passed(IOStatus status) {
    points_->Reached();
    return status;
  }
  DiskPoints* const points_;
};

class WatchedFiles final : public rocksdb::FileSystemWrapper {
 public:
  WatchedFiles(const std::shared_ptr<FileSystem>& files, bool options_files, DiskPoints* points)
      : FileSystemWrapper(files), options_files_(options_files), points_(points) {}
  const char* Name() const override { return "WatchedFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    if (!options_files_ && path.find("/OPTIONS-") != std::string::npos) {
      return IOStatus::NotSupported("no OPTIONS files");
    }
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<WatchedFile>(std::move(*file), points_);
    points_->Reached();
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    return Passed(target()->RenameFile(from, to, options, debug));
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    return Passed(target()->LinkFile(from, to, options, debug));
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    return Passed(target()->DeleteFile(path, options, debug));
  }

 private:
  IOStatus Passed(IOStatus status) {
    points_->Reached();
    return status;
  }
  const bool options_files_;
  DiskPoints* const points_;
};

class SleeplessClock final : public rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "SleeplessClock"; }
  void SleepForMicroseconds(int) override {}
};

class QuickEnv final : public rocksdb::EnvWrapper {
 public:
  explicit QuickEnv(std::unique_ptr<rocksdb::Env> inner) : EnvWrapper(std::move(inner)) {
    file_system_ = target()->GetFileSystem();
    system_clock_ = std::make_shared<SleeplessClock>(target()->GetSystemClock());
  }
  const char* Name() const override { return "QuickEnv"; }
  void SleepForMicroseconds(int) override {}
};

}  // namespace

void DiskPoints::Arm(int64_t skip, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  skip_ = skip;
  work_ = std::move(work);
  armed_ = true;
}

void DiskPoints::Disarm() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
  work_ = nullptr;
}

void DiskPoints::Reached() {
  if (!armed_) return;
  const std::lock_guard lock(mutex_);
  if (!armed_ || skip_-- > 0) return;
  armed_ = false;
  std::exchange(work_, nullptr)();
}

std::unique_ptr<rocksdb::Env> NewQuickEnv(rocksdb::Env* env, bool options_files,
                                          DiskPoints* points) {
  return std::make_unique<QuickEnv>(rocksdb::NewCompositeEnv(
      std::make_shared<WatchedFiles>(env->GetFileSystem(), options_files, points)));
}

}  // namespace seendb::simulation
