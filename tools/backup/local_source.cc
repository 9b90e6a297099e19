#include "backup/local_source.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <rocksdb/env.h>

#include "backup/disk.h"
#include "base/disk_file.h"
#include "base/whole_file.h"
#include "cluster/meta_cache.h"
#include "store/collections_file.h"
#include "store/copy_file.h"
#include "store/files.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

constexpr size_t kRootFileBytesMost = 64u << 20;

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

LocalSource::LocalSource(Engine* engine, std::string db, StoreCopies stores, Meter* meter)
    : engine_(*engine),
      db_(std::move(db)),
      copy_(db_ + "/" + kTransitName + "/snapshot-backup"),
      stores_(std::move(stores)),
      meter_(*meter) {}

Result<Origin> LocalSource::Describe() {
  const auto identity = ReadIdentity(rocksdb::Env::Default(), db_);
  if (!identity.ok()) return identity.status();
  if (!identity->has_value()) return Status::Corruption(db_ + "/SEENDB is missing");
  Origin origin{(*identity)->id, (*identity)->shards, engine_.AttachedShards()};
  std::error_code none;
  for (const auto& [name, copy] : stores_) {
    if (std::filesystem::exists(db_ + "/" + name + "/CURRENT", none)) origin.stores.push_back(name);
  }
  return origin;
}

Result<std::map<std::string, std::string>> LocalSource::RootFiles() {
  std::map<std::string, std::string> files;
  for (const char* const name : {"SEENDB", kCollectionsName, cluster::kMetaCacheName}) {
    Result<std::string> bytes = ReadWholeFile(db_ + "/" + name, kRootFileBytesMost);
    if (bytes.ok()) {
      files.emplace(name, std::move(bytes).value());
    } else if (bytes.status().code() != StatusCode::kNotFound) {
      return bytes.status();
    }
  }
  return files;
}

Result<std::vector<BackedFile>> LocalSource::Take(const std::string& folder) {
  Drop();
  Status status = MakeOwnFolder(db_ + "/" + kTransitName);
  if (status.ok()) status = Copy(folder);
  if (!status.ok()) return status;
  const Result<std::vector<std::string>> names = NamesInFolder(copy_);
  if (!names.ok()) return names.status();
  std::vector<BackedFile> files;
  for (const std::string& name : *names) {
    Result<BackedFile> file = Sum(name, folder + "/" + name);
    if (!file.ok()) return file.status();
    files.push_back(std::move(file).value());
  }
  return files;
}

Status LocalSource::Copy(const std::string& folder) {
  if (const auto store = stores_.find(folder); store != stores_.end()) {
    return store->second(db_ + "/" + folder, copy_);
  }
  for (const uint32_t shard : engine_.AttachedShards()) {
    if (ShardPath("", shard).substr(1) != folder) continue;
    return engine_.CheckpointShard(shard, copy_).status();
  }
  return Status::NotFound(db_ + " has no " + folder);
}

Result<BackedFile> LocalSource::Sum(const std::string& name, const std::string& path) const {
  if (!IsBackedPath(path)) return Status::Corruption("a copy has the file " + path);
  const Result<DiskFile> file = DiskFile::OpenToRead(copy_ + "/" + name);
  if (!file.ok()) return file.status();
  text::Sha256 sum;
  BackedFile backed;
  backed.path = path;
  std::string piece;
  do {
    if (Status read = file->Read(backed.size, kPieceBytes, &piece); !read.ok()) return read;
    if (Status taken = meter_.Take(piece.size()); !taken.ok()) return taken;
    sum.Add(piece);
    backed.size += piece.size();
  } while (!piece.empty());
  backed.sha256 = sum.Digits();
  return backed;
}

Status LocalSource::Read(const BackedFile& file, uint64_t offset, uint64_t bytes, std::string* to) {
  const Result<DiskFile> opened = DiskFile::OpenToRead(copy_ + "/" + FileName(file.path));
  if (!opened.ok()) return opened.status();
  return opened->Read(offset, bytes, to);
}

void LocalSource::Drop() {
  rocksdb::Env* const env = rocksdb::Env::Default();
  for (const char* const suffix : {"", ".tmp"}) {
    const Status removed = RemoveFolder(env, copy_ + suffix);
    static_cast<void>(removed);  // the next one tries again
  }
}

}  // namespace seendb::backup
