// server/http/session.h: one connection, served by one loop (Serve): it reads requests, has them
// handled and writes the answers.
//
//   Transport       bytes in and out, and the times that the peer has for them
//   TlsGreeting     agrees on TLS
//   RequestReader   makes heads and bodies of bytes
//   RequestTurn     where and when a request is run, or refused for the load
//   CallWait        waits for a call from another thread
//   ResponseWriter  makes bytes of answers
//
// The loop is a coroutine of the I/O thread that the session was made for. Handlers that a Plan
// sends to a worker run there while it pauses. Requests are taken one at a time, in order; answers
// to pipelined requests are written together. Owned by its pending operations.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "http/arrival.h"
#include "http/call_wait.h"
#include "http/io_thread.h"
#include "http/loop.h"
#include "http/request_reader.h"
#include "http/request_turn.h"
#include "http/response_writer.h"
#include "http/shared.h"
#include "http/task.h"
#include "http/tls_greeting.h"
#include "http/transport.h"

namespace seendb::http {

/// See the head of this file.
class Session final : public Loop, public Idler {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes over a connection, whose socket is of `thread` (which outlives the session).
  Session(Arrival arrival, IoThread* thread);
  ~Session();

  std::shared_ptr<Session> Self() { return std::static_pointer_cast<Session>(shared_from_this()); }

  /// Begins to serve. On the door thread: serves probes (Plan::probe); the first other request
  /// moves the connection to an I/O thread. Beyond the limit of connections: serves one probe,
  /// which has to come soon, and answers 503 to any other request.
  void Start();
  /// The I/O thread calls this when the request that waits in its lane, or the TLS ClientHello, has
  /// its turn or is refused.
  void TakeTurn(const admission::Verdict& verdict, Clock::time_point now);
  /// Whether the client means to go on after this request.
  bool keeps_alive() const { return reader_.head.keep_alive; }
  int descriptor() { return transport_.stream().descriptor(); }
  /// True when it has been slow for too long; then TimeOut answers (where it can) and closes.
  bool Overdue(Clock::time_point now) const;
  void TimeOut();
  /// Gives the memory of its last request back, once it has waited for the next for a while.
  void Shrink(Clock::time_point now);
  /// Closes at once.
  void Close();
  void MakeRoom() override { Close(); }
  void Came(Event event, bool ok) override;

 private:
  /// The places where the loop pauses.
  enum class Phase : uint8_t { kHandshake, kHead, kBody, kWork, kWrite, kLinger, kDone };

  Task<> Serve();
  Task<> ReadHead();
  Task<> ReadBody();
  Task<> Stream();
  Task<> Handle();
  Task<> Write();
  Task<> Linger();

  // Waits of these.
  Task<> Fill();
  Task<> GiveWay();
  Task<> InTurn(RequestTurn::Job job);
  Task<> AwaitTurn(RequestTurn::Job job);
  Task<bool> OnPool(Executor executor, RequestTurn::Job job);
  Task<> AwaitCall(int64_t limit_us);
  void GoOn();

  // Steps between the waits.
  bool TakeHead();
  void Begin();
  bool TakeBody();
  void Feed();
  bool Fed();
  void RunHandler();
  void AnswerHead();
  void Fail(const Error& error);
  void Break();
  void Refuse(const admission::Verdict& verdict, bool at_head);
  void Respond();
  void EndRequest(unsigned status);
  void MoveOn();

  IoThread* const thread_;
  Shared* const shared_;
  const bool beyond_limit_;  // see Start
  const bool over_share_;    // of connections of its address
  bool counted_peer_;        // by PeerCounts

  Phase phase_ = Phase::kHead;
  uint64_t pauses_ = 0;
  bool closing_ = false;       // no request follows
  bool flush_ = false;         // what was answered is written at once
  bool broken_input_ = false;  // what follows on this connection can't be trusted

  // The request, from a complete head to its answer; counted in in_flight.
  bool in_request_ = false;
  Plan plan_;
  Clock::time_point began_;
  std::optional<Request> request_;
  bool stream_keep_ = false;
  size_t stream_taken_ = 0;
  int64_t unwritten_ = 0;  // answers to be written, still counted in in_flight

  Transport transport_;
  RequestReader reader_;
  ResponseWriter writer_;
  RequestTurn turn_;
  CallWait wait_;
  TaskRun handling_{&wait_};  // the handler, where it did not end at once
  TaskRun serving_{nullptr};  // the loop
};

}  // namespace seendb::http
