// server/http/arrival.h: a connection on its way to the thread that serves it, and the choice of
// that thread.

#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "http/connection.h"
#include "http/stream.h"
#include "http/tls.h"

namespace seendb::http {

struct IoThread;
struct Shared;

/// See the head of this file. The numbers of ListenerCounters::open and of PeerCounts have it
/// already.
struct Arrival {
  Stream::Socket socket;
  Connection connection;
  TlsContext tls = {};        ///< to be agreed on; null: none
  bool counted_peer = false;  ///< by PeerCounts
  bool over_share = false;    ///< its address has as many connections as it may: 503 and close
  bool beyond_limit = false;  ///< one request, of a probe; 503 to any other
  std::string received = {};  ///< bytes that were read of it
  std::chrono::steady_clock::time_point came = {};  ///< its first bytes; zero: none came yet
};

/// Whether no I/O thread takes another connection: more comes than they can read.
bool AllFull(const Shared& shared);

/// Gives it to the I/O thread that has the least work queued. Threads: any.
void HandOver(Arrival arrival, Shared* shared);

}  // namespace seendb::http
