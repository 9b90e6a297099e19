#include "scenario/counting_env.h"

#include <string>
#include <utility>

#include <rocksdb/file_system.h>

namespace seendb::perf {
namespace {

using Counter = std::shared_ptr<std::atomic<uint64_t>>;

class CountingFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  CountingFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, Counter reads)
      : rocksdb::FSRandomAccessFileOwnerWrapper(std::move(file)), reads_(std::move(reads)) {}
  rocksdb::IOStatus Read(uint64_t offset, size_t n, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) const override {
    reads_->fetch_add(1, std::memory_order_relaxed);
    return target()->Read(offset, n, options, result, scratch, debug);
  }
  rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count,
                              const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override {
    reads_->fetch_add(count, std::memory_order_relaxed);
    return target()->MultiRead(requests, count, options, debug);
  }

 private:
  const Counter reads_;
};

class CountingFiles final : public rocksdb::FileSystemWrapper {
 public:
  explicit CountingFiles(Counter reads)
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), reads_(std::move(reads)) {}
  const char* Name() const override { return "CountingFiles"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = target()->NewRandomAccessFile(name, options, file, debug);
    if (status.ok()) *file = std::make_unique<CountingFile>(std::move(*file), reads_);
    return status;
  }

 private:
  const Counter reads_;
};

}  // namespace

CountingEnv::CountingEnv()
    : reads_(std::make_shared<std::atomic<uint64_t>>(0)),
      env_(rocksdb::NewCompositeEnv(std::make_shared<CountingFiles>(reads_))) {}
CountingEnv::~CountingEnv() = default;

}  // namespace seendb::perf
