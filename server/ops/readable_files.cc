#include "ops/readable_files.h"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::ops {
namespace {

namespace fs = std::filesystem;

constexpr size_t kEntriesMost = 100'000;

bool Allows(const fs::file_status& status, fs::perms wanted) {
  return (status.permissions() & wanted) != fs::perms::none;
}

struct ReadableFiles {
  size_t count = 0;
  std::string example;  // the path of one of them
};

ReadableFiles ReadableByOthers(const std::string& folder) {
  ReadableFiles found;
  std::error_code error;
  if (!Allows(fs::status(folder, error), fs::perms::others_exec)) return found;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (size_t entries = 0; !error && at != fs::end(at) && entries < kEntriesMost; ++entries) {
    const fs::file_status status = at->symlink_status(error);
    if (!error && fs::is_directory(status) && !Allows(status, fs::perms::others_exec)) {
      at.disable_recursion_pending();
    }
    if (!error && fs::is_regular_file(status) && Allows(status, fs::perms::others_read)) {
      if (++found.count == 1) found.example = at->path().string();
    }
    at.increment(error);  // a file that went meanwhile is no error of the next
  }
  return found;
}

}  // namespace

void TellReadableFiles(const std::string& folder) {
  const ReadableFiles found = ReadableByOthers(folder);
  if (found.count == 0) return;
  Log(LogLevel::kWarn, "readable_by_others",
      {{"db", folder},
       {"files", found.count},
       {"example", found.example},
       {"hint", "every user of this machine can read them; do: chmod -R o-rwx " + folder}});
}

}  // namespace seendb::ops
