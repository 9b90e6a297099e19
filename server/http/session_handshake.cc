// The part of Session that agrees on TLS.
//
// The answer to a client's first bytes, with its signature, costs as much as a request. So it is
// work like others: it waits in the thread's lane, which learns its cost, and under load the
// connection is reset before anything was spent on it. A client that has said nothing yet costs
// nothing.

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <sys/socket.h>

#include "admission/tenants.h"
#include "http/session.h"

namespace seendb::http {
namespace {

/// What a client says first is hardly longer.
constexpr size_t kHelloBytes = 16u << 10;
constexpr size_t kLongestMethod = 7;
/// Under overload so many wait in a thread's lane, so that newcomers leave room to those who are
/// connected.
constexpr size_t kMostHellos = 8;
/// Of what handshakes cost. Those of the service are far below.
constexpr int kHandshakeRoute = static_cast<int>(admission::kMaxRoutes) - 1;

/// What a client is told that speaks plain HTTP: the one line that it shows to its user.
constexpr std::string_view kSpeakTls =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 103\r\n"
    "Connection: close\r\n\r\n"
    R"({"error":{"code":"invalid_argument","message":"this port speaks TLS: begin with https://","field":""}})"
    "\n";

/// Whether the first bytes are a request line's: a TLS record begins with 22.
bool IsPlainHttp(std::string_view bytes) {
  const size_t space = bytes.find(' ');
  return space != 0 && space <= kLongestMethod &&
         std::all_of(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(space),
                     [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

/// The peer has as long as for a head; who idles meanwhile may have to go.
void Session::Handshake() {
  phase_ = Phase::kHandshake;
  deadline_ = beyond_limit_ ? head_until_ : After(HeaderMs());
  thread_->AddIdle(this);
  AwaitHello();
}

void Session::AwaitHello() {
  stream_.WaitReadable([self = shared_from_this()](const boost::system::error_code& ec) {
    if (self->phase_ == Phase::kDone) return;
    if (ec) return self->Close();
    self->MeetHello();
  });
}

/// Who comes is not known yet: it counts as `high`, within kMostHellos.
void Session::MeetHello() {
  admission::Lane& lane = *thread_->lane;
  const bool overloaded = lane.counters().overloaded.load(std::memory_order_relaxed);
  if (overloaded && thread_->hellos >= kMostHellos) return TurnAway();
  const Clock::time_point now = Clock::now();
  entry_.ticket = {.priority = admission::Priority::kHigh,
                   .route = kHandshakeRoute,
                   .tenant_key = admission::KeyOfPeer(connection_.peer),
                   .first_byte = now};
  admission::Verdict verdict = lane.Head(&entry_, now);
  if (verdict.admitted()) verdict = lane.Complete(&entry_, CameAt(), now);
  if (!verdict.admitted()) return TurnAway();
  admitted_by_ = Lane::kThread;
  hello_waits_ = true;
  ++thread_->hellos;
  self_ = shared_from_this();
}

void Session::AnswerHello(const admission::Verdict& verdict, Clock::time_point now) {
  LeaveHandshakes();
  if (!verdict.admitted()) return TurnAway();
  char* const at = in_.Reserve(kHelloBytes);  // never null: `unlimited` gives all
  const ssize_t count = recv(stream_.descriptor(), at, kHelloBytes, MSG_DONTWAIT);
  const bool none = count < 0 && (errno == EAGAIN || errno == EINTR);
  const bool plain = count > 0 && IsPlainHttp({at, static_cast<size_t>(count)});
  if (plain) {
    // It fits into the socket's empty buffer, or the client does without.
    const ssize_t sent =
        send(stream_.descriptor(), kSpeakTls.data(), kSpeakTls.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    static_cast<void>(sent);
  } else if (count > 0) {
    stream_.Handshake(boost::asio::buffer(at, static_cast<size_t>(count)),
                      [self = shared_from_this()](const boost::system::error_code& ec, size_t) {
                        self->Agreed(ec);
                      });
  }
  const Clock::time_point done = Clock::now();
  thread_->lane->Done(&entry_, done - now, done);
  if (none) return AwaitHello();
  if (count <= 0 || plain) Agreed(boost::asio::error::eof);
}

void Session::Agreed(const boost::system::error_code& ec) {
  if (phase_ == Phase::kDone) return;
  thread_->RemoveIdle(this);
  if (ec) {
    shared_->counters.handshakes_failed.fetch_add(1, std::memory_order_relaxed);
    return Close();
  }
  connection_.certificate_name = stream_.CertificateName();
  phase_ = Phase::kHead;
  Pump();
}

void Session::LeaveHandshakes() {
  if (std::exchange(hello_waits_, false)) --thread_->hellos;
}

/// Closes with a reset, which costs the least.
void Session::TurnAway() {
  shared_->counters.handshakes_refused.fetch_add(1, std::memory_order_relaxed);
  stream_.ResetOnClose();
  Close();
}

}  // namespace seendb::http
