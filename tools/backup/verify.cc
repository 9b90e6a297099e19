#include "backup/verify.h"

#include <map>
#include <utility>

#include "backup/disk.h"
#include "base/disk_file.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

/// A file that lists name.
struct Needed {
  uint64_t size = 0;
  std::vector<uint64_t> backups;
  std::string path;
};

/// Says what is wrong with a file; empty: nothing.
Result<std::string> Look(const std::string& path, const std::string& sha256, uint64_t size,
                         Meter* meter) {
  const Result<DiskFile> file = DiskFile::OpenToRead(path);
  if (file.status().code() == StatusCode::kNotFound) return std::string("missing");
  if (!file.ok()) return std::string(file.status().message());
  text::Sha256 sum;
  std::string piece;
  uint64_t at = 0;
  do {
    if (Status wait = meter->Take(piece.size()); !wait.ok()) return wait;
    if (Status read = file->Read(at, kPieceBytes, &piece); !read.ok()) {
      return std::string(read.message());
    }
    sum.Add(piece);
    at += piece.size();
  } while (!piece.empty());
  if (at < size) return std::string("shortened");
  return sum.Digits() == sha256 ? std::string() : std::string("damaged");
}

}  // namespace

Result<Verified> Verify(const Folder& folder, Meter* meter) {
  const Result<Lists> lists = folder.ReadLists();
  if (!lists.ok()) return lists.status();
  Result<std::map<std::string, uint64_t>> stored = folder.Stored();
  if (!stored.ok()) return stored.status();
  Verified verified;
  verified.backups = lists->whole.size() + lists->damaged.size();
  for (const auto& [id, why] : lists->damaged) {
    verified.damages.push_back({folder.ListPath(id), why, {id}, ""});
  }
  std::map<std::string, Needed> needed;
  for (const auto& [id, list] : lists->whole) {
    for (const BackedFile& file : list.files) {
      Needed& one = needed[file.sha256];
      if (one.backups.empty()) one = {file.size, {}, file.path};
      if (one.backups.empty() || one.backups.back() != id) one.backups.push_back(id);
    }
  }
  for (auto& [sha256, one] : needed) {
    const std::string path = folder.FilePath(sha256);
    Result<std::string> wrong = Look(path, sha256, one.size, meter);
    if (!wrong.ok()) return wrong.status();
    ++verified.files;
    verified.bytes += one.size;
    if (!wrong->empty()) {
      verified.damages.push_back(
          {path, std::move(wrong).value(), std::move(one.backups), std::move(one.path)});
    }
    stored->erase(sha256);
  }
  for (const auto& [sha256, size] : *stored) {
    ++verified.unlisted;
    verified.unlisted_bytes += size;
  }
  return verified;
}

}  // namespace seendb::backup
