// The file system of a MemDisk: RocksDB's calls, each under the disk's lock, each asked whether it
// may fail.

#include <algorithm>
#include <utility>

#include "support/mem_disk.h"
#include "support/mem_handles.h"

namespace seendb {

using rocksdb::FileLock;
using rocksdb::FileOptions;
using rocksdb::FileSystem;
using rocksdb::FSDirectory;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

class MemLock final : public FileLock {
 public:
  explicit MemLock(std::string path, uint64_t generation)
      : path_(std::move(path)), generation_(generation) {}
  const std::string path_;
  const uint64_t generation_;
};

class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
  size_t GetLogFileSize() const override { return 0; }
};

}  // namespace

class MemFiles final : public FileSystem {
 public:
  using Operation = MemDisk::Operation;
  explicit MemFiles(MemDisk* disk) : disk_(disk) {}
  const char* Name() const override { return "MemFiles"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<FSSequentialFile>* file, IODebugContext*) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<FSRandomAccessFile>* file, IODebugContext*) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext*) override;
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions&,
                              std::unique_ptr<FSWritableFile>* file, IODebugContext*) override;
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<FSDirectory>* folder, IODebugContext*) override;

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    return With(MemDisk::kOpen, path, [&] {
      return disk_->tree_.Find(path) != nullptr ? IOStatus::OK() : IOStatus::NotFound(path);
    });
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* names,
                       IODebugContext*) override {
    return With(MemDisk::kOpen, path, [&] {
      const MemNodePtr node = disk_->tree_.Find(path);
      if (node == nullptr || !node->folder) return IOStatus::NotFound(path);
      names->clear();
      for (const auto& [name, child] : node->names) names->push_back(name);
      return IOStatus::OK();
    });
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return Delete(path, false);
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return Delete(path, true);
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions&,
                    IODebugContext*) override {
    return WithFile(MemDisk::kTruncate, path,
                    [&](const MemNodePtr& node) { node->Truncate(size); });
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return MakeFolder(path, false);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return MakeFolder(path, true);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* size,
                       IODebugContext*) override {
    return WithFile(MemDisk::kOpen, path,
                    [&](const MemNodePtr& node) { *size = node->bytes->size(); });
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, uint64_t* time_s,
                                   IODebugContext*) override {
    return WithFile(MemDisk::kOpen, path,
                    [&](const MemNodePtr& node) { *time_s = node->modified_s; });
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override;
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                    IODebugContext*) override;
  IOStatus NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    return WithFile(MemDisk::kOpen, path, [&](const MemNodePtr& node) {
      *count = 0;
      disk_->tree_.ForEach([&](const std::string&, const MemNode& other) {
        if (&other == node.get()) ++*count;
      });
    });
  }
  IOStatus AreFilesSame(const std::string& first, const std::string& second, const IOOptions&,
                        bool* same, IODebugContext*) override {
    return WithFile(MemDisk::kOpen, first,
                    [&](const MemNodePtr& node) { *same = disk_->tree_.Find(second) == node; });
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                    IODebugContext*) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override;
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    *path = "/test";
    return MakeFolder(*path, true);
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    *absolute = path;
    return IOStatus::OK();
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* bytes,
                        IODebugContext*) override {
    return With(MemDisk::kOpen, path, [&] {
      const uint64_t capacity = std::min<uint64_t>(disk_->capacity_, 1ULL << 40);
      *bytes = capacity - std::min(capacity, disk_->tree_.bytes());
      return IOStatus::OK();
    });
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* folder,
                       IODebugContext*) override {
    return With(MemDisk::kOpen, path, [&] {
      const MemNodePtr node = disk_->tree_.Find(path);
      if (node == nullptr) return IOStatus::PathNotFound(path);
      *folder = node->folder;
      return IOStatus::OK();
    });
  }
  IOStatus NewLogger(const std::string&, const IOOptions&, std::shared_ptr<rocksdb::Logger>* result,
                     IODebugContext*) override;

 private:
  template <typename Work>
  IOStatus With(Operation operation, const std::string& path, Work&& work) {
    const std::lock_guard lock(disk_->mutex_);
    const MemDisk::Verdict verdict = disk_->Check(operation, path, disk_->generation_);
    if (verdict.status.ok()) return work();
    return verdict.status;
  }
  template <typename Work>
  IOStatus WithFile(Operation operation, const std::string& path, Work&& work) {
    return With(operation, path, [&] {
      const MemNodePtr node = disk_->tree_.Find(path);
      if (node == nullptr) return IOStatus::PathNotFound(path);
      work(node);
      return IOStatus::OK();
    });
  }
  MemHandle Open(const std::string& path, MemNodePtr node) {
    return {disk_, path, std::move(node), disk_->generation_};
  }
  IOStatus OpenToWrite(Operation operation, const std::string& path,
                       std::unique_ptr<FSWritableFile>* file);
  IOStatus Delete(const std::string& path, bool folder);
  IOStatus MakeFolder(const std::string& path, bool may_exist);

  MemDisk* const disk_;
};

IOStatus MemFiles::NewSequentialFile(const std::string& path, const FileOptions&,
                                     std::unique_ptr<FSSequentialFile>* file, IODebugContext*) {
  return WithFile(MemDisk::kOpen, path,
                  [&](const MemNodePtr& node) { *file = NewMemSequential(Open(path, node)); });
}

IOStatus MemFiles::NewRandomAccessFile(const std::string& path, const FileOptions&,
                                       std::unique_ptr<FSRandomAccessFile>* file, IODebugContext*) {
  return WithFile(MemDisk::kOpen, path,
                  [&](const MemNodePtr& node) { *file = NewMemRandom(Open(path, node)); });
}

IOStatus MemFiles::NewWritableFile(const std::string& path, const FileOptions&,
                                   std::unique_ptr<FSWritableFile>* file, IODebugContext*) {
  return OpenToWrite(MemDisk::kCreate, path, file);
}

IOStatus MemFiles::ReopenWritableFile(const std::string& path, const FileOptions&,
                                      std::unique_ptr<FSWritableFile>* file, IODebugContext*) {
  return OpenToWrite(MemDisk::kOpen, path, file);
}

IOStatus MemFiles::OpenToWrite(Operation operation, const std::string& path,
                               std::unique_ptr<FSWritableFile>* file) {
  return With(operation, path, [&] {
    std::string name;
    const MemNodePtr folder = disk_->tree_.Parent(path, &name);
    if (folder == nullptr) return IOStatus::PathNotFound(path);
    if (!folder->names.contains(name)) {
      const IOStatus space = disk_->CheckSpace(1);
      if (!space.ok()) return space;
      folder->names[name] = std::make_shared<MemNode>();
    }
    const MemNodePtr& node = folder->names[name];
    if (node->folder) return IOStatus::IOError(path, "is a folder");
    if (operation == MemDisk::kCreate) node->Truncate(0);
    *file = NewMemWritable(Open(path, node));
    return IOStatus::OK();
  });
}

IOStatus MemFiles::NewDirectory(const std::string& path, const IOOptions&,
                                std::unique_ptr<FSDirectory>* folder, IODebugContext*) {
  return WithFile(MemDisk::kOpen, path,
                  [&](const MemNodePtr& node) { *folder = NewMemFolder(Open(path, node)); });
}

IOStatus MemFiles::Delete(const std::string& path, bool folder) {
  return With(MemDisk::kDelete, path, [&] {
    std::string name;
    const MemNodePtr parent = disk_->tree_.Parent(path, &name);
    if (parent == nullptr) return IOStatus::PathNotFound(path);
    const auto at = parent->names.find(name);
    if (at == parent->names.end()) return IOStatus::PathNotFound(path);
    if (at->second->folder != folder) return IOStatus::IOError(path, "is of another kind");
    if (!at->second->names.empty()) return IOStatus::IOError(path, "is not empty");
    parent->names.erase(at);
    return IOStatus::OK();
  });
}

IOStatus MemFiles::MakeFolder(const std::string& path, bool may_exist) {
  return With(MemDisk::kMakeFolder, path, [&] {
    std::string name;
    const MemNodePtr parent = disk_->tree_.Parent(path, &name);
    if (parent == nullptr) return IOStatus::PathNotFound(path);
    MemNodePtr& node = parent->names[name];
    if (node != nullptr) {
      return node->folder && may_exist ? IOStatus::OK() : IOStatus::IOError(path, "is there");
    }
    node = std::make_shared<MemNode>();
    node->folder = true;
    return IOStatus::OK();
  });
}

IOStatus MemFiles::RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                              IODebugContext*) {
  return With(MemDisk::kRename, to, [&] {
    std::string from_name, to_name;
    const MemNodePtr source = disk_->tree_.Parent(from, &from_name);
    const MemNodePtr target = disk_->tree_.Parent(to, &to_name);
    const MemNodePtr node = disk_->tree_.Find(from);
    if (source == nullptr || target == nullptr || node == nullptr) {
      return IOStatus::PathNotFound(from);
    }
    MemNodePtr& there = target->names[to_name];
    if (there != nullptr && (there->folder != node->folder || !there->names.empty())) {
      return IOStatus::IOError(to, "is there");
    }
    if (there == node) return IOStatus::OK();
    there = node;
    source->names.erase(from_name);
    return IOStatus::OK();
  });
}

IOStatus MemFiles::LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                            IODebugContext*) {
  return With(MemDisk::kLink, to, [&] {
    std::string name;
    const MemNodePtr target = disk_->tree_.Parent(to, &name);
    const MemNodePtr node = disk_->tree_.Find(from);
    if (target == nullptr || node == nullptr) return IOStatus::PathNotFound(from);
    if (!target->names.emplace(name, node).second) return IOStatus::IOError(to, "is there");
    return IOStatus::OK();
  });
}

IOStatus MemFiles::LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                            IODebugContext*) {
  std::unique_ptr<FSWritableFile> file;
  const IOStatus made = OpenToWrite(MemDisk::kOpen, path, &file);
  if (!made.ok()) return made;
  return With(MemDisk::kOpen, path, [&] {
    if (!disk_->locks_.insert(path).second)
      return IOStatus::IOError("While lock file: " + path, "held");
    *lock = new MemLock(path, disk_->generation_);
    return IOStatus::OK();
  });
}

IOStatus MemFiles::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  const std::unique_ptr<MemLock> held(static_cast<MemLock*>(lock));
  const std::lock_guard guard(disk_->mutex_);
  if (held->generation_ == disk_->generation_) disk_->locks_.erase(held->path_);
  return IOStatus::OK();
}

IOStatus MemFiles::NewLogger(const std::string&, const IOOptions&,
                             std::shared_ptr<rocksdb::Logger>* result, IODebugContext*) {
  *result = std::make_shared<NoLogger>();
  return IOStatus::OK();
}

std::shared_ptr<FileSystem> NewMemFiles(MemDisk* disk) { return std::make_shared<MemFiles>(disk); }

}  // namespace seendb
