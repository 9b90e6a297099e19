// tests/support/mem_handles.h: the open files of a MemDisk.

#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "support/mem_disk.h"

namespace seendb {

/// What an open file knows of itself.
struct MemHandle {
  MemDisk* disk;
  std::string path;
  MemNodePtr node;
  uint64_t generation;

  // `work` under the lock, if nothing forbids it.
  template <typename Work>
  rocksdb::IOStatus Do(MemDisk::Operation operation, Work&& work) const {
    const std::lock_guard lock(disk->mutex_);
    const MemDisk::Verdict verdict = disk->Check(operation, path, generation);
    if (verdict.status.ok()) return work();
    return verdict.status;
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data) const {
    const std::lock_guard lock(disk->mutex_);
    const MemDisk::Verdict verdict = disk->Check(MemDisk::kAppend, path, generation);
    if (!verdict.status.ok()) {
      if (verdict.half) node->Append({data.data(), data.size() / 2});
      return verdict.status;
    }
    const rocksdb::IOStatus space = disk->CheckSpace(data.size());
    if (space.ok()) node->Append(data.ToStringView());
    return space;
  }
  uint64_t Size() const {
    const std::lock_guard lock(disk->mutex_);
    return node->bytes->size();
  }
  rocksdb::IOStatus ReadAt(uint64_t offset, size_t n, rocksdb::Slice* result, char* scratch) const {
    return Do(MemDisk::kRead, [&] {
      const std::string& bytes = *node->bytes;
      const size_t begin = std::min<size_t>(offset, bytes.size());
      const size_t length = std::min(n, bytes.size() - begin);
      std::memcpy(scratch, bytes.data() + begin, length);
      *result = rocksdb::Slice(scratch, length);
      return rocksdb::IOStatus::OK();
    });
  }
};

std::unique_ptr<rocksdb::FSSequentialFile> NewMemSequential(MemHandle file);
std::unique_ptr<rocksdb::FSRandomAccessFile> NewMemRandom(MemHandle file);
std::unique_ptr<rocksdb::FSWritableFile> NewMemWritable(MemHandle file);
std::unique_ptr<rocksdb::FSDirectory> NewMemFolder(MemHandle folder);

}  // namespace seendb
