#include "backup/disk.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <rocksdb/env.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk_file.h"
#include "store/copy_file.h"

namespace seendb::backup {

Status MakeOwnFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    std::string plain = path;
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return SyncFolder(rocksdb::Env::Default(), FolderOf(plain));
  }
  if (errno != EEXIST) return DiskFailure("make", path, errno);
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) return {};
  return Status::IOError(path + " is no folder");
}

Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return DiskFailure("remove", path, errno);
}

}  // namespace seendb::backup
