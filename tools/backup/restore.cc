#include "backup/restore.h"

#include <set>
#include <vector>

#include <rocksdb/env.h>

#include "backup/disk.h"
#include "base/disk_file.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

constexpr char kMark[] = "RESTORING";
constexpr size_t kNamedMost = 10;

/// kCorruption, naming them, if files of the backup are missing.
Status CheckThere(const Folder& folder, const BackupList& list) {
  std::string lacking;
  std::set<std::string> missing;
  for (const BackedFile& file : list.files) {
    if (folder.Has(file.sha256, file.size) || !missing.insert(file.sha256).second) continue;
    if (missing.size() > kNamedMost) continue;
    lacking +=
        (lacking.empty() ? "" : ", ") + folder.FilePath(file.sha256) + " (" + file.path + ")";
  }
  if (missing.empty()) return {};
  if (missing.size() > kNamedMost) {
    lacking += " and " + std::to_string(missing.size() - kNamedMost) + " more";
  }
  return Status::Corruption("backup " + std::to_string(list.id) + " lacks " + lacking);
}

Status CopyOut(const Folder& folder, const BackedFile& file, const std::string& target,
               Meter* meter) {
  const std::string stored = folder.FilePath(file.sha256);
  const Result<DiskFile> from = DiskFile::OpenToRead(stored);
  if (!from.ok()) return from.status();
  Result<DiskFile> to = DiskFile::OpenToAppend(target + "/" + file.path);
  if (!to.ok()) return to.status();
  text::Sha256 sum;
  std::string piece;
  uint64_t at = 0;
  do {
    Status status = meter->Take(piece.size());
    if (status.ok()) status = from->Read(at, kPieceBytes, &piece);
    if (status.ok()) status = to->Append(piece);
    if (!status.ok()) return status;
    sum.Add(piece);
    at += piece.size();
  } while (!piece.empty());
  if (sum.Digits() != file.sha256) {
    return Status::Corruption(stored + " (" + file.path + ") is damaged");
  }
  return to->Sync();
}

Status Fill(const Folder& folder, const BackupList& list, const std::string& target, Meter* meter) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::set<std::string> folders;
  for (const BackedFile& file : list.files) {
    const size_t slash = file.path.find('/');
    if (slash != std::string::npos) {
      const std::string shard = target + "/" + file.path.substr(0, slash);
      if (folders.insert(shard).second) {
        if (Status made = MakeOwnFolder(shard); !made.ok()) return made;
      }
    }
    if (Status copied = CopyOut(folder, file, target, meter); !copied.ok()) return copied;
  }
  Status status = SyncFolder(env, target);
  for (const std::string& shard : folders) {
    if (status.ok()) status = SyncFolder(env, shard);
  }
  return status;
}

}  // namespace

Status Restore(const Folder& folder, const BackupList& list, const std::string& given,
               Meter* meter) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::string target = given;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  const Result<PathKind> found = KindOfPath(env, target);
  if (!found.ok()) return found.status();
  if (*found != PathKind::kNothing) {
    return Status::Incompatible(target + " exists; name a folder that does not");
  }
  if (Status whole = CheckThere(folder, list); !whole.ok()) return whole;
  const MarkedFolder fresh{target + ".restoring", kMark};
  Status status = fresh.RemoveLeftover(env);
  if (status.ok()) status = fresh.Make(env);
  if (!status.ok()) return status;
  status = Fill(folder, list, fresh.path, meter);
  if (status.ok()) {
    status = FromRocks(env->RenameFile(fresh.path, target), "rename " + fresh.path);
  }
  if (!status.ok()) {
    static_cast<void>(fresh.RemoveLeftover(env));  // the next one tries again
    return status;
  }
  // Under the target's name the mark means nothing: one that stays does no harm.
  static_cast<void>(RemoveFile(target + "/" + kMark));
  return SyncFolder(env, FolderOf(target));
}

}  // namespace seendb::backup
