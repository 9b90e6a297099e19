#include "backup/folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <rocksdb/env.h>

#include "backup/disk.h"
#include "base/disk_file.h"
#include "base/whole_file.h"
#include "store/copy_file.h"
#include "store/files.h"
#include "store/real_disk.h"
#include "store/status.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

namespace fs = std::filesystem;

constexpr char kMarkName[] = "SEENDB_BACKUPS";
constexpr std::string_view kMarkFirst = "seendb-backups 1\n", kMarkDatabase = "database ";
constexpr size_t kMarkBytesMost = 4'096, kIdDigits = 8, kClaimsBytesMost = 256u << 20;
constexpr std::chrono::milliseconds kWaitToRead{600'000}, kWaitToPrune{60'000};

/// The id of the database that the mark names. kNotFound: no mark.
Result<std::string> ReadMark(const std::string& path) {
  const std::string mark = path + "/" + kMarkName;
  const Result<std::string> text = ReadWholeFile(mark, kMarkBytesMost);
  if (!text.ok()) {
    if (text.status().code() != StatusCode::kNotFound) return text.status();
    return Status::NotFound(path + " is no folder of backups");
  }
  if (!text->starts_with(kMarkFirst)) {
    const bool newer = text->starts_with(kMarkFirst.substr(0, kMarkFirst.find(' ') + 1));
    return newer ? Status::Incompatible(mark + " is of another version of the software")
                 : Status::Corruption(mark + " is not as it was written");
  }
  const std::string_view rest = std::string_view(*text).substr(kMarkFirst.size());
  if (!rest.starts_with(kMarkDatabase) || rest.size() < kMarkDatabase.size() + 2 ||
      rest.find('\n') != rest.size() - 1) {
    return Status::Corruption(mark + " is not as it was written");
  }
  return std::string(rest.substr(kMarkDatabase.size(), rest.size() - kMarkDatabase.size() - 1));
}

/// A killed OpenFor leaves nothing, or a mark that is being written.
Status CheckEmpty(const std::string& path) {
  const Result<std::vector<std::string>> names = NamesInFolder(path);
  if (!names.ok()) return names.status();
  const auto stray = std::find_if(names->begin(), names->end(), [](const std::string& name) {
    return name != std::string(kMarkName) + ".tmp";
  });
  if (stray == names->end()) return {};
  return Status::Incompatible(path + " is no folder of backups, and not empty: it has " + *stray);
}

}  // namespace

Result<Folder> Folder::Open(const std::string& path) {
  const Result<std::string> database = ReadMark(path);
  if (!database.ok()) return database.status();
  return Folder(path, *database);
}

Result<Folder> Folder::OpenFor(const std::string& path, const std::string& database) {
  if (Status made = MakeOwnFolder(path); !made.ok()) return made;
  const Result<std::string> found = ReadMark(path);
  if (!found.ok() && found.status().code() != StatusCode::kNotFound) return found.status();
  if (found.ok() && *found != database) {
    return Status::Incompatible(path + " has backups of the database " + *found +
                                ", and this is the database " + database);
  }
  if (!found.ok()) {
    Status status = CheckEmpty(path);
    if (status.ok()) {
      status = ReplaceFile(rocksdb::Env::Default(), path + "/" + kMarkName,
                           std::string(kMarkFirst) + std::string(kMarkDatabase) + database + "\n",
                           true, FileReaders::kOwner);
    }
    if (!status.ok()) return status;
  }
  Folder folder(path, database);
  if (Status made = folder.MakeFolders(); !made.ok()) return made;
  return folder;
}

Status Folder::MakeFolders() const {
  for (const char* const name : {"backups", "files", "partial"}) {
    if (Status made = MakeOwnFolder(path_ + "/" + name); !made.ok()) return made;
  }
  return {};
}

std::string Folder::ListPath(uint64_t id) const {
  char name[32];
  std::snprintf(name, sizeof(name), "%08llu", static_cast<unsigned long long>(id));
  return path_ + "/backups/" + name;
}

std::string Folder::FilePath(const std::string& sha256) const {
  return FilesPath() + "/" + sha256.substr(0, 2) + "/" + sha256;
}

std::string Folder::PartPath(const std::string& sha256) const { return PartsPath() + "/" + sha256; }

bool Folder::Has(const std::string& sha256, uint64_t size) const {
  std::error_code none;
  const uintmax_t found = fs::file_size(FilePath(sha256), none);
  return !none && found == size;
}

Result<std::map<std::string, uint64_t>> Folder::Stored() const {
  std::map<std::string, uint64_t> stored;
  const Result<std::vector<std::string>> folders = NamesInFolder(FilesPath());
  if (!folders.ok()) return folders.status();
  for (const std::string& folder : *folders) {
    const Result<std::vector<std::string>> names = NamesInFolder(FilesPath() + "/" + folder);
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      if (!text::IsSha256(name) || !name.starts_with(folder)) continue;  // somebody else's
      std::error_code gone;
      const uintmax_t size = fs::file_size(FilePath(name), gone);
      if (!gone) stored[name] = size;
    }
  }
  return stored;
}

// ---- Lists ----

Result<Lists> Folder::ReadLists() const {
  const Result<std::vector<std::string>> names = NamesInFolder(path_ + "/backups");
  if (!names.ok()) return names.status();
  Lists lists;
  for (const std::string& name : *names) {
    uint64_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || end != name.data() + name.size() || name.size() < kIdDigits) {
      continue;  // one that is being written, or somebody else's
    }
    Result<BackupList> list = ReadList(id);
    if (list.ok()) {
      lists.whole.emplace(id, std::move(list).value());
    } else if (list.status().code() != StatusCode::kNotFound) {  // prune may have removed it
      lists.damaged.emplace(id, list.status().message());
    }
  }
  return lists;
}

Result<BackupList> Folder::ReadList(uint64_t id) const {
  const std::string path = ListPath(id);
  const Result<std::string> text = ReadWholeFile(path, kListBytesMost);
  if (text.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(path_ + " has no backup " + std::to_string(id));
  }
  if (!text.ok()) return text.status();
  Result<BackupList> list = ListFromText(*text);
  const Status bad = list.status();
  if (!bad.ok()) return Status(bad.code(), path + ": " + std::string(bad.message()));
  if (list->id != id || list->database != database_) {
    return Status::Corruption(path + " is the list of another backup");
  }
  return list;
}

Status Folder::WriteList(const BackupList& list) const {
  return ReplaceFile(rocksdb::Env::Default(), ListPath(list.id), ListToText(list), true,
                     FileReaders::kOwner);
}

Status Folder::RemoveList(uint64_t id) const {
  Status status = RemoveFile(ListPath(id));
  if (status.ok()) status = SyncFolder(rocksdb::Env::Default(), path_ + "/backups");
  return status;
}

// ---- Locks and claims ----

Result<FileLock> Folder::LockToRead() const {
  return FileLock::Take(path_ + "/LOCK", FileLock::Kind::kTogether, kWaitToRead);
}

Result<FileLock> Folder::LockToPrune() const {
  Result<FileLock> lock = FileLock::Take(path_ + "/LOCK", FileLock::Kind::kAlone, kWaitToPrune);
  if (lock.status().code() == StatusCode::kBusy) {
    return Status::Busy(path_ + " is being read, or pruned, by another process");
  }
  return lock;
}

// With the folder's lock, so that a prune that looks whether a create runs is not taken for one.
Result<FileLock> Folder::LockToCreate() const {
  const Result<FileLock> reading = LockToRead();
  if (!reading.ok()) return reading.status();
  Result<FileLock> lock =
      FileLock::Take(PartsPath() + "/CREATING", FileLock::Kind::kAlone, std::chrono::seconds(0));
  if (lock.status().code() == StatusCode::kBusy) {
    return Status::Busy("another backup is being made in " + path_);
  }
  return lock;
}

Status Folder::Claim(const std::vector<BackedFile>& files, bool first) const {
  const std::string path = PartsPath() + "/CLAIMS";
  std::ofstream claims(path, first ? std::ios::trunc : std::ios::app);
  for (const BackedFile& file : files) claims << file.sha256 << '\n';
  claims.close();  // unsynced: a process that has ended needs no claims
  return claims ? Status() : Status::IOError("can't write " + path);
}

Result<std::set<std::string>> Folder::Claims(bool* runs) const {
  if (Status made = MakeOwnFolder(PartsPath()); !made.ok()) return made;  // a copy may lack it
  {
    const Result<FileLock> lock =
        FileLock::Take(PartsPath() + "/CREATING", FileLock::Kind::kAlone, std::chrono::seconds(0));
    *runs = lock.status().code() == StatusCode::kBusy;
    if (!lock.ok() && !*runs) return lock.status();
  }
  std::set<std::string> claims;
  if (!*runs) return claims;
  const Result<std::string> text = ReadWholeFile(PartsPath() + "/CLAIMS", kClaimsBytesMost);
  if (text.status().code() == StatusCode::kNotFound) return claims;
  if (!text.ok()) return text.status();
  for (size_t at = 0; at + text::kSha256Digits < text->size(); at += text::kSha256Digits + 1) {
    claims.insert(text->substr(at, text::kSha256Digits));
  }
  return claims;
}

}  // namespace seendb::backup
