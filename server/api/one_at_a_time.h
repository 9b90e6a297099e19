// server/api/one_at_a_time.h: requests of which one is worked on at a time, and the others wait
// without holding a worker.

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/sync.h"
#include "http/wait.h"

namespace seendb::api {

/// Gives turns in the order in which they are asked for. Threads: any. Must outlive the Listener.
class OneAtATime {
 public:
  /// A turn, which ends with it.
  class Turn {
   public:
    /// None, where `of` is null.
    explicit Turn(OneAtATime* of) noexcept : of_(of) {}
    Turn(Turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (of_ != nullptr) of_->GiveNext();
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    OneAtATime* of_;
  };

  /// At most `limit` requests wait.
  explicit OneAtATime(size_t limit) : limit_(limit) {}
  /// A turn: at once, on this thread, where nobody has one, or once those before have had theirs,
  /// on a worker of kSlow. None where too many wait.
  http::Task<Turn> Enter();

 private:
  bool Begin();
  void Queue(http::Give<Turn> give);
  void GiveNext() noexcept;

  const size_t limit_;
  Mutex mutex_{LockRank::kLeaf};
  bool running_ GUARDED_BY(mutex_) = false;
  std::deque<http::Give<Turn>> waiting_ GUARDED_BY(mutex_);
};

}  // namespace seendb::api
