#include "backup/create.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <rocksdb/env.h>

#include "backup/bring.h"
#include "backup/disk.h"
#include "base/disk_file.h"
#include "store/copy_file.h"
#include "store/files.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

using Clock = std::chrono::steady_clock;
using RootFiles = std::map<std::string, std::string>;

/// How often shards are taken again because the collections have changed meanwhile.
constexpr int kAttemptsMost = 5;

int64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

bool MayPass(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kBusy;
}

/// One call of Create.
class CreateRun {
 public:
  CreateRun(Source* source, Meter* meter, const CreateOptions& options)
      : source_(*source), meter_(*meter), options_(options) {}

  Result<BackupList> Run(const std::string& path) {
    list_.began_ms = NowMs();
    Result<Origin> origin = Status::Unavailable("");
    Status status = Patiently([&] { return (origin = source_.Describe()).status(); });
    if (!status.ok()) return status;
    list_.database = origin->database;
    list_.partitions = origin->partitions;
    const Result<Folder> folder = Folder::OpenFor(path, origin->database);
    if (!folder.ok()) return folder.status();
    const Result<FileLock> alone = folder->LockToCreate();
    if (!alone.ok()) return alone.status();
    folder_ = &*folder;
    if (Status numbered = TakeId(); !numbered.ok()) return numbered;
    status = CopyAll(FoldersOf(*origin));
    source_.Drop();
    if (status.ok()) status = SyncNames();
    list_.ended_ms = NowMs();
    if (status.ok()) status = folder_->WriteList(list_);
    if (!status.ok()) return status;
    static_cast<void>(RemoveFile(folder_->PartsPath() + "/CLAIMS"));  // of nobody from now on
    return std::move(list_);
  }

 private:
  Status TakeId() {
    const Result<Lists> lists = folder_->ReadLists();
    if (!lists.ok()) return lists.status();
    list_.id = 1;
    if (!lists->whole.empty()) list_.id = lists->whole.rbegin()->first + 1;
    if (!lists->damaged.empty()) {
      list_.id = std::max(list_.id, lists->damaged.rbegin()->first + 1);
    }
    return {};
  }

  /// Repeats what may pass, as long as something succeeds now and then.
  Status Patiently(const std::function<Status()>& call) {
    for (;;) {
      const Status status = call();
      if (status.ok()) moved_at_ = Clock::now();
      if (!MayPass(status) || meter_.cancelled()) return status;
      if (Clock::now() - moved_at_ >= options_.silent_most) return status;
      if (Status wait = meter_.Wait(options_.pause); !wait.ok()) return wait;
    }
  }

  static std::vector<std::string> FoldersOf(const Origin& origin) {
    std::vector<std::string> folders;
    for (const uint32_t shard : origin.shards) folders.push_back(ShardPath("", shard).substr(1));
    folders.insert(folders.end(), origin.stores.begin(), origin.stores.end());
    return folders;
  }

  /// The collections have to be the same before the first shard is copied and after the last one.
  Status CopyAll(const std::vector<std::string>& folders) {
    Result<RootFiles> before = ReadRootFiles();
    for (int attempt = 0; attempt < kAttemptsMost; ++attempt) {
      if (!before.ok()) return before.status();
      list_.files.clear();
      progress_ = {0, static_cast<uint32_t>(folders.size()), list_.new_bytes};
      for (const std::string& folder : folders) {
        options_.progress(progress_);
        const Status status = Patiently([&] { return CopyPart(folder); });
        if (!status.ok()) return status;
        ++progress_.parts_done;
      }
      Result<RootFiles> after = ReadRootFiles();
      if (!after.ok()) return after.status();
      if (Collections(*before) == Collections(*after)) return CopyRootFiles(*after);
      before = std::move(after);
    }
    return Status::Busy("the collections changed while each of " + std::to_string(kAttemptsMost) +
                        " attempts copied the shards; try again later");
  }

  Result<RootFiles> ReadRootFiles() {
    Result<RootFiles> files = Status::Unavailable("");
    const Status status = Patiently([&] { return (files = source_.RootFiles()).status(); });
    if (!status.ok()) return status;
    return files;
  }

  static std::string Collections(const RootFiles& files) {
    const auto found = files.find("COLLECTIONS");
    return found == files.end() ? "" : found->second;
  }

  Status CopyRootFiles(const RootFiles& files) {
    std::vector<BackedFile> entries;
    for (const auto& [name, bytes] : files) {
      text::Sha256 sum;
      sum.Add(bytes);
      entries.push_back({name, bytes.size(), sum.Digits()});
    }
    return Add(entries, [&](const BackedFile& file, uint64_t offset, uint64_t size, auto* to) {
      *to = files.at(file.path).substr(offset, size);
      return Status();
    });
  }

  Status CopyPart(const std::string& folder) {
    const Result<std::vector<BackedFile>> files = source_.Take(folder);
    if (!files.ok()) return files.status();
    moved_at_ = Clock::now();
    const Status status =
        Add(*files, [&](const BackedFile& file, uint64_t offset, uint64_t size, std::string* to) {
          Status read = source_.Read(file, offset, size, to);
          if (read.ok()) moved_at_ = Clock::now();
          return read;
        });
    if (status.ok() || !MayPass(status)) source_.Drop();  // else the next attempt goes on with it
    return status;
  }

  template <typename Read>
  Status Add(const std::vector<BackedFile>& files, const Read& read) {
    const Result<std::vector<BackedFile>> missing = Missing(files);
    if (!missing.ok()) return missing.status();
    for (const BackedFile& file : *missing) {
      const Status brought = Bring(
          *folder_, file,
          [&](uint64_t offset, uint64_t bytes, std::string* to) {
            return read(file, offset, bytes, to);
          },
          &meter_);
      if (!brought.ok()) return brought;
      list_.new_bytes += file.size;
      progress_.new_bytes = list_.new_bytes;
      options_.progress(progress_);
    }
    list_.files.insert(list_.files.end(), files.begin(), files.end());
    return {};
  }

  /// Claims all of the files, and says which are not there. A file may be in the list twice.
  Result<std::vector<BackedFile>> Missing(const std::vector<BackedFile>& files) {
    const Result<FileLock> lock = folder_->LockToRead();
    if (!lock.ok()) return lock.status();
    if (Status claimed = folder_->Claim(files, !claimed_); !claimed.ok()) return claimed;
    claimed_ = true;
    std::set<std::string> seen;
    std::vector<BackedFile> missing;
    for (const BackedFile& file : files) {
      if (seen.insert(file.sha256).second && !folder_->Has(file.sha256, file.size)) {
        missing.push_back(file);
      }
    }
    return missing;
  }

  /// Syncs all folders: an earlier attempt may have left names that power loss would take.
  Status SyncNames() const {
    rocksdb::Env* const env = rocksdb::Env::Default();
    const Result<std::vector<std::string>> names = NamesInFolder(folder_->FilesPath());
    if (!names.ok()) return names.status();
    Status status = SyncFolder(env, folder_->FilesPath());
    for (const std::string& name : *names) {
      if (status.ok()) status = SyncFolder(env, folder_->FilesPath() + "/" + name);
    }
    return status;
  }

  Source& source_;
  Meter& meter_;
  const CreateOptions& options_;
  const Folder* folder_ = nullptr;
  BackupList list_;
  CreateProgress progress_;
  bool claimed_ = false;
  Clock::time_point moved_at_ = Clock::now();
};

}  // namespace

Result<BackupList> Create(const std::string& path, Source* source, Meter* meter,
                          const CreateOptions& options) {
  return CreateRun(source, meter, options).Run(path);
}

}  // namespace seendb::backup
