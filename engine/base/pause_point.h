// base/pause_point.h: named places in the engine where a test can hold a thread, to try the orders
// of steps that writes.md promises. Compiled in only where SEENDB_TEST_HOOKS is defined (a
// build with tests that is not a release build); elsewhere SEENDB_PAUSE_POINT is nothing.

#pragma once

#ifdef SEENDB_TEST_HOOKS

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/sync.h"

namespace seendb {

/// What tests do at the pause points of this process. Threads: any.
class PausePoints {
 public:
  /// Runs `action` on every thread that reaches the point, until Clear; null: no more.
  static void Set(std::string_view name, std::function<void()> action) {
    PausePoints& all = Instance();
    const MutexLock lock(all.mutex_);
    if (action != nullptr) {
      all.actions_.insert_or_assign(std::string(name), std::move(action));
    } else if (const auto at = all.actions_.find(name); at != all.actions_.end()) {
      all.actions_.erase(at);
    }
    all.armed_ = !all.actions_.empty();
  }
  /// A thread is at the point.
  static void Reach(std::string_view name) {
    PausePoints& all = Instance();
    if (!all.armed_.load(std::memory_order_acquire)) return;
    std::function<void()> action;
    {
      const MutexLock lock(all.mutex_);
      if (const auto at = all.actions_.find(name); at != all.actions_.end()) action = at->second;
    }
    if (action) action();
  }

 private:
  static PausePoints& Instance() {
    static PausePoints all;
    return all;
  }

  std::atomic<bool> armed_{false};
  Mutex mutex_{LockRank::kInner};
  std::map<std::string, std::function<void()>, std::less<>> actions_ GUARDED_BY(mutex_);
};

}  // namespace seendb

#define SEENDB_PAUSE_POINT(name) ::seendb::PausePoints::Reach(name)
#else
#define SEENDB_PAUSE_POINT(name) static_cast<void>(0)
#endif
