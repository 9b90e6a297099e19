// attempt.h: one request to one server, in two halves, between which its caller may wait.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pool.h"
#include "seendb/client_types.h"

namespace seendb::client::internal {

/// A call on its way.
struct Request {
  std::string name = {};  ///< for metrics; empty: method and path
  std::string method = {};
  std::string path = {};  ///< encoded, with the query
  std::string body = {};
  std::string content_type = {};
  std::optional<std::string> user = {};  ///< whose node is asked in a cluster
  bool once = false;                     ///< it may not be made twice
  bool hedge = false;                    ///< it may be made at two servers at once
  bool patient = false;                  ///< it is made again and again, until its time is over
  Clock::time_point end = {};
};

/// Names and values.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// An answer, with those headers that a client reads.
struct Reply {
  int status = 0;
  std::string body = {};
  Headers headers = {};

  /// Empty: it has none.
  std::string_view Header(std::string_view name) const;
};

/// The end of an attempt: an answer or an error.
struct Outcome {
  std::optional<Reply> reply = {};
  std::optional<Error> error = {};
  bool unsent = false;  ///< no connection came to be: nothing was sent
};

/// See the head of this file. Threads: one.
class Attempt {
 public:
  /// All is borrowed. `end`: when this client gives up.
  Attempt(Pool& pool, const Request& request, const Headers& headers, Clock::time_point end);

  /// Connects by `connected_by`, and sends. False: the outcome has the error.
  bool Send(Clock::time_point connected_by);
  /// Waits for the answer's end. Precondition: Send was true.
  void Receive();
  /// Whether there is something to be received.
  bool HasUnread() { return (*lease_)->HasUnread(); }
  int handle() { return (*lease_)->handle(); }

  const Outcome& outcome() const { return outcome_; }
  Outcome& outcome() { return outcome_; }

 private:
  bool SendOnce(Clock::time_point connected_by);
  void Fail(const net::HttpConnection::Error& error);

  Pool& pool_;
  const Request& request_;
  const Headers& headers_;
  const Clock::time_point end_;
  net::HttpConnection::Request message_;
  std::unique_ptr<Pool::Lease> lease_;
  std::optional<net::HttpConnection::Parser> parser_;
  Outcome outcome_;
};

/// Waits until one of them has something to be received; its index, or -1: none had by `end`.
int WaitForFirst(const std::vector<Attempt*>& attempts, Clock::time_point end);

}  // namespace seendb::client::internal
