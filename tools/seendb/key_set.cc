#include "key_set.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace seendb::tool {

bool KeySet::Put(uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at] != 0) {
    if (slots_[at] == hash) return false;
    at = (at + 1) & mask;
  }
  slots_[at] = hash;
  return true;
}

bool KeySet::Add(std::string_view key) {
  constexpr size_t kFullPercent = 80;
  if (size_ * 100 >= slots_.size() * kFullPercent) {
    const std::vector<uint64_t> old =
        std::exchange(slots_, std::vector<uint64_t>(slots_.size() * 2));
    for (const uint64_t hash : old) {
      if (hash != 0) Put(hash);
    }
  }
  const bool is_new = Put(std::max<uint64_t>(std::hash<std::string_view>()(key), 1));
  size_ += is_new ? 1 : 0;
  return is_new;
}

}  // namespace seendb::tool
