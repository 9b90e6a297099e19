// server/http/wait.h: what a handler's task can wait for without holding a thread.
//
//   Task<> Answer(api::Call call, Peer& peer) {
//     const std::string told = co_await Given<std::string>(
//         [&](Give<std::string> give) { peer.Ask(std::move(give)); });   // called by any thread
//     if (!co_await OnWorker(Executor::kEngine)) ...                     // too much work
//     call.response.body = Read(told);                                   // on a worker
//   }
//
// Each goes on by the connection: on its thread, or on a worker. A connection that closes cancels
// the task where it waits, so what it asked others for may come later than it lives: what it hands
// out are copies, and a Give.

#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "http/executor.h"
#include "http/message.h"
#include "http/task.h"

namespace seendb::http {

/// A wait of a task, as its runner sees it.
struct Wait {
  enum class For : uint8_t {
    kTurn,  ///< its turn in the lane of `executor`, as if it had just come; it may be refused there
    kWorker,  ///< a worker of `executor`, as the rest of a request that was taken
    kGiven,   ///< a call of what Waiting::Resume made, for limit_us at the most (0: no limit)
  };
  For what = For::kGiven;
  Executor executor = Executor::kInline;
  int64_t limit_us = 0;
  bool refused = false;     ///< of kWorker: too many jobs wait
  Waiting::Came came = {};  ///< of kGiven
};

/// The base of the awaitables below.
class Awaited {
 public:
  explicit Awaited(Wait wait) : wait_(std::move(wait)) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> by) noexcept {
    by.promise().run()->Next(by, &wait_);
  }

 protected:
  Wait wait_;
};

/// Its turn in the lane where it belongs, which is that of `executor` from now on, unless its body
/// says another (Plan::large_bytes). A refusal destroys the task.
class Turn final : public Awaited {
 public:
  explicit Turn(Executor executor) : Awaited({Wait::For::kTurn, executor}) {}
  void await_resume() const noexcept {}
};

/// A worker of `executor` (not kInline), before requests that wait for their turn. False: too many
/// jobs wait, or the workers have stopped; the task is where it was.
class OnWorker final : public Awaited {
 public:
  explicit OnWorker(Executor executor) : Awaited({Wait::For::kWorker, executor}) {}
  bool await_resume() const noexcept { return !wait_.refused; }
};

/// Until what Waiting::Resume made is called, for `limit_us` at the most (0: no limit). On the
/// connection's thread.
class Resumed final : public Awaited {
 public:
  explicit Resumed(int64_t limit_us) : Awaited({Wait::For::kGiven, Executor::kInline, limit_us}) {}
  Waiting::Came await_resume() noexcept { return std::move(wait_.came); }
};

/// Gives a waiting task its value, by one call. The wait fails once all copies are
/// gone without it. May outlive the connection, and then gives it to nobody; the Listener must
/// outlive every call. Threads: any one at a time.
template <typename T>
class Give {
 public:
  explicit Give(std::function<void(std::shared_ptr<void>)> resume)
      : once_(std::make_shared<Once>(std::move(resume))) {}
  void operator()(T value) const {
    if (!once_->resume) return;
    auto given = std::make_shared<T>(std::move(value));
    std::exchange(once_->resume, nullptr)(std::move(given));
  }

 private:
  struct Once {
    explicit Once(std::function<void(std::shared_ptr<void>)> by) : resume(std::move(by)) {}
    Once(const Once&) = delete;
    Once& operator=(const Once&) = delete;
    ~Once() {
      if (!resume) return;
      try {
        resume(nullptr);
      } catch (const std::exception&) {
        // Out of memory: the task waits until its connection closes.
      }
    }
    std::function<void(std::shared_ptr<void>)> resume;  // empty: it was called
  };
  std::shared_ptr<Once> once_;
};

/// See Given.
template <typename T, typename Start>
class GivenBy final : public Awaited {
 public:
  explicit GivenBy(Start start) : Awaited({}), start_(std::move(start)) {}
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> by) {
    start_(Give<T>(by.promise().run()->waiting()->Resume()));
    Awaited::await_suspend(by);
  }
  T await_resume() {
    if (wait_.came.given == nullptr) throw std::runtime_error("nobody answered");
    return std::move(*std::static_pointer_cast<T>(wait_.came.given));
  }

 private:
  Start start_;
};

/// Calls `start` with a Give<T>, and waits for its call, which may come from any thread, and before
/// `start` returns. Throws where all copies of the Give go without one. Goes on on the connection's
/// thread.
template <typename T, typename Start>
GivenBy<T, Start> Given(Start start) {
  return GivenBy<T, Start>(std::move(start));
}

}  // namespace seendb::http
