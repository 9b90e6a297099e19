// engine/base/name_table.h: small numbers for collections, so that hot maps key by two bytes.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/sync.h"

namespace seendb {

/// A collection by its name, and which of those that had the name one after the other.
struct NamedMaking {
  std::string name;
  uint64_t making = 0;
  friend auto operator<=>(const NamedMaking&, const NamedMaking&) = default;
};

/// Collections interned for the life of the process; never removed. Threads: any.
class NameTable {
 public:
  static constexpr size_t kMost = 60'000;

  /// Its number, given on first sight.
  uint16_t Intern(std::string_view name, uint64_t making) {
    const MutexLock lock(mutex_);
    const auto [at, fresh] = numbers_.try_emplace(NamedMaking{std::string(name), making},
                                                  static_cast<uint16_t>(known_.size()));
    if (fresh) known_.push_back(at->first);
    return at->second;
  }
  /// What has a number given before.
  NamedMaking Find(uint16_t number) const {
    const MutexLock lock(mutex_);
    return known_[number];
  }
  /// Whether more may be interned: two would have one number some day.
  bool full() const {
    const MutexLock lock(mutex_);
    return known_.size() >= kMost;
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::deque<NamedMaking> known_ GUARDED_BY(mutex_);
  std::map<NamedMaking, uint16_t> numbers_ GUARDED_BY(mutex_);
};

}  // namespace seendb
