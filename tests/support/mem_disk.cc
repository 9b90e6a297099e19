#include "support/mem_disk.h"

#include <bit>
#include <utility>

namespace seendb {

using rocksdb::IOStatus;

namespace {

// Whether the parts between the stars occur in `path`, one after the other.
bool Matches(std::string_view path, std::string_view part) {
  while (true) {
    const size_t star = part.find('*');
    const std::string_view piece = part.substr(0, star);
    const size_t at = path.find(piece);
    if (at == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    path.remove_prefix(at + piece.size());
    part.remove_prefix(star + 1);
  }
}

}  // namespace

MemDisk::MemDisk() : env_(rocksdb::NewCompositeEnv(NewMemFiles(this))) {}
MemDisk::~MemDisk() = default;

std::unique_ptr<MemDisk> MemDisk::Clone() {
  auto copy = std::make_unique<MemDisk>();
  const std::lock_guard lock(mutex_);
  copy->tree_ = tree_.Clone();
  return copy;
}

void MemDisk::AddRule(Rule rule) {
  const std::lock_guard lock(mutex_);
  rules_.push_back(std::move(rule));
}

void MemDisk::Fail(uint32_t operations, std::string part, IOStatus error, int skip, int times) {
  AddRule({operations, std::move(part), std::move(error), skip, times, false, false});
}

void MemDisk::FailShort(uint32_t operations, std::string part, IOStatus error, int skip,
                        int times) {
  AddRule({operations, std::move(part), std::move(error), skip, times, true, false});
}

void MemDisk::CrashAt(uint32_t operations, std::string part, int skip) {
  AddRule({operations, std::move(part), IOStatus::IOError("crashed"), skip, 1, true, true});
}

void MemDisk::Hold(uint32_t operations, std::string part) {
  AddRule({operations, std::move(part), IOStatus::OK(), 0, -1, false, false, true});
}

void MemDisk::Release() {
  const std::lock_guard lock(mutex_);
  std::erase_if(rules_, [](const Rule& rule) { return rule.hold; });
  ++releases_;
  released_.notify_all();
}

int MemDisk::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void MemDisk::Clear() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
}

void MemDisk::SetCapacity(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

uint64_t MemDisk::used() const {
  const std::lock_guard lock(mutex_);
  return tree_.bytes();
}

void MemDisk::Crash() {
  const std::lock_guard lock(mutex_);
  crashed_ = true;
}

bool MemDisk::crashed() const {
  const std::lock_guard lock(mutex_);
  return crashed_;
}

void MemDisk::Revive() {
  const std::lock_guard lock(mutex_);
  crashed_ = false;
  ++generation_;
  rules_.clear();
  locks_.clear();
}

void MemDisk::PowerCut(uint64_t seed, MemTear tear) {
  const std::lock_guard lock(mutex_);
  ++generation_;
  tree_.PowerCut(seed, tear);
}

uint64_t MemDisk::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

uint64_t MemDisk::operations(uint32_t kinds) const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = 0;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if ((kinds >> kind & 1) != 0) sum += counts_[kind];
  }
  return sum;
}

std::string MemDisk::last_failure() const {
  const std::lock_guard lock(mutex_);
  return last_failure_;
}

MemDisk::Verdict MemDisk::Check(Operation operation, std::string_view path, uint64_t generation) {
  static constexpr const char* kNames[kKinds] = {"append",   "sync",   "create", "rename",
                                                 "read",     "folder", "delete", "link",
                                                 "truncate", "mkdir",  "open"};
  if (crashed_ || generation != generation_) return {IOStatus::IOError("crashed")};
  const auto kind = static_cast<size_t>(std::countr_zero(static_cast<uint32_t>(operation)));
  ++counts_[kind];
  for (Rule& rule : rules_) {
    if ((rule.operations & operation) == 0 || !Matches(path, rule.part)) continue;
    if (rule.skip > 0) {
      --rule.skip;
      continue;
    }
    if (rule.times == 0) continue;
    if (rule.hold) {
      ++held_;
      released_.wait(mutex_, [this, now = releases_] { return releases_ != now; });
      --held_;
      return {IOStatus::OK()};  // `rule` is gone
    }
    if (rule.times > 0) --rule.times;
    if (rule.crash) {
      crashed_ = true;
    } else {
      ++failures_;
    }
    last_failure_ = std::string(kNames[kind]) + " " + std::string(path);
    return {rule.error, rule.half};
  }
  return {IOStatus::OK()};
}

IOStatus MemDisk::CheckSpace(uint64_t more) const {
  if (capacity_ == kUnlimited || tree_.bytes() + more <= capacity_) return IOStatus::OK();
  return IOStatus::NoSpace("the disk is full");
}

std::vector<std::string> MemDisk::Files(std::string_view part) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  tree_.ForEach([&](const std::string& path, const MemNode& node) {
    if (!node.folder && path.find(part) != std::string::npos) paths.push_back(path);
  });
  return paths;
}

bool MemDisk::Read(const std::string& path, std::string* bytes) const {
  const std::lock_guard lock(mutex_);
  const MemNodePtr node = tree_.Find(path);
  if (node == nullptr || node->folder) return false;
  *bytes = *node->bytes;
  return true;
}

bool MemDisk::Write(const std::string& path, const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  const MemNodePtr node = tree_.Find(path);
  if (node == nullptr || node->folder) return false;
  node->Own() = bytes;
  node->Sync();
  return true;
}

bool MemDisk::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::string name;
  const MemNodePtr folder = tree_.Parent(path, &name);
  if (folder == nullptr || folder->names.erase(name) == 0) return false;
  folder->synced_names.erase(name);
  return true;
}

}  // namespace seendb
