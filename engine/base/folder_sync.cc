#include "base/folder_sync.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace seendb {

Status SyncFolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && fsync(opened) == 0;
  const Status status =
      synced ? Status() : Status::IOError("can't sync " + folder + ": " + std::strerror(errno));
  if (opened >= 0) close(opened);
  return status;
}

}  // namespace seendb
