#include "shard/served_count.h"

#include <algorithm>

namespace seendb {

void ServedCount::Add(std::string_view user, Fingerprint item) {
  if (last_ == nullptr || last_user_ != user) {
    last_user_ = user;
    last_ = &users_[last_user_];
  }
  last_->push_back(item);
}

uint64_t ServedCount::Beyond(size_t cap) {
  uint64_t beyond = 0;
  for (auto& [user, items] : users_) {
    if (items.size() <= cap) continue;
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    beyond += items.size() - std::min(items.size(), cap);
  }
  return beyond;
}

}  // namespace seendb
