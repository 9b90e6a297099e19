#include "ingest/crash_mark.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace seendb::ingest {
namespace {

constexpr uint64_t kMagic = 0x315F4B52414D5343;  // "CSMARK_1"
constexpr size_t kTopicMost = 249;               // Kafka's

}  // namespace

// As it lies in the file, for the machine that wrote it.
struct CrashMark::Page {
  uint64_t magic = kMagic;
  uint32_t active = 0;  // a message is being decoded: the fields below are whole
  uint32_t deaths = 0;  // of processes that had this message before
  int64_t offset = 0;
  int32_t partition = 0;
  uint32_t topic_size = 0;
  char topic[kTopicMost] = {};
};

CrashMark::CrashMark() : page_(std::make_unique<Page>()), at_(page_.get()) {}

CrashMark::CrashMark(Page* mapped) : at_(mapped) {
  const bool whole = mapped->magic == kMagic && mapped->topic_size <= kTopicMost;
  if (whole && mapped->active != 0) {
    topic_.assign(mapped->topic, mapped->topic_size);
    partition_ = mapped->partition;
    offset_ = mapped->offset;
    deaths_ = mapped->deaths + 1;
  }
  // Otherwise it stays until another message comes: the process may die before one does.
  if (deaths_ == 0) *mapped = Page();
}

CrashMark::~CrashMark() {
  if (page_ == nullptr) munmap(at_, sizeof(Page));
}

Result<std::unique_ptr<CrashMark>> CrashMark::Open(const std::string& path) {
  const auto failed = [&] {
    return Status::IOError("open " + path + ": " + std::generic_category().message(errno));
  };
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (file < 0) return failed();
  void* mapped = MAP_FAILED;
  if (ftruncate(file, sizeof(Page)) == 0) {
    mapped = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const Status status = mapped == MAP_FAILED ? failed() : Status();
  close(file);
  if (!status.ok()) return status;
  return std::unique_ptr<CrashMark>(new CrashMark(static_cast<Page*>(mapped)));
}

bool CrashMark::IsLast(std::string_view topic, int32_t partition, int64_t offset) const {
  return deaths_ != 0 && offset == offset_ && partition == partition_ && topic == topic_;
}

bool CrashMark::Enter(std::string_view topic, int32_t partition, int64_t offset) {
  const uint32_t deaths = IsLast(topic, partition, offset) ? deaths_ : 0;
  if (deaths >= kDeathsMost) {
    Leave();
    return false;
  }
  at_->deaths = deaths;
  at_->offset = offset;
  at_->partition = partition;
  at_->topic_size = static_cast<uint32_t>(topic.copy(at_->topic, kTopicMost));
  std::atomic_signal_fence(std::memory_order_release);  // a process dies between instructions
  at_->active = 1;
  std::atomic_signal_fence(std::memory_order_release);
  return true;
}

void CrashMark::Leave() {
  std::atomic_signal_fence(std::memory_order_release);
  at_->active = 0;
  std::atomic_signal_fence(std::memory_order_release);
}

}  // namespace seendb::ingest
