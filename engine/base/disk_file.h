// base/disk_file.h: files that are read in pieces or written as they come, and synced: copies of
// shards between nodes, folders of backups.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seendb/status.h"

namespace seendb {

/// An open file. Follows no link. Blocks for the disk. Threads: one.
class DiskFile {
 public:
  /// kNotFound; kIOError.
  static Result<DiskFile> OpenToRead(const std::string& path);
  /// Opens it to write on at its end, or makes it for its owner alone.
  static Result<DiskFile> OpenToAppend(const std::string& path);
  DiskFile(DiskFile&& other) noexcept;
  DiskFile& operator=(DiskFile&&) = delete;
  ~DiskFile();

  Result<uint64_t> Size() const;
  /// `bytes` from `offset` on; fewer at the file's end.
  Status Read(uint64_t offset, uint64_t bytes, std::string* to) const;
  Status Append(std::string_view bytes);
  /// Throws away all that is in it.
  Status Empty();
  Status Sync();

 private:
  DiskFile(int file, std::string path) : file_(file), path_(std::move(path)) {}

  int file_;
  std::string path_;
};

/// The failure of a call on a path, with the system's words: kNotFound or kIOError.
Status DiskFailure(const char* what, const std::string& path, int error);
/// The names in a folder, sorted. kNotFound; kIOError.
Result<std::vector<std::string>> NamesInFolder(const std::string& folder);

}  // namespace seendb
