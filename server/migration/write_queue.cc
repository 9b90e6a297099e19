#include "migration/write_queue.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
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
/// Where the parts of a frame's head are.
constexpr size_t kStateAt = sizeof(uint32_t);
constexpr size_t kSumAt = kStateAt + 1;
constexpr size_t kOffsetAt = kSumAt + sizeof(uint64_t);
constexpr size_t kFrameHead = kOffsetAt + sizeof(int64_t);
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

std::string PrefixOf(const std::string& db, const std::string& collection,
                     WriteQueue::Partition partition) {
  const std::string prefix = migrated::FolderOf(db) + "/" + collection + ".writes.";
  return partition ? prefix + "p" + std::to_string(*partition) + "." : prefix;
}

/// The number that `text` begins with, if it does, and what is behind it.
std::optional<uint64_t> NumberAt(std::string_view text, std::string_view* rest) {
  uint64_t number = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc()) return std::nullopt;
  *rest = text.substr(static_cast<size_t>(stop - text.data()));
  return number;
}

/// Calls `take` with what follows the prefix in the names of files.
void ForEachFile(const std::string& prefix, const std::function<void(std::string_view)>& take) {
  const std::filesystem::path path(prefix);
  const std::string name = path.filename();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), error)) {
    const std::string found = entry.path().filename();
    if (found.starts_with(name)) take(std::string_view(found).substr(name.size()));
  }
}

/// The numbers of the files that there are, ascending.
std::vector<uint64_t> NumbersOf(const std::string& prefix) {
  std::vector<uint64_t> numbers;
  ForEachFile(prefix, [&numbers](std::string_view tail) {
    const auto number = NumberAt(tail, &tail);
    if (number && tail.empty()) numbers.push_back(*number);
  });
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

std::string FrameOf(std::span<const OldWrite> writes, int64_t offset, WriteQueue::State state) {
  std::string summed;
  AppendRaw(offset, &summed);
  for (const OldWrite& write : writes) {
    AppendRaw(static_cast<uint8_t>(write.kind), &summed);
    AppendRaw(write.at_ms, &summed);
    AppendText(write.user, &summed);
    AppendText(write.item, &summed);
  }
  std::string frame;
  AppendRaw(static_cast<uint32_t>(summed.size() - sizeof(offset)), &frame);
  AppendRaw(static_cast<uint8_t>(state), &frame);
  AppendRaw(SipHash({}, summed), &frame);
  return frame + summed;
}

template <typename Number>
Number ReadRaw(std::string_view bytes, size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

/// The frame that bytes begin with.
struct Frame {
  WriteQueue::State state = WriteQueue::State::kUnknown;
  int64_t offset = 0;
  std::string_view entries;
  size_t size() const { return kFrameHead + entries.size(); }
};

/// False where it is not whole.
bool ReadFrame(std::string_view bytes, Frame* frame) {
  if (bytes.size() < kFrameHead) return false;
  const auto size = ReadRaw<uint32_t>(bytes, 0);
  const std::string_view summed = bytes.substr(kOffsetAt, sizeof(int64_t) + size_t{size});
  if (size == 0 || summed.size() != sizeof(int64_t) + size_t{size}) return false;
  if (ReadRaw<uint64_t>(bytes, kSumAt) != SipHash({}, summed)) return false;
  frame->state = static_cast<WriteQueue::State>(bytes[kStateAt]);
  frame->offset = ReadRaw<int64_t>(summed, 0);
  frame->entries = summed.substr(sizeof(int64_t));
  return true;
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
                                                     Partition partition,
                                                     std::shared_ptr<Space> space) {
  const std::string prefix = PrefixOf(db, collection, partition);
  std::unique_ptr<WriteQueue> queue(new WriteQueue(prefix, partition, std::move(space)));
  for (const uint64_t number : NumbersOf(prefix)) {
    if (Status opened = queue->OpenSegment(number); !opened.ok()) return opened;
  }
  return queue;
}

std::vector<uint32_t> WriteQueue::PartitionsOf(const std::string& db,
                                               const std::string& collection) {
  std::set<uint32_t> partitions;
  ForEachFile(PrefixOf(db, collection, {}) + "p", [&partitions](std::string_view tail) {
    const auto partition = NumberAt(tail, &tail);
    if (partition && tail.starts_with('.')) partitions.insert(static_cast<uint32_t>(*partition));
  });
  return {partitions.begin(), partitions.end()};
}

Status WriteQueue::Remove(const std::string& db, const std::string& collection) {
  std::vector<Partition> queues = {std::nullopt};
  for (const uint32_t partition : PartitionsOf(db, collection)) queues.emplace_back(partition);
  for (const Partition& queue : queues) {
    const std::string prefix = PrefixOf(db, collection, queue);
    for (const uint64_t number : NumbersOf(prefix)) {
      const std::string path = prefix + std::to_string(number);
      if (unlink(path.c_str()) != 0 && errno != ENOENT) return FailedQueue(path);
    }
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
    for (Frame frame; ReadFrame(rest, &frame); more = true) rest.remove_prefix(frame.size());
    opened.size += bytes.size() - rest.size();
  }
  if (ftruncate(opened.file, static_cast<off_t>(opened.size)) != 0) return FailedQueue(path);
  total_ += opened.size;
  space_->used += opened.size;
  if (opened.size == 0) {
    close(opened.file);
    segments_.pop_back();
    unlink(path.c_str());
  }
  RenewFront();
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
  space_->used += frame.size();
  return true;
}

bool WriteQueue::AppendAll(std::span<const OldWrite> writes, int64_t offset, State state) {
  std::vector<std::string> frames;
  for (size_t begin = 0; begin < writes.size(); begin += kFrameEntries) {
    const size_t count = std::min(kFrameEntries, writes.size() - begin);
    frames.push_back(FrameOf(writes.subspan(begin, count), offset, state));
  }
  uint64_t size = 0;
  for (const std::string& frame : frames) size += frame.size();
  const bool removes = std::all_of(writes.begin(), writes.end(), [](const OldWrite& write) {
    return write.kind == OldWrite::Kind::kDeleteKey;
  });
  const MutexLock lock(mutex_);
  bool taken = space_->used + size <= space_->most + (removes ? kRemovalBytes : 0);
  for (size_t i = 0; i < frames.size() && taken; ++i) {
    taken = AppendFrame(frames[i]);
    if (!taken || state != State::kUnknown) continue;
    const Segment& last = segments_.back();
    staged_.push_back({last.number, last.size - frames[i].size(), last.size});
  }
  if (!front()) RenewFront();
  return taken;
}

bool WriteQueue::Append(std::span<const OldWrite> writes, int64_t offset) {
  return AppendAll(writes, offset, State::kRecorded);
}

bool WriteQueue::Stage(std::span<const OldWrite> writes, int64_t offset) {
  return AppendAll(writes, offset, State::kUnknown);
}

/// False: they are not the end of the newest file.
bool WriteQueue::CutOff(const std::vector<Staged>& staged) {
  if (staged.empty() || staged.front().number != segments_.back().number) return false;
  uint64_t end = staged.front().at;
  for (const Staged& one : staged) {
    if (one.at != end) return false;
    end = one.end;
  }
  Segment& last = segments_.back();
  if (end != last.size || ftruncate(last.file, static_cast<off_t>(staged.front().at)) != 0) {
    return false;
  }
  const uint64_t bytes = end - staged.front().at;
  last.size -= bytes;
  total_ -= bytes;
  space_->used -= bytes;
  return true;
}

// A state that can't be written stays unknown: then the engine is asked.
void WriteQueue::Settle(bool recorded) {
  const MutexLock lock(mutex_);
  const std::vector<Staged> all = std::exchange(staged_, {});
  const bool gone = !recorded && CutOff(all);
  const auto state = static_cast<char>(recorded ? State::kRecorded : State::kNotRecorded);
  for (const Staged& staged : all) {
    for (const Segment& segment : segments_) {
      if (gone || segment.number != staged.number) continue;
      ssize_t n = -1;
      do {
        n = pwrite(segment.file, &state, 1, static_cast<off_t>(staged.at + kStateAt));
      } while (n < 0 && errno == EINTR);
    }
  }
  if (!front()) RenewFront();
}

/// Where what can be given of the first segment ends.
uint64_t WriteQueue::ReadyEnd() const {
  const Segment& first = segments_.front();
  const bool ends = !staged_.empty() && staged_.front().number == first.number;
  return ends ? staged_.front().at : first.size;
}

void WriteQueue::RenewFront() {
  int64_t offset = kNoFront;
  if (!segments_.empty() && done_ < ReadyEnd()) {
    offset = 0;  // of one that can't be read: it goes first
    ssize_t n = -1;
    do {
      n = pread(segments_.front().file, &offset, sizeof(offset),
                static_cast<off_t>(done_ + kOffsetAt));
    } while (n < 0 && errno == EINTR);
  }
  front_.store(offset, std::memory_order_release);
}

Status WriteQueue::Peek(int64_t before, Batch* batch) {
  batch->writes.clear();
  batch->unsettled.clear();
  const MutexLock lock(mutex_);
  peeked_ = 0;
  if (segments_.empty() || done_ >= ReadyEnd()) return {};
  const Segment& first = segments_.front();
  if (!ReadPiece(first.file, done_, &batch->bytes)) batch->bytes.clear();
  std::string_view rest = std::string_view(batch->bytes).substr(0, ReadyEnd() - done_);
  const size_t whole = rest.size();
  bool later = false;
  for (Frame frame; ReadFrame(rest, &frame);) {
    later = frame.offset >= before;
    if (later) break;
    rest.remove_prefix(frame.size());
    if (frame.state == State::kNotRecorded) continue;
    std::vector<OldWrite>& to = frame.state == State::kRecorded ? batch->writes : batch->unsettled;
    for (OldWrite write; TakeEntry(&frame.entries, &write);) to.push_back(write);
  }
  peeked_ = whole - rest.size();
  if (peeked_ > 0 || later) return {};
  peeked_ = ReadyEnd() - done_;
  return Status::IOError(prefix_ + std::to_string(first.number) + " can't be read");
}

void WriteQueue::Done() {
  const MutexLock lock(mutex_);
  if (segments_.empty()) return;
  done_ += std::exchange(peeked_, 0);
  Segment& first = segments_.front();
  if (done_ >= first.size) {
    // The only file is used again.
    if (segments_.size() > 1 || ftruncate(first.file, 0) != 0) {
      DropFront();
    } else {
      total_ -= first.size;
      space_->used -= std::exchange(first.size, 0);
      done_ = 0;
    }
  }
  RenewFront();
}

/// The first file is done with.
void WriteQueue::DropFront() {
  const Segment first = segments_.front();
  segments_.pop_front();
  total_ -= first.size;
  space_->used -= first.size;
  done_ = 0;
  close(first.file);
  unlink((prefix_ + std::to_string(first.number)).c_str());
}

uint64_t WriteQueue::bytes() const {
  const MutexLock lock(mutex_);
  return total_ - done_;
}

}  // namespace seendb::migration
