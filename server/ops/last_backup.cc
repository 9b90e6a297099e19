#include "ops/last_backup.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace seendb::ops {

void LastBackup::Load(const std::string& db) {
  path_ = db + "/BACKED_UP";
  std::ifstream file(path_);
  BackupNote note;
  const MutexLock lock(mutex_);
  if (file >> note.at_ms >> note.id >> note.bytes >> note.new_bytes >> note.took_ms &&
      note.at_ms > 0) {
    note_ = note;
  }
}

std::optional<BackupNote> LastBackup::note() const {
  const MutexLock lock(mutex_);
  return note_;
}

Status LastBackup::Note(const BackupNote& note) {
  const MutexLock one_writes(writing_);
  {
    const MutexLock lock(mutex_);
    note_ = note;
  }
  if (path_.empty()) return Status::Ok();
  const std::string fresh = path_ + ".tmp";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << note.at_ms << ' ' << note.id << ' ' << note.bytes << ' ' << note.new_bytes << ' '
         << note.took_ms << '\n';
    file.close();
    if (!file) return Status::IOError("can't write " + fresh);
  }
  std::error_code error;
  std::filesystem::rename(fresh, path_, error);
  if (!error) return Status::Ok();
  return Status::IOError("can't rename " + fresh + ": " + error.message());
}

}  // namespace seendb::ops
