#include "transfer/files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>

#include "base/disk_file.h"
#include "base/folder_sync.h"

namespace seendb::transfer {

Status SyncNames(const std::string& folder) { return SyncFolderOf(folder + "/."); }

Status MakeOwnFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return SyncFolderOf(path);
  if (errno != EEXIST) return DiskFailure("make", path, errno);
  std::error_code failed;
  const auto kind = std::filesystem::symlink_status(path, failed).type();
  if (kind == std::filesystem::file_type::directory) return {};
  return Status::IOError(path + " is no folder");
}

Status RemoveAll(const std::string& path) {
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  return failed ? DiskFailure("remove", path, failed.value()) : Status();
}

Status RenameFolder(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return DiskFailure("rename", from, errno);
  return SyncFolderOf(to);
}

}  // namespace seendb::transfer
