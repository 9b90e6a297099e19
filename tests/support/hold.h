// Holds threads of the engine at a pause point (base/pause_point.h).

#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/pause_point.h"

#ifdef SEENDB_TEST_HOOKS
/// First in a test that needs pause points: skips it where the build has none.
#define SEENDB_NEEDS_PAUSE_POINTS() static_cast<void>(0)
#else
#define SEENDB_NEEDS_PAUSE_POINTS() GTEST_SKIP() << "built without pause points"
namespace seendb {
struct PausePoints {
  template <typename Action>
  static void Set(std::string_view, Action&&) {}
};
}  // namespace seendb
#endif

namespace seendb {

/// The first thread that reaches the point stays there until Release, or the end of this object;
/// later ones pass.
class Hold {
 public:
  explicit Hold(std::string point) : point_(std::move(point)), state_(std::make_shared<State>()) {
    PausePoints::Set(point_, [state = state_] {
      std::unique_lock lock(state->mutex);
      if (std::exchange(state->reached, true)) return;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->released; });
    });
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    PausePoints::Set(point_, std::function<void()>());
    Release();
  }

  /// Waits until a thread is held; false after `limit`.
  bool WaitReached(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, limit, [this] { return state_->reached; });
  }
  /// Lets the thread go on.
  void Release() {
    const std::lock_guard lock(state_->mutex);
    state_->released = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool reached = false, released = false;
  };
  const std::string point_;
  const std::shared_ptr<State> state_;
};

}  // namespace seendb
