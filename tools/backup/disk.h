// backup/disk.h: files of a folder of backups: read in pieces, appended to, synced.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/status.h"

namespace seendb::backup {

/// So much is read and written at once.
inline constexpr uint64_t kPieceBytes = 1u << 20;

/// An open file. Threads: one.
class File {
 public:
  /// kNotFound; kIOError.
  static Result<File> ToRead(const std::string& path);
  /// Opens it to write on at its end, or makes it for its owner alone.
  static Result<File> ToAppend(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  Result<uint64_t> Size() const;
  /// `bytes` from `offset` on; fewer at the file's end.
  Status Read(uint64_t offset, uint64_t bytes, std::string* to) const;
  Status Append(std::string_view bytes);
  /// Throws away all that is in it.
  Status Empty();
  Status Sync();

 private:
  File(int file, std::string path) : file_(file), path_(std::move(path)) {}

  int file_;
  std::string path_;
};

/// The names in a folder, sorted. kNotFound; kIOError.
Result<std::vector<std::string>> NamesIn(const std::string& folder);
/// Makes a folder that its owner alone may enter, durably; one that is there stays.
Status MakeOwnFolder(const std::string& path);
/// Removes a file, if it is there.
Status RemoveFile(const std::string& path);

}  // namespace seendb::backup
