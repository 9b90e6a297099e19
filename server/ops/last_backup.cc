#include "ops/last_backup.h"

#include <fstream>
#include <sstream>

#include "ops/note_file.h"

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
  std::ostringstream line;
  line << note.at_ms << ' ' << note.id << ' ' << note.bytes << ' ' << note.new_bytes << ' '
       << note.took_ms << '\n';
  return ReplaceNote(path_, line.str());
}

}  // namespace seendb::ops
