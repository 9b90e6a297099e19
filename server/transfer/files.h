// server/transfer/files.h: files of a copy: read in pieces, written as they come, synced.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/crc.hpp>

#include "seendb/status.h"

namespace seendb::transfer {

/// The checksum of a file, piece by piece (CRC-32C, RFC 3720).
class Crc32c {
 public:
  void Add(std::string_view bytes) { crc_.process_bytes(bytes.data(), bytes.size()); }
  uint32_t value() const { return static_cast<uint32_t>(crc_.checksum()); }

 private:
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc_;
};

/// An open file. Threads: one.
class File {
 public:
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  /// kNotFound; kIOError.
  static Result<File> OpenToRead(const std::string& path);
  /// Opens the file to write on at its end, or makes it for its owner alone.
  static Result<File> OpenToAppend(const std::string& path);

  Result<uint64_t> Size() const;
  /// `bytes` from `offset` on; fewer at the file's end.
  Status Read(uint64_t offset, uint64_t bytes, std::string* to) const;
  Status Append(std::string_view bytes);
  /// Throws away all that is in it.
  Status Empty();
  Status Sync();

 private:
  friend Status SyncNames(const std::string& folder);
  File(int file, std::string path) : file_(file), path_(std::move(path)) {}

  int file_;
  std::string path_;
};

/// Makes the names in a folder survive power loss.
Status SyncNames(const std::string& folder);
/// Makes a folder that its owner alone may enter, in one that exists; one that is there stays.
Status MakeOwnFolder(const std::string& path);
/// Removes a file or a folder with everything in it; follows no link. Nothing where there is none.
Status RemoveAll(const std::string& path);
/// Renames a folder, durably.
Status RenameFolder(const std::string& from, const std::string& to);

}  // namespace seendb::transfer
