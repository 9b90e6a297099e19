// server/http/tls_greeting.h: how a connection agrees on TLS.
//
// The answer to a client's first bytes, with its signature, costs as much as a request. So it is
// work like others: it waits in the thread's lane, which learns its cost, and under load the
// connection is reset before anything was spent on it. A client that has said nothing yet costs
// nothing.

#pragma once

#include "http/loop.h"
#include "http/request_turn.h"
#include "http/task.h"
#include "http/transport.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's I/O thread, which has a lane.
class TlsGreeting {
 public:
  /// All borrowed: the parts of a connection that has just come.
  TlsGreeting(Loop* loop, Transport* transport, RequestTurn* turn)
      : loop_(loop), transport_(transport), turn_(turn) {}

  /// Agrees on TLS, and learns who the client is. False: it did not come to that, and the
  /// connection is to be closed. The peer has the transport's deadline for it.
  Task<bool> Agree();

 private:
  bool Enter();
  bool TurnAway();
  bool Fail();

  Loop* const loop_;
  Transport* const transport_;
  RequestTurn* const turn_;
};

}  // namespace seendb::http
