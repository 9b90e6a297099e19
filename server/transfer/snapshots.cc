#include "transfer/snapshots.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/disk_file.h"
#include "text/sha256.h"
#include "transfer/files.h"

namespace seendb::transfer {
namespace {

namespace fs = std::filesystem;

constexpr char kCopyPrefix[] = "snapshot-";
constexpr std::chrono::milliseconds kLookEvery{1'000};

std::string RandomId() {
  std::random_device random;
  char id[24];
  std::snprintf(id, sizeof(id), "%08x%08x", random(), random());
  return id;
}

std::string PartFolder(const std::string& db, const CopyPart& part) {
  if (!part.store.empty()) return db + "/" + part.store;
  char name[24];
  std::snprintf(name, sizeof(name), "/shard-%04u", part.shard);
  return db + name;
}

std::string PartText(const CopyPart& part) {
  return part.store.empty() ? "shard " + std::to_string(part.shard) : "the " + part.store;
}

Status NotTaken() { return Status::Unavailable("the node gives no copies of shards now"); }

}  // namespace

Snapshots::Snapshots(SnapshotSettings settings)
    : settings_(std::move(settings)), throttle_(settings_.bytes_per_s) {}

Snapshots::~Snapshots() { Stop(); }

std::string Snapshots::PathOf(const std::string& id) const {
  return settings_.db + "/" + kTransitName + "/" + kCopyPrefix + id;
}

Status Snapshots::Start(Engine* engine) {
  if (Status removed = RemoveLeftovers(); !removed.ok()) return removed;
  {
    const MutexLock lock(mutex_);
    engine_ = engine;
  }
  worker_.Start("copies", [this] { Run(); });
  return {};
}

/// A process that was killed has left them.
Status Snapshots::RemoveLeftovers() const {
  const std::string transit = settings_.db + "/" + kTransitName;
  std::error_code none;
  if (!fs::exists(transit, none)) return {};
  const Result<std::vector<std::string>> names = NamesInFolder(transit);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!name.starts_with(kCopyPrefix)) continue;
    if (Status removed = RemoveAll(transit + "/" + name); !removed.ok()) return removed;
  }
  return {};
}

void Snapshots::Stop() {
  std::map<std::string, Copy> copies;
  std::deque<Job> jobs;
  {
    const MutexLock lock(mutex_);
    engine_ = nullptr;
    copies.swap(copies_);
    jobs.swap(jobs_);
  }
  for (const Job& job : jobs) job.done(NotTaken());
  worker_.Stop();
  for (const auto& [id, copy] : copies) {
    // One that is being made is removed by its maker; what stays is removed at the next start.
    if (copy.made) static_cast<void>(RemoveAll(PathOf(id)));
  }
}

bool Snapshots::stopping() const {
  const MutexLock lock(mutex_);
  return engine_ == nullptr;
}

// ---- Making a copy ----

Result<Manifest> Snapshots::Reserve(const CopyPart& part, const CopyRequest& request,
                                    Engine** engine) {
  const MutexLock lock(mutex_);
  *engine = engine_;
  if (engine_ == nullptr) return NotTaken();
  for (auto& [id, copy] : copies_) {
    if (copy.node != request.node || !(copy.manifest.part == part)) continue;
    if (!copy.made || copy.run != request.run) {
      return Status::Unavailable("the copy of " + PartText(part) + " is being made");
    }
    copy.used = Clock::now();
    return copy.manifest;
  }
  if (copies_.size() >= kCopiesMost) {
    return Status::Busy("the node keeps " + std::to_string(kCopiesMost) +
                        " copies of shards already; ask again later");
  }
  Copy copy{.node = request.node,
            .run = request.run,
            .manifest = {},
            .made = false,
            .used = Clock::now()};
  copy.manifest.id = RandomId();
  copy.manifest.part = part;
  copy.manifest.kind = request.kind;
  const std::string id = copy.manifest.id;
  return copies_.emplace(id, std::move(copy)).first->second.manifest;
}

Result<Manifest> Snapshots::Make(const CopyPart& part, const CopyRequest& request) {
  const Result<CopyKind> kind = ReadKind(settings_.db);
  if (!kind.ok()) return kind.status();
  if (Status same = CheckSameKind(*kind, request.kind); !same.ok()) return same;
  EndOtherRuns(request);
  Engine* engine = nullptr;
  Result<Manifest> manifest = Reserve(part, request, &engine);
  if (!manifest.ok() || !manifest->files.empty()) return manifest;
  const std::string id = manifest->id;
  Status status = CheckRoom(part);
  if (status.ok()) status = Fill(engine, request.sha256, &*manifest);
  {
    const MutexLock lock(mutex_);
    const auto at = copies_.find(id);
    if (status.ok() && at != copies_.end()) {
      at->second = {request.node, request.run, *manifest, true, Clock::now()};
      return manifest;
    }
    if (status.ok()) status = NotTaken();
    if (at != copies_.end()) copies_.erase(at);
  }
  static_cast<void>(RemoveAll(PathOf(id)));  // the next start tries again
  return status;
}

/// Tables are linked; logs, and what is small, are copied.
Status Snapshots::CheckRoom(const CopyPart& part) const {
  const std::string folder = PartFolder(settings_.db, part);
  const Result<std::vector<std::string>> names = NamesInFolder(folder);
  if (!names.ok()) {
    return part.store.empty() ? Status::Unavailable(PartText(part) + " is not here")
                              : Status::NotFound(PartText(part) + " are not here");
  }
  uint64_t needed = 0;
  for (const std::string& name : *names) {
    std::error_code gone;  // files come and go
    const uintmax_t size = name.ends_with(".sst") ? 0 : fs::file_size(folder + "/" + name, gone);
    if (!gone) needed += size;
  }
  return CheckFreeSpace(settings_.free_space, settings_.db, needed, settings_.reserve_bytes,
                        "a copy of " + PartText(part));
}

void Snapshots::EndOtherRuns(const CopyRequest& request) {
  std::vector<std::string> others;
  {
    const MutexLock lock(mutex_);
    std::erase_if(copies_, [&](const auto& one) {
      const Copy& copy = one.second;
      const bool other = copy.made && copy.node == request.node && copy.run != request.run;
      if (other) others.push_back(one.first);
      return other;
    });
  }
  for (const std::string& id : others) {
    static_cast<void>(RemoveAll(PathOf(id)));  // the next start tries again
  }
}

Status Snapshots::CopyTo(const std::string& folder, const CopyPart& part, Engine* engine) const {
  if (part.store.empty()) return engine->CheckpointShard(part.shard, folder).status();
  const auto store = settings_.stores.find(part.store);
  const Result<bool> copied =
      store == settings_.stores.end() ? Result<bool>(false) : store->second(folder);
  if (!copied.ok()) return copied.status();
  return *copied ? Status() : Status::NotFound(PartText(part) + " are not here");
}

Status Snapshots::Fill(Engine* engine, bool sha256, Manifest* manifest) {
  const CopyPart& part = manifest->part;
  // Before the copy is made: it has read at least as far.
  for (const SourceInfo& source : engine->Sources()) {
    if (!part.store.empty() || source.partition != part.shard || !source.next_of_shard) continue;
    manifest->next_offsets.push_back({source.topic, source.partition, *source.next_of_shard});
  }
  const std::string folder = PathOf(manifest->id);
  const Status home = MakeOwnFolder(settings_.db + "/" + kTransitName);
  if (!home.ok()) return home;
  if (const Status copied = CopyTo(folder, part, engine); !copied.ok()) return copied;
  const Result<std::vector<std::string>> names = NamesInFolder(folder);
  if (!names.ok()) return names.status();
  Throttle pace(settings_.bytes_per_s);
  for (const std::string& name : *names) {
    if (Status added = AddFile(folder, name, sha256 ? &pace : nullptr, manifest); !added.ok())
      return added;
  }
  return {};
}

Status Snapshots::AddFile(const std::string& folder, const std::string& name, Throttle* pace,
                          Manifest* manifest) {
  if (!IsCopyFileName(name)) return Status::Corruption("a copy has the file " + name);
  const Result<DiskFile> file = DiskFile::OpenToRead(folder + "/" + name);
  if (!file.ok()) return file.status();
  Crc32c sum;
  std::optional<text::Sha256> sha;
  if (pace != nullptr) sha.emplace();
  uint64_t size = 0;
  std::string piece;
  do {
    const int64_t at_us = pace == nullptr ? 0 : pace->Take(piece.size(), NowUs());
    std::this_thread::sleep_until(Clock::time_point(std::chrono::microseconds(at_us)));
    if (stopping()) return NotTaken();
    if (Status read = file->Read(size, kPieceBytes, &piece); !read.ok()) return read;
    sum.Add(piece);
    if (sha) sha->Add(piece);
    size += piece.size();
  } while (!piece.empty());
  manifest->files.push_back({name, size, sum.value(), sha ? sha->Digits() : std::string()});
  return {};
}

Status Snapshots::End(const CopyPart& part, const std::string& id) {
  {
    const MutexLock lock(mutex_);
    const auto at = copies_.find(id);
    if (at == copies_.end() || !at->second.made || !(at->second.manifest.part == part)) {
      return Status::NotFound("no such copy of " + PartText(part));
    }
    copies_.erase(at);
  }
  return RemoveAll(PathOf(id));
}

// ---- Giving it away ----

Result<Snapshots::Job> Snapshots::JobFor(const CopyPart& part, const std::string& id,
                                         const std::string& name, PieceRange range) {
  if (engine_ == nullptr) return NotTaken();
  const auto at = copies_.find(id);
  if (at == copies_.end() || !at->second.made || !(at->second.manifest.part == part)) {
    return Status::NotFound("no such copy of " + PartText(part));
  }
  Copy& copy = at->second;
  copy.used = Clock::now();
  const auto entry = std::find_if(copy.manifest.files.begin(), copy.manifest.files.end(),
                                  [&](const CopyEntry& one) { return one.name == name; });
  if (entry == copy.manifest.files.end()) return Status::NotFound("the copy has no such file");
  if (range.offset >= entry->size || range.bytes == 0) {
    return Status::InvalidArgument(
        "begins behind the end of the file, which has " + std::to_string(entry->size) + " bytes",
        "/Range");
  }
  if (jobs_.size() >= kReadsMost) return Status::Busy("too many pieces are asked for");
  range.bytes = std::min({range.bytes, entry->size - range.offset, uint64_t{kPieceBytes}});
  return Job{PathOf(id) + "/" + name, entry->size, range, {}};
}

void Snapshots::Read(const CopyPart& part, const std::string& id, const std::string& name,
                     PieceRange range, std::function<void(Result<Piece>)> done) {
  Status refusal;
  std::function<void(Result<Piece>)> refused;  // who is told so
  {
    const MutexLock lock(mutex_);
    Result<Job> job = JobFor(part, id, name, range);
    if (job.ok()) {
      job->done = std::move(done);
      jobs_.push_back(std::move(job).value());
    } else {
      refused = std::move(done);
      refusal = job.status();
    }
  }
  if (refused) return refused(refusal);
  worker_.Wake();
}

std::optional<Snapshots::Job> Snapshots::NextJob() {
  const MutexLock lock(mutex_);
  if (jobs_.empty()) return {};
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

bool Snapshots::SleepUntil(int64_t at_us) {
  return worker_.Pause(Clock::time_point(std::chrono::microseconds(at_us)) - Clock::now());
}

void Snapshots::RemoveOld() {
  std::vector<std::string> old;
  {
    const MutexLock lock(mutex_);
    const Clock::time_point since = Clock::now() - settings_.keep;
    std::erase_if(copies_, [&](const auto& one) {
      const bool is_old = one.second.made && one.second.used < since;
      if (is_old) old.push_back(one.first);
      return is_old;
    });
  }
  for (const std::string& id : old) {
    static_cast<void>(RemoveAll(PathOf(id)));  // the next start tries again
  }
}

void Snapshots::Give(const Job& job) {
  if (!SleepUntil(throttle_.Take(job.range.bytes, NowUs()))) return job.done(NotTaken());
  Piece piece;
  piece.file_size = job.file_size;
  const Result<DiskFile> file = DiskFile::OpenToRead(job.path);
  Status status =
      file.ok() ? file->Read(job.range.offset, job.range.bytes, &piece.bytes) : file.status();
  if (status.ok() && piece.bytes.size() < job.range.bytes) {
    status = Status::Corruption("the file became shorter: " + job.path);
  }
  if (!status.ok()) return job.done(status);
  job.done(std::move(piece));
}

void Snapshots::Run() {
  while (!stopping()) {
    try {
      worker_.WaitFor(std::min<std::chrono::milliseconds>(settings_.keep, kLookEvery));
      while (const std::optional<Job> job = NextJob()) {
        Give(*job);
        RemoveOld();
      }
      RemoveOld();
    } catch (const std::exception&) {
      // Out of memory: who asked for a piece is answered 500, and asks again.
    }
  }
}

}  // namespace seendb::transfer
