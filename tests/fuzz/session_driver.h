// tests/fuzz/session_driver.h: a real http::Session over one end of a socket pair, driven by hand
// on this thread: bytes go in at the other end, in any pieces, and answers come out of it.

#pragma once

#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "admission/admission.h"
#include "fuzz/input.h"
#include "http/session.h"
#include "support/run_here.h"

namespace seendb::fuzz {

/// How a peer's connection ends.
enum class Ending : uint8_t {
  kDone,     ///< it says no more, and reads to the end
  kTimeOut,  ///< it falls silent until its time is up
  kGone,     ///< it closes, whatever is still to come
};

/// Handles requests where they are read: there are no workers.
class InlineService : public http::Service {
 public:
  explicit InlineService(http::Service* inner) : inner_(inner) {}
  http::Plan Begin(const http::RequestHead& head) override {
    http::Plan plan = inner_->Begin(head);
    plan.executor = plan.large_executor = plan.encode_executor = http::Executor::kInline;
    return plan;
  }
  http::Task<> Handle(const http::Plan& plan, const http::Request& request,
                      http::Response* response) override {
    test::RunHere(inner_->Handle(plan, request, response));
    return {};
  }
  void Done(const http::Outcome& outcome) override { inner_->Done(outcome); }

 private:
  http::Service* const inner_;
};

/// Sessions of one service, one at a time.
class SessionDriver {
 public:
  SessionDriver(http::Service* service, const http::Limits& limits)
      : inline_(service),
        shared_(&inline_, limits, http::Workers{1, 1, 1}, &admission_),
        thread_(&shared_, admission_.AddLane({"io"})) {
    shared_.io_threads.push_back(&thread_);
    thread_.dear = http::Clock::duration::max();  // nothing goes to a worker
    thread_.date = "Thu, 01 Jan 1970 00:00:00 GMT";
  }

  /// All that a session says to `bytes` that come in pieces of up to `most` (0: at once). Checks
  /// that it ends and leaves nothing behind.
  std::string Talk(std::string_view bytes, size_t most, Ending ending) {
    int ends[2];
    Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    http::Stream::Socket socket(thread_.io, {AF_UNIX, 0}, ends[0]);
    shared_.counters.open.fetch_add(1);
    auto session = std::make_shared<http::Session>(
        http::Arrival{.socket = std::move(socket), .connection = {.family = AF_UNIX}}, &thread_);
    session->Start();
    std::string said;
    Cutter cutter(most);
    while (!bytes.empty()) {
      const size_t length = cutter.Next(bytes.size());
      const ssize_t sent = send(ends[1], bytes.data(), length, MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) break;  // it has closed
      bytes.remove_prefix(sent < 0 ? 0 : static_cast<size_t>(sent));
      Turn(ends[1], &said);
    }
    if (ending == Ending::kGone) {
      close(ends[1]);
    } else {
      if (ending == Ending::kTimeOut) session->TimeOut();
      Turn(ends[1], &said);
      shutdown(ends[1], SHUT_WR);
      Turn(ends[1], &said);
      close(ends[1]);
    }
    session.reset();
    Turn(-1, nullptr);
    CheckNothingLeft();
    return said;
  }

 private:
  /// Lets the session do all it can, and takes what it says.
  void Turn(int fd, std::string* said) {
    char piece[16384];
    bool went_on = true;
    while (went_on) {
      thread_.io.restart();
      went_on = thread_.Turn(/*block=*/false);
      for (ssize_t got = 1; said != nullptr && got > 0;) {
        got = recv(fd, piece, sizeof(piece), 0);
        if (got > 0) said->append(piece, static_cast<size_t>(got));
        went_on = went_on || got > 0;
      }
    }
  }

  void CheckNothingLeft() {
    Check(thread_.sessions.empty());
    Check(shared_.counters.open == 0 && shared_.counters.in_flight == 0);
    Check(shared_.budget.used() == 0 && shared_.unlimited.used() == 0);
  }

  InlineService inline_;
  admission::Admission admission_;
  http::Shared shared_;
  http::IoThread thread_;
};

}  // namespace seendb::fuzz
