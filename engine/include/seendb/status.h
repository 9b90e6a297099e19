// seendb/status.h: how every fallible call of the engine reports what went wrong.
//
// No exception crosses the engine's API. A call returns `Status`, or `Result<T>` where it also
// has a value to give; both are [[nodiscard]].
//
//   seendb::Result<std::unique_ptr<seendb::Engine>> engine = seendb::Engine::Open(dir, {});
//   if (!engine.ok()) return Report(engine.status().ToString());
//
// Threads: values like any other; distinct objects may be used from distinct threads.

#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "seendb/cxx20.h"

namespace seendb {

/// What kind of failure it was, and so what the caller can do about it. Codes are append-only:
/// a number never changes its meaning.
enum class StatusCode : uint8_t {
  kOk = 0,
  /// The request is malformed; repeating it unchanged fails again. Nothing was changed.
  kInvalidArgument = 1,
  /// The named collection, bucket or database does not exist.
  kNotFound = 2,
  /// The database or a policy was made with other fixed settings; the message names them.
  kIncompatible = 3,
  /// Stored bytes failed a check. Reads of the rest go on.
  kCorruption = 4,
  /// A limit is reached for the moment (no free ring slot, another process holds the lock);
  /// repeat after a pause. Nothing was changed.
  kBusy = 5,
  /// The file system refused; part of a batch may have been recorded. Repeating is safe.
  kIOError = 6,
  /// A part that is needed can't answer now (deadline passed, bucket unreadable).
  kUnavailable = 7,
  /// The engine is closed or closing.
  kClosed = 8,
  /// The call would have to wait, and the caller asked that it does not. Nothing was changed.
  kIncomplete = 9,
  /// The caller may not do this. Servers say so, never the engine.
  kForbidden = 10,
};

/// The code's stable lower-case name, as used in JSON and logs ("invalid_argument").
std::string_view StatusCodeName(StatusCode code) noexcept;

/// Success, or a code with a message for people and, where one input is at fault, the path of
/// that input (`field`, a JSON pointer relative to the request: "/items/3").
/// Cost: a success is one null pointer; a failure allocates.
class [[nodiscard]] Status {
 public:
  /// Success.
  Status() noexcept = default;
  /// A failure. `field` may be empty. Precondition: code != kOk.
  Status(StatusCode code, std::string message, std::string field = {});
  /// Copies share nothing; moves leave the source a success.
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  /// Success, spelled out.
  static Status Ok() noexcept { return {}; }
  /// Short forms of the constructor for each code.
  static Status InvalidArgument(std::string message, std::string field = {});
  static Status NotFound(std::string message, std::string field = {});
  static Status Incompatible(std::string message, std::string field = {});
  static Status Corruption(std::string message);
  static Status Busy(std::string message);
  static Status IOError(std::string message);
  static Status Unavailable(std::string message);
  static Status Closed(std::string message = "the engine is closed");

  /// True for a success.
  bool ok() const noexcept { return rep_ == nullptr; }
  /// The code; kOk for a success.
  StatusCode code() const noexcept { return rep_ ? rep_->code : StatusCode::kOk; }
  /// What went wrong, for people; empty for a success.
  std::string_view message() const noexcept;
  /// Which input was at fault, as a JSON pointer; empty where none was.
  std::string_view field() const noexcept;
  /// "invalid_argument: message (at /items/3)" or "ok".
  std::string ToString() const;
  /// The same failure with `prefix` in front of its field ("/events" + "/3/item").
  Status WithFieldPrefix(std::string_view prefix) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
    std::string field;
  };
  std::unique_ptr<Rep> rep_;
};

namespace internal {
/// Prints `failure` to standard error and aborts the process.
[[noreturn]] void AbortWithoutValue(const Status& failure) noexcept;
}  // namespace internal

/// A value, or the failure that kept it from being made. To ask a failure for its value is a
/// programmer's mistake: in every build it prints the failure and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  /// A success holding `value`.
  Result(T value) : held_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// A failure. Precondition: !status.ok().
  Result(Status status) : held_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!std::get<0>(held_).ok());
  }

  /// True when a value is held.
  bool ok() const noexcept { return held_.index() == 1; }
  /// The failure, or a success when a value is held.
  Status status() const { return ok() ? Status() : std::get<0>(held_); }
  /// The value. Precondition: ok().
  T& value() & {
    if (!ok()) internal::AbortWithoutValue(std::get<0>(held_));
    return *std::get_if<1>(&held_);
  }
  const T& value() const& {
    if (!ok()) internal::AbortWithoutValue(std::get<0>(held_));
    return *std::get_if<1>(&held_);
  }
  T&& value() && {
    if (!ok()) internal::AbortWithoutValue(std::get<0>(held_));
    return std::move(*std::get_if<1>(&held_));
  }
  /// The value, as through a pointer. Precondition: ok().
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> held_;
};

}  // namespace seendb
