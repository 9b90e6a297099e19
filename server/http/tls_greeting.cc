#include "http/tls_greeting.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <sys/socket.h>

#include "admission/tenants.h"

namespace seendb::http {
namespace {

/// The first words of a client are hardly longer.
constexpr size_t kHelloBytes = 16u << 10;
constexpr size_t kLongestMethod = 7;
/// Under overload so many wait in a thread's lane, so that newcomers leave room to those who are
/// connected.
constexpr size_t kMostHellos = 8;
/// The number under which a lane learns what handshakes cost. Those of the service are far below.
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

/// Counts first bytes that wait in the lane.
class HelloWaits {
 public:
  explicit HelloWaits(IoThread* thread) : thread_(thread) { ++thread_->hellos; }
  HelloWaits(const HelloWaits&) = delete;
  HelloWaits& operator=(const HelloWaits&) = delete;
  ~HelloWaits() { --thread_->hellos; }

 private:
  IoThread* const thread_;
};

}  // namespace

Task<bool> TlsGreeting::Agree() {
  while (true) {
    transport_->AwaitReadable();
    co_await Pause();
    if (!Enter()) co_return TurnAway();
    {
      const HelloWaits counted(transport_->thread());
      co_await Pause();
    }
    if (!turn_->verdict().admitted()) co_return TurnAway();
    const int descriptor = transport_->stream().descriptor();
    char* const at = transport_->in.Reserve(kHelloBytes);  // never null: `unlimited` gives all
    const ssize_t count = recv(descriptor, at, kHelloBytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      turn_->End();
      continue;
    }
    if (count > 0 && IsPlainHttp({at, static_cast<size_t>(count)})) {
      // It fits into the socket's empty buffer, or the client does without.
      static_cast<void>(
          send(descriptor, kSpeakTls.data(), kSpeakTls.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    } else if (count > 0) {
      bool agreed = false;
      transport_->stream().Handshake(
          boost::asio::buffer(at, static_cast<size_t>(count)),
          [loop = loop_->shared_from_this(), &agreed](const boost::system::error_code& ec, size_t) {
            agreed = !ec;
            loop->Came(Loop::Event::kWork, true);
          });
      turn_->End();
      co_await Pause();
      if (!agreed) co_return Fail();
      transport_->connection.certificate_name = transport_->stream().CertificateName();
      co_return true;
    }
    turn_->End();
    co_return Fail();
  }
}

/// Has the first bytes wait for their turn. Who comes is not known yet: it counts as `high`, within
/// kMostHellos.
bool TlsGreeting::Enter() {
  IoThread& thread = *transport_->thread();
  const bool overloaded = thread.lane->counters().overloaded.load(std::memory_order_relaxed);
  if (overloaded && thread.hellos >= kMostHellos) return false;
  const admission::Ticket ticket{.priority = admission::Priority::kHigh,
                                 .route = kHandshakeRoute,
                                 .tenant_key = admission::KeyOfPeer(transport_->connection.peer),
                                 .first_byte = Clock::now()};
  return turn_->EnterHello(ticket, transport_->CameAt()).admitted();
}

/// The connection is to close with a reset, which costs the least.
bool TlsGreeting::TurnAway() {
  transport_->thread()->shared->counters.handshakes_refused.fetch_add(1, std::memory_order_relaxed);
  transport_->stream().ResetOnClose();
  return false;
}

bool TlsGreeting::Fail() {
  transport_->thread()->shared->counters.handshakes_failed.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace seendb::http
