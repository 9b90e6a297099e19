// server/api/scrape.h: the text of /metrics, made by one request at a time.

#pragma once

#include <chrono>
#include <string>

#include "base/sync.h"

namespace seendb::api {

/// The last text, for requests that came while it was being made. Threads: any.
class Scrape {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The oldest text that is told.
  static constexpr std::chrono::seconds kOldest{1};

  /// The text for a request that came at `came`; empty: it has to be made.
  std::string For(Time came, Time now) const {
    const MutexLock lock(mutex_);
    return came <= made_ && now - made_ <= kOldest ? text_ : std::string();
  }
  /// It was made by `now`.
  void Keep(const std::string& text, Time now) {
    const MutexLock lock(mutex_);
    text_ = text;
    made_ = now;
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::string text_ GUARDED_BY(mutex_);
  Time made_ GUARDED_BY(mutex_){};
};

}  // namespace seendb::api
