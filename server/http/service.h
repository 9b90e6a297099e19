// server/http/service.h: what the listener asks of the application behind it. The application
// sees heads and bodies; it never sees a socket.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/ticket.h"
#include "http/content_coding.h"
#include "http/error.h"
#include "http/executor.h"
#include "http/message.h"
#include "http/task.h"

namespace seendb::http {

/// How a request's body is taken.
enum class BodyMode : uint8_t {
  kDiscard,  ///< read and dropped
  kWhole,    ///< collected, up to the limit, then handled
  kStream,   ///< handed on as it comes
};

/// Takes a body of any length piece by piece. Calls never overlap; threads may differ.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// `bytes` is everything received and not taken before, with kBodyPadding readable bytes
  /// behind; returns how many are taken now. With `last`, no more will come. Answers that can go
  /// out at once are appended to `*out` (only where AnswersAsItGoes).
  virtual size_t Take(std::string_view bytes, bool last, std::string* out) = 0;
  /// True: the answer is a 200 of NDJSON sent as it is made. False: Finish makes it.
  virtual bool AnswersAsItGoes() const = 0;
  /// True once no more of the body is wanted; Finish is called at once. Where the answer goes out
  /// as it is made, Finish makes an error: the whole answer, if nothing was sent, otherwise the end
  /// of a broken one.
  virtual bool Failed() const = 0;
  /// After the last bytes: more of the answer is to come. Take is called again, without bytes, once
  /// what it made was written. Only where AnswersAsItGoes.
  virtual bool HasMore() const { return false; }
  /// Called once, before Take: how it may wait for something without holding a thread.
  virtual void Attend(Waiting*) {}
  /// After Take: the rest waits. Take is called again, with the bytes not taken and nothing more,
  /// once the function of Waiting::Resume was called, and after `*later_us` at the latest (0: no
  /// limit).
  virtual bool Later(int64_t* /*later_us*/) const { return false; }
  /// Bytes it holds until more come.
  virtual size_t HeldBytes() const { return 0; }
  /// The answer, after the last Take.
  virtual void Finish(Response* response) = 0;
};

/// What to do with a request whose head has arrived.
struct Plan {
  int route = -1;  ///< the application's own; -1: none
  BodyMode body = BodyMode::kDiscard;
  Coding coding = Coding::kIdentity;  ///< of the body; handlers get it decoded
  bool compress = false;              ///< the answer is compressed for a client that asks for it
  Executor encode_executor = Executor::kEngine;  ///< compresses large answers of kInline handlers
  Executor executor = Executor::kInline;         ///< runs the handler
  Executor large_executor = Executor::kInline;   ///< instead, for bodies above large_bytes
  size_t large_bytes = SIZE_MAX;
  bool probe = false;    ///< watches the process: answered beyond the limit of connections too
  bool large = false;    ///< its answer may be large: refused while too much is unread
  bool refused = false;  ///< `refusal` is the answer
  Error refusal;
  std::string allow;  ///< the Allow header of a refusal
  /// Turns an error that the listener answers into one of the caller's protocol; null: it is one.
  void (*shape_error)(Response* response) = nullptr;
  std::vector<std::string> arguments;  ///< the parts of the path that vary, decoded
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded
  std::unique_ptr<BodyStream> stream;                      ///< for kStream
  std::shared_ptr<const void> caller;                      ///< the application's own: who asks
  std::shared_ptr<void> audit;                             ///< likewise: how it is audited
  /// For the admission layer: class, priority, route and tenant. The connection adds the rest.
  admission::Ticket ticket;
};

/// What became of a request. Its times leave out what the client took: the rest of `took` is the
/// body's way here, and the hand-over between threads.
struct Outcome {
  const RequestHead& head;  ///< of a request that was refused early: what had been read
  const Plan& plan;         ///< route -1: none was found
  unsigned status = 200;
  std::string_view error_code = {};               ///< of an error; empty: none
  uint64_t log_tag = 0;                           ///< Response::log_tag
  std::chrono::steady_clock::time_point at = {};  ///< when the answer was made
  std::chrono::nanoseconds took{0};               ///< from the complete head to the answer
  std::chrono::nanoseconds waited{0};    ///< for a worker, or for what a handler had to wait for
  std::chrono::nanoseconds worked{0};    ///< in handlers
  uint64_t bytes_in = 0, bytes_out = 0;  ///< of the request and of the answer, with their heads
  std::string_view peer = {};            ///< the client's address; empty: it was gone at once
};

/// The application. Threads: every function from any thread at once.
class Service {
 public:
  virtual ~Service() = default;
  /// A head has arrived. Quick: runs on the I/O thread.
  virtual Plan Begin(const RequestHead& head) = 0;
  /// The body has arrived: makes the answer in `*response`, which is clear. It is whole when the
  /// task that is returned has ended, which may wait as wait.h says; at once where that is empty.
  /// All three parameters last until then. The task is destroyed where it waits if the connection
  /// closes.
  virtual Task<> Handle(const Plan& plan, const Request& request, Response* response) = 0;
  /// An answer was made. Quick: runs on the I/O thread.
  virtual void Done(const Outcome& outcome) = 0;
};

}  // namespace seendb::http
