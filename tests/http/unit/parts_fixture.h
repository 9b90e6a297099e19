// One end of a socket pair as a connection of an I/O thread that the test turns by hand, and the
// other end as its peer; for the parts of a session, and for sessions.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admission/admission.h"
#include "http/arrival.h"
#include "http/io_thread.h"
#include "http/loop.h"
#include "http/transport.h"
#include "http/unit/listener_fixture.h"

namespace seendb::http {

/// Notes what it is told.
class NotingLoop final : public Loop {
 public:
  void Came(Event event, bool ok) override {
    ++told;
    last = event;
    all_ok = all_ok && ok;
  }
  int told = 0;
  Event last = Event::kRead;
  bool all_ok = true;
};

class PartsTest : public testing::Test {
 protected:
  explicit PartsTest(const Limits& limits = {})
      : shared_(&service_, limits, Workers{1, 1, 1}, &admission_),
        thread_(&shared_, admission_.AddLane({"io"})) {
    shared_.io_threads.push_back(&thread_);
    thread_.date = "Thu, 01 Jan 1970 00:00:00 GMT";
    thread_.dear = Clock::duration::max();  // a slow machine gives nothing to the workers
  }
  ~PartsTest() override { Leave(); }

  /// A connection, whose peer is the test.
  Arrival Connect() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    peer_ = ends[1];
    shared_.counters.open.fetch_add(1);
    return {.socket = Stream::Socket(thread_.io, Stream::Protocol(AF_UNIX, 0), ends[0]),
            .connection = {.family = AF_UNIX}};
  }
  void Send(std::string_view bytes) const {
    ASSERT_EQ(send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  /// The peer says no more.
  void EndSending() const { shutdown(peer_, SHUT_WR); }
  void Leave() {
    if (peer_ >= 0) close(std::exchange(peer_, -1));
  }
  /// All bytes that have come to the peer.
  std::string Heard(size_t most = SIZE_MAX) const {
    std::string heard;
    std::vector<char> buffer(65'536);
    while (heard.size() < most) {
      const size_t room = std::min(buffer.size(), most - heard.size());
      const ssize_t count = recv(peer_, buffer.data(), room, 0);
      if (count <= 0) break;
      heard.append(buffer.data(), static_cast<size_t>(count));
    }
    return heard;
  }
  /// The peer was told that nothing more comes.
  bool Ended() const {
    char byte = 0;
    return recv(peer_, &byte, 1, MSG_PEEK) == 0;
  }
  /// Lets the thread do all it can.
  void Turn() {
    for (bool went_on = true; went_on;) {
      thread_.io.restart();
      went_on = thread_.Turn(/*block=*/false);
    }
  }
  /// Turns until `done`, for ten seconds at most.
  template <typename Done>
  bool TurnUntil(Done done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < until) {
      Turn();
      if (done()) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

  EchoService service_;
  admission::Admission admission_;
  Shared shared_;
  IoThread thread_;
  std::shared_ptr<NotingLoop> loop_ = std::make_shared<NotingLoop>();
  int peer_ = -1;
};

}  // namespace seendb::http
