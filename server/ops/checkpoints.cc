#include "ops/checkpoints.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace seendb::ops {
namespace {

namespace fs = std::filesystem;

/// The path without links and dots, as far as it exists, and without a slash at its end.
fs::path Real(const std::string& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  return real.has_filename() ? real : real.parent_path();
}

/// No checkpoint's name begins with a dot.
fs::path NoteOf(const std::string& folder) { return fs::path(folder) / ".last"; }

/// 0: nothing was noted, or it can't be read.
int64_t ReadNote(const std::string& folder) {
  std::ifstream file(NoteOf(folder));
  int64_t at_ms = 0;
  return file >> at_ms && at_ms > 0 ? at_ms : 0;
}

}  // namespace

Status NoteCheckpoint(const std::string& folder, int64_t at_ms) {
  const fs::path fresh = NoteOf(folder).string() + ".tmp";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << at_ms << '\n';
    file.close();
    if (!file) return Status::IOError("can't write " + fresh.string());
  }
  std::error_code error;
  fs::rename(fresh, NoteOf(folder), error);
  if (!error) return Status::Ok();
  return Status::IOError("can't rename " + fresh.string() + ": " + error.message());
}

Status CheckCheckpoints(const std::string& folder, const std::string& db) {
  const fs::path outer = Real(db);
  const fs::path inner = Real(folder);
  if (std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end()) {
    return Status::InvalidArgument("lies inside the database", "/checkpoints");
  }
  return Status::Ok();
}

Status PrepareCheckpoints(const std::string& folder, const std::string& db,
                          std::atomic<int64_t>* last_ms) {
  if (folder.empty()) return Status::Ok();
  if (Status status = CheckCheckpoints(folder, db); !status.ok()) return status;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) {
    last_ms->store(ReadNote(folder), std::memory_order_relaxed);
    return Status::Ok();
  }
  return Status::IOError("can't make the folder " + folder + " for checkpoints: " +
                         (error ? error.message() : "something else is there"));
}

}  // namespace seendb::ops
