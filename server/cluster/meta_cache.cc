#include "cluster/meta_cache.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/folder_sync.h"
#include "base/outside_json.h"

namespace seendb::cluster {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCacheBytesMost = 64u << 20;

Status FileFailed(const char* what, const std::string& path) {
  return Status::IOError(std::string(what) + " " + path + ": " +
                         std::generic_category().message(errno));
}

Status WriteAll(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileFailed("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(file) == 0 ? Status() : FileFailed("sync", path);
}

Status WriteNew(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return FileFailed("open", path);
  Status status = WriteAll(file, bytes, path);
  if (close(file) != 0 && status.ok()) status = FileFailed("close", path);
  return status;
}

std::optional<std::string> ReadSmallFile(const fs::path& path) {
  std::error_code failed;
  const uintmax_t bytes = fs::file_size(path, failed);
  if (failed || bytes > kCacheBytesMost) return {};
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return {};
  return text.str();
}

Status NotOurs(const std::string& db, const std::string& why) {
  return Status::Incompatible(
      db + " " + why +
      "; give the node an empty folder (a database joins by `seendb cluster "
      "init --from`, one with other shards by `seendb reshard`)");
}

}  // namespace

Status WriteMetaCache(const std::string& path, const Meta& meta) {
  const std::string fresh = path + ".new";
  Status status = WriteNew(fresh, meta.ToJson());
  if (!status.ok()) return status;
  if (rename(fresh.c_str(), path.c_str()) != 0) return FileFailed("rename", fresh);
  return SyncFolderOf(path);
}

std::optional<Meta> ReadMetaCache(const std::string& path) {
  const std::optional<std::string> text = ReadSmallFile(path);
  if (!text) return {};
  Result<Meta> meta = Meta::FromJson(*text);
  if (!meta.ok()) return {};
  return std::move(meta).value();
}

Status CheckHome(const std::string& db, const InitRecord& init) {
  std::error_code failed;
  if (!fs::exists(db, failed)) {
    return failed ? Status::IOError("can't read " + db + ": " + failed.message()) : Status();
  }
  bool empty = true;
  for (fs::directory_iterator one(db, failed), end; !failed && one != end; one.increment(failed)) {
    const std::string name = one->path().filename().string();
    empty = empty && (name == kMetaCacheName || name == std::string(kMetaCacheName) + ".new");
  }
  if (failed) return Status::IOError("can't read " + db + ": " + failed.message());
  if (empty) return {};
  const std::optional<std::string> text = ReadSmallFile(fs::path(db) / "SEENDB");
  const auto identity = ParseOutside(text.value_or(""));
  if (!identity.is_object()) return NotOurs(db, "is not empty and holds no database");
  if (identity.value("id", nlohmann::json()) != init.uuid) {
    return NotOurs(db, "holds the database of somebody else");
  }
  if (identity.value("shards", nlohmann::json()) != init.partitions ||
      identity.value("hash", nlohmann::json()) != init.hash ||
      identity.value("hash_key", nlohmann::json("")) != init.key) {
    return NotOurs(db, "holds a database of other shards or of another hash");
  }
  return {};
}

}  // namespace seendb::cluster
