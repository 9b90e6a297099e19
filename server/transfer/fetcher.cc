#include "transfer/fetcher.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/disk_file.h"
#include "transfer/files.h"
#include "transfer/peer.h"

namespace seendb::transfer {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kPieceBytes = 1u << 20;
constexpr std::chrono::milliseconds kLook{100};
/// Copies that are begun in one fetch: a source that gives up one after the other is left to
/// another fetch.
constexpr int kCopiesMost = 1'000;

std::string FolderOf(const std::string& db, uint32_t shard) {
  char name[24];
  std::snprintf(name, sizeof(name), "/fetch-%04u", shard);
  return db + "/" + kTransitName + name;
}

/// Where it lies while it is not whole.
std::string PartOf(const std::string& folder) { return folder + ".part"; }

Status IsCancelled() { return Status::Unavailable("the fetch was cancelled"); }

/// Whether another try may go better.
bool MayPass(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kBusy;
}

/// The bytes of a file; 0 where there is none.
uint64_t SizeOf(const std::string& path) {
  std::error_code none;
  const uintmax_t size = fs::file_size(path, none);
  return none ? 0 : size;
}

}  // namespace

/// One fetch.
class FetchRun {
 public:
  FetchRun(Fetcher* of, uint32_t shard, const std::string& node, net::StreamTarget target,
           const std::function<bool()>& cancelled)
      : of_(*of),
        settings_(of->settings_),
        shard_(shard),
        cancelled_(cancelled),
        peer_({node, std::move(target), settings_.tls, settings_.proofs}, settings_.answer_timeout),
        folder_(FolderOf(settings_.db, shard)),
        part_(PartOf(folder_)) {}

  Result<Fetched> Run() {
    const Result<CopyKind> kind = ReadKind(settings_.db);
    if (!kind.ok()) return kind.status();
    Status status = PrepareFolder();
    while (status.ok()) {
      status = FetchFrom(*kind);
      if (status.ok()) return std::move(fetched_);
      const bool full = status.code() == StatusCode::kBusy && fetched_.bytes == 0;
      if (full || !MayPass(status)) break;  // another node may have a copy to give
      const auto now = Clock::now();
      if (now - answered_at_ > settings_.silent_most || now - moved_at_ > settings_.stuck_most) {
        break;
      }
      status = Sleep(NowUs() + settings_.pause.count() * 1'000);
    }
    return status;
  }

 private:
  /// An attempt of before may have brought all, or part of it.
  Status PrepareFolder() {
    if (Status made = MakeOwnFolder(settings_.db + "/" + kTransitName); !made.ok()) return made;
    std::error_code none;
    if (fs::exists(fs::symlink_status(folder_, none))) {
      Status status = RemoveAll(part_);
      if (status.ok()) status = RenameFolder(folder_, part_);
      if (!status.ok()) return status;
    }
    return MakeOwnFolder(part_);
  }

  Status FetchFrom(const CopyKind& kind) {
    const Result<Manifest> manifest = Asked(peer_.Make(shard_, {settings_.node, kind}));
    if (!manifest.ok()) return manifest.status();
    if (++copies_ > kCopiesMost) {
      return Status::Corruption("the node has begun " + std::to_string(kCopiesMost) +
                                " copies and ended none");
    }
    Status status = CheckManifest(kind, *manifest);
    if (status.ok()) status = MakeRoom(*manifest);
    for (const CopyEntry& entry : manifest->files) {
      if (status.ok()) status = FetchFile(manifest->id, entry);
    }
    if (status.ok()) status = SyncNames(part_);
    if (status.ok()) status = RenameFolder(part_, folder_);
    // It is the source that ends a copy which nobody ends.
    if (status.ok() || !MayPass(status)) static_cast<void>(peer_.End(shard_, manifest->id));
    fetched_.folder = folder_;
    fetched_.next_offsets = manifest->next_offsets;
    return status;
  }

  template <typename Answer>
  Answer Asked(Answer answer) {
    if (peer_.answered()) answered_at_ = Clock::now();
    return answer;
  }

  Status CheckManifest(const CopyKind& kind, const Manifest& manifest) const {
    if (Status same = CheckSameKind(kind, manifest.kind); !same.ok()) return same;
    if (manifest.part == CopyPart(shard_)) return {};
    return Status::Corruption("asked for shard " + std::to_string(shard_) + ", the node gives " +
                              std::to_string(manifest.part.shard));
  }

  /// What is no part of the copy goes; what is to come has to fit.
  Status MakeRoom(const Manifest& manifest) {
    std::set<std::string_view> names;
    uint64_t here = 0;
    for (const CopyEntry& entry : manifest.files) {
      names.insert(entry.name);
      here += std::min(SizeOf(part_ + "/" + entry.name), entry.size);
    }
    std::error_code failed;
    std::vector<std::string> others;
    for (fs::directory_iterator one(part_, failed), end; !failed && one != end;
         one.increment(failed)) {
      if (!names.contains(one->path().filename().string())) others.push_back(one->path().string());
    }
    if (failed) return Status::IOError("can't list " + part_ + ": " + failed.message());
    for (const std::string& path : others) {
      if (Status removed = RemoveAll(path); !removed.ok()) return removed;
    }
    fetched_.kept = 0;
    Tell(0, manifest.Bytes());
    return CheckFreeSpace(settings_.free_space, settings_.db, manifest.Bytes() - here,
                          settings_.reserve_bytes, "shard " + std::to_string(shard_));
  }

  /// What an attempt of before has brought of a file may be of another copy: the checksum tells,
  /// and then all of it is fetched.
  Status FetchFile(const std::string& id, const CopyEntry& entry) {
    Result<DiskFile> file = DiskFile::OpenToAppend(part_ + "/" + entry.name);
    if (!file.ok()) return file.status();
    Crc32c sum;
    uint64_t kept = 0;
    Status status = Keep(*file, entry, &sum, &kept);
    if (status.ok()) status = FetchRest(id, entry, kept, *file, &sum);
    if (status.ok() && kept > 0 && sum.value() != entry.crc32c) {
      sum = {};
      kept = 0;
      status = file->Empty();
      if (status.ok()) status = FetchRest(id, entry, 0, *file, &sum);
    }
    if (!status.ok()) return status;
    if (sum.value() != entry.crc32c) {
      static_cast<void>(file->Empty());
      char text[64];
      std::snprintf(text, sizeof(text), "crc32c is %08x, and should be %08x", sum.value(),
                    entry.crc32c);
      return Status::Corruption(entry.name + " of shard " + std::to_string(shard_) +
                                " came damaged: " + text);
    }
    fetched_.kept += kept;
    Tell(kept, 0);
    return file->Sync();
  }

  Status Keep(DiskFile& file, const CopyEntry& entry, Crc32c* sum, uint64_t* kept) {
    const Result<uint64_t> size = file.Size();
    if (!size.ok()) return size.status();
    if (*size > entry.size) return file.Empty();
    std::string piece;
    while (*kept < *size) {
      if (cancelled_()) return IsCancelled();
      if (Status read = file.Read(*kept, kPieceBytes, &piece); !read.ok()) return read;
      if (piece.empty()) return Status::IOError(entry.name + " became shorter");
      sum->Add(piece);
      *kept += piece.size();
    }
    return {};
  }

  Status FetchRest(const std::string& id, const CopyEntry& entry, uint64_t offset, DiskFile& file,
                   Crc32c* sum) {
    while (offset < entry.size) {
      const uint64_t wanted = std::min(entry.size - offset, kPieceBytes);
      if (Status status = Sleep(of_.When(wanted)); !status.ok()) return status;
      Result<FetchedPiece> piece = Asked(peer_.Read(shard_, id, entry.name, offset, wanted));
      if (piece.status().code() == StatusCode::kNotFound) {
        return Status::Unavailable("the node keeps the copy no longer");  // it makes another
      }
      if (!piece.ok()) return piece.status();
      if (piece->file_size != entry.size) {
        return Status::Corruption(entry.name + " has " + std::to_string(piece->file_size) +
                                  " bytes, and should have " + std::to_string(entry.size));
      }
      if (piece->bytes.size() != wanted) {  // a byte at a time would last for ever
        return Status::Corruption(entry.name + ": asked for " + std::to_string(wanted) +
                                  " bytes, the node gives " + std::to_string(piece->bytes.size()));
      }
      if (Status written = file.Append(piece->bytes); !written.ok()) return written;
      sum->Add(piece->bytes);
      offset += piece->bytes.size();
      fetched_.bytes += piece->bytes.size();
      of_.fetched_bytes_.fetch_add(piece->bytes.size(), std::memory_order_relaxed);
      moved_at_ = Clock::now();
      Tell(piece->bytes.size(), 0);
    }
    return {};
  }

  /// kUnavailable once it is cancelled.
  Status Sleep(int64_t until_us) const {
    for (int64_t now_us = NowUs();; now_us = NowUs()) {
      if (cancelled_()) return IsCancelled();
      if (now_us >= until_us) return {};
      std::this_thread::sleep_for(
          std::min<Clock::duration>(kLook, std::chrono::microseconds(until_us - now_us)));
    }
  }

  /// `total`: the count begins anew.
  void Tell(uint64_t bytes, uint64_t total) { of_.Tell(shard_, bytes, total); }

  Fetcher& of_;
  const FetchSettings& settings_;
  const uint32_t shard_;
  const std::function<bool()>& cancelled_;
  Peer peer_;
  const std::string folder_, part_;
  Fetched fetched_;
  int copies_ = 0;
  Clock::time_point answered_at_ = Clock::now(), moved_at_ = answered_at_;
};

Status Fetcher::Begin(uint32_t shard, const std::string& url) {
  const MutexLock lock(mutex_);
  if (running_.contains(shard)) {
    return Status::Busy("shard " + std::to_string(shard) + " is being fetched");
  }
  if (running_.size() >= kFetchesMost) {
    return Status::Busy(std::to_string(kFetchesMost) + " shards are being fetched");
  }
  running_[shard].url = url;
  return {};
}

void Fetcher::End(uint32_t shard) {
  const MutexLock lock(mutex_);
  running_.erase(shard);
}

int64_t Fetcher::When(uint64_t bytes) {
  const MutexLock lock(mutex_);
  return throttle_.Take(bytes, NowUs());
}

void Fetcher::Tell(uint32_t shard, uint64_t bytes, uint64_t total) {
  const MutexLock lock(mutex_);
  FetchProgress& progress = running_[shard];
  if (total > 0) progress = {progress.url, 0, total, Clock::now()};
  progress.bytes += bytes;
}

Result<Fetched> Fetcher::Fetch(uint32_t shard, const Giver& giver,
                               const std::function<bool()>& cancelled) {
  Result<net::StreamTarget> target = net::TargetOf(giver.url);
  if (!target.ok()) return target.status();
  if (settings_.tls_alone && !target->secure) {
    return Status::InvalidArgument(giver.url + " is not asked: it is not https", "/url");
  }
  if (Status begun = Begin(shard, giver.url); !begun.ok()) return begun;
  FetchRun run(this, shard, giver.node, std::move(target).value(), cancelled);
  Result<Fetched> fetched = run.Run();
  End(shard);
  return fetched;
}

Result<Fetched> Fetcher::FetchFromOne(uint32_t shard, const std::vector<Giver>& givers,
                                      const std::function<bool()>& cancelled) {
  Result<Fetched> fetched = Status::NotFound("no node has a copy to give");
  for (const Giver& giver : givers) {
    fetched = Fetch(shard, giver, cancelled);
    const bool ours = fetched.status().code() == StatusCode::kIOError;  // the disk's, here
    if (fetched.ok() || ours || cancelled()) break;
  }
  return fetched;
}

Status Fetcher::Discard(uint32_t shard) {
  if (Status begun = Begin(shard, ""); !begun.ok()) return begun;
  Status status = RemoveAll(FolderOf(settings_.db, shard));
  if (status.ok()) status = RemoveAll(PartOf(FolderOf(settings_.db, shard)));
  End(shard);
  return status;
}

std::map<uint32_t, FetchProgress> Fetcher::Progress() const {
  const MutexLock lock(mutex_);
  return running_;
}

}  // namespace seendb::transfer
