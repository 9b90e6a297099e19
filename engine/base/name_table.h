// engine/base/name_table.h: small numbers for collection names, so that hot maps key by two bytes.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/sync.h"

namespace seendb {

/// Names interned for the life of the process; never removed. Threads: any.
class NameTable {
 public:
  /// The name's number, given on first sight.
  uint16_t Intern(std::string_view name) {
    const MutexLock lock(mutex_);
    const auto at = numbers_.find(name);
    if (at != numbers_.end()) return at->second;
    const auto number = static_cast<uint16_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(names_.back(), number);
    return number;
  }
  /// The name of a number given before.
  std::string Name(uint16_t number) const {
    const MutexLock lock(mutex_);
    return names_[number];
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::deque<std::string> names_ GUARDED_BY(mutex_);
  std::map<std::string, uint16_t, std::less<>> numbers_ GUARDED_BY(mutex_);
};

}  // namespace seendb
