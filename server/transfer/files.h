// server/transfer/files.h: the checksum of a file of a copy, and folders of copies.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

/// Makes the names in a folder survive power loss.
Status SyncNames(const std::string& folder);
/// Makes a folder that its owner alone may enter, in one that exists; one that is there stays.
Status MakeOwnFolder(const std::string& path);
/// Removes a file or a folder with everything in it; follows no link. Nothing where there is none.
Status RemoveAll(const std::string& path);
/// Renames a folder, durably.
Status RenameFolder(const std::string& from, const std::string& to);

}  // namespace seendb::transfer
