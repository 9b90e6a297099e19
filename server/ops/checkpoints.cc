#include "ops/checkpoints.h"

#include <algorithm>
#include <filesystem>
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

}  // namespace

Status CheckCheckpoints(const std::string& folder, const std::string& db) {
  const fs::path outer = Real(db);
  const fs::path inner = Real(folder);
  if (std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end()) {
    return Status::InvalidArgument("lies inside the database", "/checkpoints");
  }
  return Status::Ok();
}

Status PrepareCheckpoints(const std::string& folder, const std::string& db) {
  if (folder.empty()) return Status::Ok();
  if (Status status = CheckCheckpoints(folder, db); !status.ok()) return status;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return Status::Ok();
  return Status::IOError("can't make the folder " + folder + " for checkpoints: " +
                         (error ? error.message() : "something else is there"));
}

}  // namespace seendb::ops
