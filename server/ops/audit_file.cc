#include "ops/audit_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder_sync.h"
#include "ops/log.h"

namespace seendb::ops {
namespace {

/// Between two tries of reserved lines that could not be written.
constexpr std::chrono::seconds kRetryAfter{1};

std::string ErrorText() { return std::strerror(errno); }

/// What an audit can be written to: a file that its owner alone may write, or a device.
Status CheckKind(const struct stat& about, const std::string& path) {
  if (S_ISCHR(about.st_mode)) return {};
  if (!S_ISREG(about.st_mode)) return Status::InvalidArgument(path + " is no file");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Status::InvalidArgument(path + " can be written by others; do: chmod go-w " + path);
}

/// Opens the file. `*torn`: it does not end with a line break.
Status OpenToAppend(const std::string& path, int* fd, bool* torn) {
  constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP;
  const int opened = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, kMode);
  if (opened < 0) return Status::IOError("can't open " + path + ": " + ErrorText());
  struct stat about {};
  Status status;
  if (fstat(opened, &about) != 0) status = Status::IOError("can't read " + path);
  if (status.ok()) status = CheckKind(about, path);
  const bool is_new = S_ISREG(about.st_mode) && about.st_size == 0;
  if (status.ok() && is_new) status = SyncFolderOf(path);
  if (!status.ok()) {
    close(opened);
    return status;
  }
  char last = '\n';
  const bool holds = S_ISREG(about.st_mode) && about.st_size > 0;
  *torn = holds && (pread(opened, &last, 1, about.st_size - 1) != 1 || last != '\n');
  *fd = opened;
  return status;
}

}  // namespace

Status CheckAuditFile(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) == 0) {
    if (Status kind = CheckKind(about, path); !kind.ok()) return kind;
    if (access(path.c_str(), R_OK | W_OK) == 0) return {};
    return Status::InvalidArgument("this user may not read and write " + path);
  }
  if (errno != ENOENT) return Status::IOError("can't read " + path + ": " + ErrorText());
  std::error_code error;
  const std::string folder = std::filesystem::absolute(path, error).parent_path();
  if (!error && access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Status::InvalidArgument("this user can't make a file in " + folder);
}

Result<std::unique_ptr<AuditFile>> AuditFile::Open(std::string path) {
  int fd = -1;
  bool torn = false;
  if (Status status = OpenToAppend(path, &fd, &torn); !status.ok()) return status;
  return std::unique_ptr<AuditFile>(new AuditFile(std::move(path), fd, torn));
}

AuditFile::AuditFile(std::string path, int fd, bool torn)
    : path_(std::move(path)), fd_(fd), torn_(torn) {
  worker_.Start("audit", [this] { Run(); });
}

AuditFile::~AuditFile() {
  worker_.Stop();
  const MutexLock lock(mutex_);
  for (const auto& line : queue_)
    Log(LogLevel::kError, "audit_line_unwritten", {{"line", line->text}});
  close(fd_);
}

Status AuditFile::Write(std::string text, bool synced, Time until) {
  AssertMayBlock();
  const auto line = std::make_shared<Line>();
  line->text = std::move(text);
  line->synced = synced;
  {
    const MutexLock lock(mutex_);
    queue_.push_back(line);
    retries_ = false;
  }
  worker_.Wake();
  const MutexLock lock(mutex_);
  bool in_time = true;
  while (line->state < State::kWritten && in_time) in_time = done_.WaitUntil(mutex_, until);
  switch (line->state) {
    case State::kWritten:
      return {};
    case State::kFailed:
      return Status::IOError(line->error);
    case State::kWaits:
      queue_.erase(std::find(queue_.begin(), queue_.end(), line));
      return Status::IOError("the disk takes too long");
    case State::kBeingWritten:
      break;
  }
  return Status::Unavailable("the disk takes too long");
}

bool AuditFile::Reserve() {
  const MutexLock lock(mutex_);
  if (reserved_ == kReservedMost) return false;
  ++reserved_;
  return true;
}

void AuditFile::Release() {
  const MutexLock lock(mutex_);
  --reserved_;
}

void AuditFile::WriteReserved(std::string text) {
  const auto line = std::make_shared<Line>();
  line->text = std::move(text);
  line->reserved = true;
  {
    const MutexLock lock(mutex_);
    queue_.push_back(line);
    if (retries_) return;  // it goes with these
  }
  worker_.Wake();
}

void AuditFile::Reopen() {
  {
    const MutexLock lock(mutex_);
    reopen_ = true;
  }
  worker_.Wake();
}

std::string AuditFile::Problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

void AuditFile::Run() {
  bool goes_on = true;
  while (goes_on) {
    bool reopen = false;
    Lines batch;
    goes_on = AwaitWork(&reopen, &batch);
    if (reopen) reopening_error_ = OpenAnew();
    std::string error;
    const size_t written = WriteAll(batch, &error);
    if (reopen || !batch.empty()) Finish(batch, written, error);
  }
}

/// False: the last work.
bool AuditFile::AwaitWork(bool* reopen, Lines* batch) {
  bool retries = false;
  {
    const MutexLock lock(mutex_);
    retries = retries_;
  }
  const bool goes_on = retries ? worker_.WaitFor(kRetryAfter) : worker_.Wait();
  const MutexLock lock(mutex_);
  *reopen = std::exchange(reopen_, false);
  batch->swap(queue_);
  for (const auto& line : *batch) line->state = State::kBeingWritten;
  retries_ = false;
  return goes_on;
}

void AuditFile::Finish(const Lines& batch, size_t written, const std::string& error) {
  lines_.fetch_add(written, std::memory_order_relaxed);
  failures_.fetch_add(batch.size() - written, std::memory_order_relaxed);
  const std::string problem = error.empty() ? reopening_error_ : error;
  std::string former;
  {
    const MutexLock lock(mutex_);
    Lines again;
    for (size_t i = 0; i < batch.size(); ++i) {
      Line& line = *batch[i];
      const bool is_in = i < written;
      line.state = is_in ? State::kWritten : State::kFailed;
      line.error = is_in ? std::string() : error;
      if (line.reserved && is_in) --reserved_;
      if (!line.reserved || is_in) continue;
      line.state = State::kWaits;
      again.push_back(batch[i]);
    }
    retries_ = !again.empty() && queue_.empty();
    queue_.insert(queue_.begin(), again.begin(), again.end());
    former = std::exchange(problem_, problem);
    done_.NotifyAll();
  }
  if (former == problem) return;
  if (problem.empty()) return Log(LogLevel::kInfo, "audit_written_again", {{"file", path_}});
  Log(LogLevel::kError, "audit_failed", {{"file", path_}, {"error", problem}});
}

/// What is wrong; empty: the path is open.
std::string AuditFile::OpenAnew() {
  int fd = -1;
  bool torn = false;
  if (const Status status = OpenToAppend(path_, &fd, &torn); !status.ok()) {
    failures_.fetch_add(1, std::memory_order_relaxed);
    return std::string(status.message());
  }
  close(std::exchange(fd_, fd));
  torn_ = torn;
  return {};
}

/// How many of the lines are in the file, the first ones; otherwise `*error` says why not all.
size_t AuditFile::WriteAll(const Lines& lines, std::string* error) {
  if (lines.empty()) return 0;
  struct stat about {};
  const bool gone = fstat(fd_, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0;
  if (gone) *error = reopening_error_ = OpenAnew();
  size_t written = 0;
  while (error->empty() && written < lines.size() && WriteLine(lines[written]->text, error)) {
    ++written;
  }
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line->synced; });
  const auto before = static_cast<size_t>(std::distance(lines.begin(), first));
  if (before >= written || fdatasync(fd_) == 0) return written;
  if (errno == EINVAL || errno == EROFS) return written;  // a device, which has nothing to sync
  *error = ErrorText();
  return before;
}

bool AuditFile::WriteLine(const std::string& text, std::string* error) {
  const std::string line = (torn_ ? "\n" : "") + text + '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t count = write(fd_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      *error = count == 0 ? "nothing was written" : ErrorText();
      return false;
    }
    left.remove_prefix(static_cast<size_t>(count));
    torn_ = !left.empty();
  }
  return true;
}

}  // namespace seendb::ops
