#include "ops/last_checkpoint.h"

#include <fstream>
#include <string>

#include "ops/note_file.h"

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
  return ReplaceNote(path_, std::to_string(at_ms) + '\n');
}

}  // namespace seendb::ops
