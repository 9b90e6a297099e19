// server/http/task.h: a function that can wait without holding a thread: a coroutine.
//
//   Task<int> Count(Source& source) {
//     int count = 0;
//     while (co_await source.Next()) ++count;   // another Task, or what wait.h offers
//     co_return count;
//   }
//
// A task begins when it is awaited, and whoever awaits it goes on when it has ended. The first one
// of a request is run by a TaskRun: by one thread at a time, in a loop that resumes one coroutine
// after the other. So neither a loop over tasks nor tasks within tasks make the stack grow, also
// where the compiler makes no tail calls (GCC without optimisation, sanitizers). Destroying the
// run destroys all that waits: that is how a request is cancelled.
//
// A parameter by reference has to outlive the task, and so has the object of a lambda that is a
// coroutine: it captures nothing.

#pragma once

#include <cassert>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__)
// Where sources are compiled as one, GCC takes the frame of a coroutine, which has its lambdas, for
// a type that other sources know.
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace seendb::http {

template <typename T = void>
class Task;
class TaskRun;
class Waiting;
struct Wait;

/// The part of a promise that does not depend on what the task returns.
class TaskPromise {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept { return End(); }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  /// Its run; set before it begins.
  TaskRun* run() const noexcept { return run_; }

 protected:
  void RethrowFailure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <typename T>
  friend class Task;
  friend class TaskRun;

  /// Hands over to who awaits it.
  struct End {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) const noexcept;
    void await_resume() const noexcept {}
  };

  TaskRun* run_ = nullptr;
  std::coroutine_handle<> then_;  // null: nobody awaits it, it is the first
  std::exception_ptr failure_;
};

/// The promise of a task of `T`.
template <typename T>
class TaskPromiseOf final : public TaskPromise {
 public:
  Task<T> get_return_object() noexcept;
  template <typename From>
  void return_value(From&& value) {
    value_.emplace(std::forward<From>(value));
  }
  /// Rethrows what the task threw. Called once.
  T Take() {
    RethrowFailure();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromiseOf<void> final : public TaskPromise {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void Take() const { RethrowFailure(); }
};

/// See the head of this file. Awaited once, or run once. One that is destroyed before it has ended
/// destroys what it has made; it must not be running then. Threads: one at a time.
template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromiseOf<T>;

  /// One that has ended: what a function returns that had nothing to wait for. Only of void.
  Task() noexcept = default;
  Task(Task&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    Task old(std::move(*this));
    at_ = std::exchange(other.at_, nullptr);
    return *this;
  }
  ~Task() {
    if (at_) at_.destroy();
  }

  /// Whether there is anything to run.
  explicit operator bool() const noexcept { return static_cast<bool>(at_); }

  bool await_ready() const noexcept { return !at_; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> by) noexcept;
  T await_resume() {
    if constexpr (std::is_void_v<T>) {
      if (!at_) return;
    }
    assert(at_);
    return at_.promise().Take();
  }

 private:
  friend class TaskPromiseOf<T>;
  friend class TaskRun;
  explicit Task(std::coroutine_handle<promise_type> at) noexcept : at_(at) {}

  std::coroutine_handle<promise_type> at_;
};

/// Runs one task at a time, up to where it waits and on from there. Threads: one at a time; a
/// thread that goes on with it sees all that the one before did, if something orders the two.
class TaskRun {
 public:
  /// `waiting`, borrowed, is how what the task awaits comes back.
  explicit TaskRun(Waiting* waiting) : waiting_(waiting) {}
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  /// Takes a task, which GoOn begins. Precondition: it has no task.
  void Begin(Task<void> task) {
    assert(!task_);
    task_ = std::move(task);
    if (!task_) return;
    task_.at_.promise().run_ = this;
    next_ = task_.at_;
  }
  /// Runs it on this thread until it has ended or waits; what it waited for has come. Throws what
  /// it threw; then it has ended.
  void GoOn() {
    wait_ = nullptr;
    while (next_ && wait_ == nullptr) std::exchange(next_, nullptr).resume();
    if (wait_ != nullptr || !task_) return;
    const Task<void> ended = std::move(task_);
    ended.at_.promise().Take();
  }
  /// Destroys it, with all that it has made. It must not be running.
  void Cancel() {
    const Task<void> task = std::move(task_);
    next_ = nullptr;
    wait_ = nullptr;
  }

  /// Whether there is one that has not ended.
  explicit operator bool() const noexcept { return static_cast<bool>(task_); }
  /// The wait that it is in; null: it waits for nothing.
  Wait* wait() const noexcept { return wait_; }
  Waiting* waiting() const noexcept { return waiting_; }

  /// For what is awaited: `at` is resumed next, in this step, or, with `wait`, in the next one:
  /// once what that says has come. `wait` lies in the coroutine that waits.
  void Next(std::coroutine_handle<> at, Wait* wait = nullptr) noexcept {
    next_ = at;
    wait_ = wait;
  }

 private:
  Waiting* const waiting_;
  Task<void> task_;
  std::coroutine_handle<> next_;
  Wait* wait_ = nullptr;
};

template <typename Promise>
void TaskPromise::End::await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
  ended.promise().run_->Next(ended.promise().then_);
}

template <typename T>
Task<T> TaskPromiseOf<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromiseOf>::from_promise(*this));
}

inline Task<void> TaskPromiseOf<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromiseOf>::from_promise(*this));
}

template <typename T>
template <typename Promise>
void Task<T>::await_suspend(std::coroutine_handle<Promise> by) noexcept {
  at_.promise().run_ = by.promise().run();
  at_.promise().then_ = by;
  by.promise().run()->Next(at_);
}

}  // namespace seendb::http
