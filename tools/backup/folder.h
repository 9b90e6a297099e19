// backup/folder.h: a folder of backups: where each thing lies in it, its lists and its locks.
// server/doc/backup.md has the layout, and what is atomic in it.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backup/backup_list.h"
#include "backup/file_lock.h"
#include "seendb/status.h"

namespace seendb::backup {

/// The lists of a folder.
struct Lists {
  std::map<uint64_t, BackupList> whole;     ///< by their ids
  std::map<uint64_t, std::string> damaged;  ///< why they can't be read, by their ids
};

/// See the head of this file. Threads: one.
class Folder {
 public:
  /// kNotFound: the folder is missing, or is no folder of backups. kCorruption; kIncompatible:
  /// newer software made it.
  static Result<Folder> Open(const std::string& path);
  /// Opens it for the backups of a database. Makes it if the folder is missing or empty.
  /// kIncompatible: something else is there, or the backups of another database.
  static Result<Folder> OpenFor(const std::string& path, const std::string& database);

  const std::string& path() const { return path_; }
  /// The id of the database whose backups these are.
  const std::string& database() const { return database_; }

  /// Reads every list. kIOError.
  Result<Lists> ReadLists() const;
  /// Reads one. kNotFound; kCorruption and kIncompatible by the list's path.
  Result<BackupList> ReadList(uint64_t id) const;
  /// Writes the list of a backup whose files are all there, synced: from then on it is a backup.
  Status WriteList(const BackupList& list) const;
  Status RemoveList(uint64_t id) const;

  /// The path of a list.
  std::string ListPath(uint64_t id) const;
  /// The path of a file that is stored.
  std::string FilePath(const std::string& sha256) const;
  /// The path of a file while it comes.
  std::string PartPath(const std::string& sha256) const;
  std::string PartsPath() const { return path_ + "/partial"; }
  std::string FilesPath() const { return path_ + "/files"; }
  /// Whether a file is stored, with so many bytes.
  bool Has(const std::string& sha256, uint64_t size) const;
  /// The names and sizes of all files that are stored. kIOError.
  Result<std::map<std::string, uint64_t>> Stored() const;

  /// Readers hold this lock together. Waits while a prune runs.
  Result<FileLock> LockToRead() const;
  /// A prune holds this lock alone: waits for readers. kBusy: they read for longer than a minute.
  Result<FileLock> LockToPrune() const;
  /// A create holds this lock alone. kBusy: another one runs.
  Result<FileLock> LockToCreate() const;

  /// Notes that the create that runs needs these files. Precondition: LockToRead is held until it
  /// is known which of them are there.
  Status Claim(const std::vector<BackedFile>& files, bool first) const;
  /// The files that a create that runs needs; none where none runs. Precondition: LockToPrune is
  /// held. `runs`: whether one does.
  Result<std::set<std::string>> Claims(bool* runs) const;

 private:
  Folder(std::string path, std::string database)
      : path_(std::move(path)), database_(std::move(database)) {}
  Status MakeFolders() const;

  std::string path_, database_;
};

}  // namespace seendb::backup
