#include "shard/user_directory.h"

#include <algorithm>
#include <cassert>

namespace seendb {

UserDirectory::Filter::Filter(uint64_t users)
    : size_((users + kUsersPerBlock - 1) / kUsersPerBlock),
      blocks_(std::make_unique<Block[]>(size_)) {
  assert(size_ > 0 && size_ <= UINT32_MAX);
}

void UserDirectory::Append(uint64_t users) {
  growth_.AssertHeld();
  const uint32_t made = filters_made_.load(std::memory_order_relaxed);
  if (made == kMostFilters) return;  // the last takes all that come
  filters_[made] = std::make_unique<Filter>(users);
  filters_made_.store(made + 1, std::memory_order_release);
}

void UserDirectory::Reserve(uint64_t users) {
  assert(empty());
  if (users == 0) return;
  const MutexLock lock(growth_);
  Append(std::max(users, kLeastUsers));
}

// A user added by two threads at once is counted twice: a filter grows a little early.
void UserDirectory::Add(uint64_t user) {
  if (MayHave(user)) return;
  if (empty()) {
    const MutexLock lock(growth_);
    if (empty()) Append(kLeastUsers);
  }
  Filter& newest = *filters_[filters_made_.load(std::memory_order_acquire) - 1];
  newest.Set(user);
  if (!newest.CountOne()) return;
  const MutexLock lock(growth_);
  Append(2 * newest.room());
}

uint64_t UserDirectory::bytes() const noexcept {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < filters(); ++i) bytes += filters_[i]->bytes();
  return bytes;
}

}  // namespace seendb
