#include "migration/write_queue.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/siphash.h"
#include "migrated/imported_users.h"
#include "seendb/id.h"

namespace seendb::migration {
namespace {

constexpr uint64_t kSegmentBytes = 16 << 20;
constexpr size_t kFrameHead = sizeof(uint32_t) + sizeof(uint64_t);
/// Entries of one frame, whose bytes are less than what Peek reads at once.
constexpr size_t kFrameEntries = 4'096;
constexpr size_t kEntryMost = 1 + sizeof(int64_t) + 2 * (1 + kMaxIdBytes);
constexpr size_t kFrameMost = kFrameHead + kFrameEntries * kEntryMost;
constexpr size_t kReadBytes = 3 << 20;
static_assert(kFrameMost < kReadBytes);
static_assert(std::endian::native == std::endian::little);

Status FailedQueue(const std::string& path) {
  return Status::IOError(path + ": " + std::generic_category().message(errno));
}

std::string PrefixOf(const std::string& db, const std::string& collection) {
  return migrated::FolderOf(db) + "/" + collection + ".writes.";
}

/// The numbers of the files that there are, ascending.
std::vector<uint64_t> NumbersOf(const std::string& prefix) {
  const std::filesystem::path path(prefix);
  const std::string name = path.filename();
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), error)) {
    const std::string found = entry.path().filename();
    if (!found.starts_with(name)) continue;
    uint64_t number = 0;
    const char* const end = found.data() + found.size();
    const auto [stop, wrong] = std::from_chars(found.data() + name.size(), end, number);
    if (wrong == std::errc() && stop == end) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

template <typename Number>
void AppendRaw(Number number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendText(std::string_view text, std::string* out) {
  AppendRaw(static_cast<uint8_t>(text.size()), out);
  out->append(text);
}

std::string FrameOf(std::span<const OldWrite> writes) {
  std::string entries;
  for (const OldWrite& write : writes) {
    AppendRaw(static_cast<uint8_t>(write.kind), &entries);
    AppendRaw(write.at_ms, &entries);
    AppendText(write.user, &entries);
    AppendText(write.item, &entries);
  }
  std::string frame;
  AppendRaw(static_cast<uint32_t>(entries.size()), &frame);
  AppendRaw(SipHash({}, entries), &frame);
  return frame + entries;
}

/// The entries of the frame that `bytes` begins with; empty where it is not whole.
std::string_view FrameAt(std::string_view bytes) {
  if (bytes.size() < kFrameHead) return {};
  uint32_t size = 0;
  uint64_t sum = 0;
  std::memcpy(&size, bytes.data(), sizeof(size));
  std::memcpy(&sum, bytes.data() + sizeof(size), sizeof(sum));
  const std::string_view entries = bytes.substr(kFrameHead, size);
  return entries.size() == size && sum == SipHash({}, entries) ? entries : std::string_view();
}

/// Takes one entry from the front of `*entries`; false where it has none.
bool TakeEntry(std::string_view* entries, OldWrite* write) {
  constexpr size_t kFixed = 1 + sizeof(int64_t);
  if (entries->size() < kFixed) return false;
  write->kind = static_cast<OldWrite::Kind>(entries->front());
  std::memcpy(&write->at_ms, entries->data() + 1, sizeof(int64_t));
  entries->remove_prefix(kFixed);
  for (std::string_view* const text : {&write->user, &write->item}) {
    if (entries->empty()) return false;
    const auto size = static_cast<uint8_t>(entries->front());
    *text = entries->substr(1, size);
    if (text->size() != size) return false;
    entries->remove_prefix(size_t{1} + size);
  }
  return true;
}

bool ReadPiece(int file, uint64_t offset, std::string* bytes) {
  bytes->resize(kReadBytes);
  ssize_t n = -1;
  do {
    n = pread(file, bytes->data(), bytes->size(), static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  bytes->resize(n < 0 ? 0 : static_cast<size_t>(n));
  return n >= 0;
}

}  // namespace

Result<std::unique_ptr<WriteQueue>> WriteQueue::Open(const std::string& db,
                                                     const std::string& collection,
                                                     uint64_t bytes_most) {
  const std::string prefix = PrefixOf(db, collection);
  std::unique_ptr<WriteQueue> queue(new WriteQueue(prefix, bytes_most));
  for (const uint64_t number : NumbersOf(prefix)) {
    if (Status opened = queue->OpenSegment(number); !opened.ok()) return opened;
  }
  return queue;
}

Status WriteQueue::Remove(const std::string& db, const std::string& collection) {
  const std::string prefix = PrefixOf(db, collection);
  for (const uint64_t number : NumbersOf(prefix)) {
    const std::string path = prefix + std::to_string(number);
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return FailedQueue(path);
  }
  return {};
}

WriteQueue::~WriteQueue() {
  const MutexLock lock(mutex_);
  for (const Segment& segment : segments_) close(segment.file);
}

/// Opens a file that is there, and cuts off what is not whole at its end.
Status WriteQueue::OpenSegment(uint64_t number) {
  const std::string path = prefix_ + std::to_string(number);
  Segment segment{number, open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)};
  if (segment.file < 0) return FailedQueue(path);
  const MutexLock lock(mutex_);
  segments_.push_back(segment);
  Segment& opened = segments_.back();
  std::string bytes;
  for (bool more = true; more;) {
    if (!ReadPiece(opened.file, opened.size, &bytes)) return FailedQueue(path);
    std::string_view rest = bytes;
    more = false;
    for (std::string_view entries; !(entries = FrameAt(rest)).empty(); more = true) {
      rest.remove_prefix(kFrameHead + entries.size());
    }
    opened.size += bytes.size() - rest.size();
  }
  if (ftruncate(opened.file, static_cast<off_t>(opened.size)) != 0) return FailedQueue(path);
  total_ += opened.size;
  if (opened.size == 0) {
    close(opened.file);
    segments_.pop_back();
    unlink(path.c_str());
  }
  return {};
}

bool WriteQueue::NewSegment() {
  const uint64_t number = segments_.empty() ? 1 : segments_.back().number + 1;
  const std::string path = prefix_ + std::to_string(number);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (file >= 0) segments_.push_back({number, file});
  return file >= 0;
}

bool WriteQueue::AppendFrame(std::string_view frame) {
  if ((segments_.empty() || segments_.back().size >= kSegmentBytes) && !NewSegment()) return false;
  Segment& last = segments_.back();
  for (size_t at = 0; at < frame.size();) {
    const ssize_t n =
        pwrite(last.file, frame.data() + at, frame.size() - at, static_cast<off_t>(last.size + at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;  // written over by the next one
    at += static_cast<size_t>(n);
  }
  last.size += frame.size();
  total_ += frame.size();
  return true;
}

bool WriteQueue::Append(std::span<const OldWrite> writes) {
  std::vector<std::string> frames;
  for (size_t begin = 0; begin < writes.size(); begin += kFrameEntries) {
    frames.push_back(
        FrameOf(writes.subspan(begin, std::min(kFrameEntries, writes.size() - begin))));
  }
  const MutexLock lock(mutex_);
  uint64_t size = 0;
  for (const std::string& frame : frames) size += frame.size();
  bool taken = total_ + size <= bytes_most_;
  for (size_t i = 0; i < frames.size() && taken; ++i) taken = AppendFrame(frames[i]);
  changed_.NotifyAll();
  return taken;
}

bool WriteQueue::Wait() {
  const MutexLock lock(mutex_);
  while (total_ == done_ && !stopped_) changed_.Wait(mutex_);
  return !stopped_;
}

void WriteQueue::Stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

Status WriteQueue::Peek(std::string* bytes, std::vector<OldWrite>* writes) {
  writes->clear();
  const MutexLock lock(mutex_);
  peeked_ = 0;
  if (segments_.empty()) return {};
  const Segment& first = segments_.front();
  if (!ReadPiece(first.file, done_, bytes)) bytes->clear();
  std::string_view rest = std::string_view(*bytes).substr(0, first.size - done_);
  const size_t whole = rest.size();
  for (std::string_view entries; !(entries = FrameAt(rest)).empty();) {
    rest.remove_prefix(kFrameHead + entries.size());
    for (OldWrite write; TakeEntry(&entries, &write);) writes->push_back(write);
  }
  peeked_ = whole - rest.size();
  if (peeked_ > 0) return {};
  peeked_ = first.size - done_;
  return Status::IOError(prefix_ + std::to_string(first.number) + " can't be read");
}

void WriteQueue::Done() {
  const MutexLock lock(mutex_);
  if (segments_.empty()) return;
  done_ += peeked_;
  peeked_ = 0;
  Segment& first = segments_.front();
  if (done_ < first.size) return;
  // The only file is used again.
  if (segments_.size() > 1 || ftruncate(first.file, 0) != 0) return DropFront();
  total_ -= std::exchange(first.size, 0);
  done_ = 0;
}

/// The first file is done with.
void WriteQueue::DropFront() {
  const Segment first = segments_.front();
  segments_.pop_front();
  total_ -= first.size;
  done_ = 0;
  close(first.file);
  unlink((prefix_ + std::to_string(first.number)).c_str());
}

uint64_t WriteQueue::bytes() const {
  const MutexLock lock(mutex_);
  return total_ - done_;
}

}  // namespace seendb::migration
