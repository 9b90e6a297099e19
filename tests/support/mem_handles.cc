#include "support/mem_handles.h"

#include <utility>

namespace seendb {
namespace {

using rocksdb::FSDirectory;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class MemSequential final : public FSSequentialFile {
 public:
  explicit MemSequential(MemHandle file) : file_(std::move(file)) {}
  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    const IOStatus s = file_.ReadAt(at_, n, result, scratch);
    if (s.ok()) at_ += result->size();
    return s;
  }
  IOStatus Skip(uint64_t n) override {
    at_ += n;
    return IOStatus::OK();
  }

 private:
  const MemHandle file_;
  uint64_t at_ = 0;
};

class MemRandom final : public FSRandomAccessFile {
 public:
  explicit MemRandom(MemHandle file) : file_(std::move(file)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return file_.ReadAt(offset, n, result, scratch);
  }

 private:
  const MemHandle file_;
};

class MemWritable final : public FSWritableFile {
 public:
  explicit MemWritable(MemHandle file) : file_(std::move(file)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return file_.Append(data);
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    return file_.Do(MemDisk::kTruncate, [&] {
      file_.node->Truncate(size);
      return IOStatus::OK();
    });
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return file_.Do(MemDisk::kSync, [&] {
      file_.node->Sync();
      return IOStatus::OK();
    });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Sync(options, dbg);
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_.Size(); }

 private:
  const MemHandle file_;
};

class MemFolder final : public FSDirectory {
 public:
  explicit MemFolder(MemHandle folder) : folder_(std::move(folder)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return folder_.Do(MemDisk::kSyncFolder, [&] {
      folder_.node->synced_names = folder_.node->names;
      return IOStatus::OK();
    });
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const MemHandle folder_;
};

}  // namespace

std::unique_ptr<FSSequentialFile> NewMemSequential(MemHandle file) {
  return std::make_unique<MemSequential>(std::move(file));
}
std::unique_ptr<FSRandomAccessFile> NewMemRandom(MemHandle file) {
  return std::make_unique<MemRandom>(std::move(file));
}
std::unique_ptr<FSWritableFile> NewMemWritable(MemHandle file) {
  return std::make_unique<MemWritable>(std::move(file));
}
std::unique_ptr<FSDirectory> NewMemFolder(MemHandle folder) {
  return std::make_unique<MemFolder>(std::move(folder));
}

}  // namespace seendb
