// server/http/loop.h: the loop of a connection as its parts see it: a coroutine that starts one
// thing at a time and pauses until that has come.

#pragma once

#include <cstdint>
#include <memory>

#include "http/wait.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's own; shared_from_this and weak_from_this
/// any.
class Loop : public std::enable_shared_from_this<Loop> {
 public:
  /// The events that a loop pauses for.
  enum class Event : uint8_t {
    kRead,     ///< Transport::Read, ReadRest, AwaitReadable
    kWritten,  ///< Transport::Write, SayEnd
    kWork,     ///< RequestTurn, CallWait, and what the loop posts to its own thread
  };
  /// It has come. False: the connection failed.
  virtual void Came(Event event, bool ok) = 0;

 protected:
  ~Loop() = default;
};

/// Suspends a loop until it is told to go on.
class Pause final : public Awaited {
 public:
  Pause() : Awaited({}) {}
  void await_resume() const noexcept {}
};

}  // namespace seendb::http
