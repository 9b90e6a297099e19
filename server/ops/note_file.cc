#include "ops/note_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace seendb::ops {

Status ReplaceNote(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".tmp";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << text;
    file.close();
    if (!file) return Status::IOError("can't write " + fresh);
  }
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (!error) return Status::Ok();
  return Status::IOError("can't rename " + fresh + ": " + error.message());
}

}  // namespace seendb::ops
