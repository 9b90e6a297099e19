#include "backup/bring.h"

#include <algorithm>

#include <rocksdb/env.h>

#include "backup/disk.h"
#include "base/disk_file.h"
#include "store/status.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

/// Hashes what an earlier attempt has brought; throws it away where it is too much.
Status Keep(const BackedFile& file, const Meter& meter, DiskFile* part, text::Sha256* sum,
            uint64_t* kept) {
  const Result<uint64_t> size = part->Size();
  if (!size.ok()) return size.status();
  if (*size > file.size) return part->Empty();
  std::string piece;
  while (*kept < *size) {
    if (Status wait = meter.Wait(std::chrono::seconds(0)); !wait.ok()) return wait;
    if (Status read = part->Read(*kept, kPieceBytes, &piece); !read.ok()) return read;
    if (piece.empty()) return Status::IOError(file.path + " became shorter");
    sum->Add(piece);
    *kept += piece.size();
  }
  return {};
}

Status BringRest(const BackedFile& file, uint64_t offset, const ReadPiece& read, Meter* meter,
                 DiskFile* part, text::Sha256* sum) {
  std::string piece;
  while (offset < file.size) {
    const uint64_t bytes = std::min(file.size - offset, kPieceBytes);
    Status status = meter->Take(bytes);
    if (status.ok()) status = read(offset, bytes, &piece);
    if (!status.ok()) return status;
    if (piece.size() != bytes) return Status::Corruption(file.path + " became shorter");
    if (Status written = part->Append(piece); !written.ok()) return written;
    sum->Add(piece);
    offset += bytes;
  }
  return {};
}

}  // namespace

Status Bring(const Folder& folder, const BackedFile& file, const ReadPiece& read, Meter* meter) {
  const std::string from = folder.PartPath(file.sha256), to = folder.FilePath(file.sha256);
  Result<DiskFile> part = DiskFile::OpenToAppend(from);
  if (!part.ok()) return part.status();
  text::Sha256 sum;
  uint64_t kept = 0;
  Status status = Keep(file, *meter, &*part, &sum, &kept);
  if (status.ok()) status = BringRest(file, kept, read, meter, &*part, &sum);
  if (!status.ok()) return status;
  std::string digits = sum.Digits();
  if (digits != file.sha256 && kept > 0) {  // the part was damaged
    text::Sha256 again;
    status = part->Empty();
    if (status.ok()) status = BringRest(file, 0, read, meter, &*part, &again);
    if (!status.ok()) return status;
    digits = again.Digits();
  }
  if (digits != file.sha256) {
    static_cast<void>(part->Empty());
    return Status::Corruption(file.path + " came damaged: its SHA-256 is " + digits +
                              ", and should be " + file.sha256);
  }
  status = part->Sync();
  if (status.ok()) status = MakeOwnFolder(to.substr(0, to.rfind('/')));
  if (!status.ok()) return status;
  return FromRocks(rocksdb::Env::Default()->RenameFile(from, to), "rename " + from);
}

}  // namespace seendb::backup
