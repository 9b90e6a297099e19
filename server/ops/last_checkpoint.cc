#include "ops/last_checkpoint.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace seendb::ops {

void LastCheckpoint::Load(const std::string& db) {
  path_ = db + "/CHECKPOINTED";
  std::ifstream file(path_);
  int64_t at_ms = 0;
  at_ms_.store(file >> at_ms && at_ms > 0 ? at_ms : 0, std::memory_order_relaxed);
}

Status LastCheckpoint::Note(int64_t at_ms) {
  at_ms_.store(at_ms, std::memory_order_relaxed);
  if (path_.empty()) return Status::Ok();
  const std::string fresh = path_ + ".tmp";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << at_ms << '\n';
    file.close();
    if (!file) return Status::IOError("can't write " + fresh);
  }
  std::error_code error;
  std::filesystem::rename(fresh, path_, error);
  if (!error) return Status::Ok();
  return Status::IOError("can't rename " + fresh + ": " + error.message());
}

}  // namespace seendb::ops
