// Sessions over a socket pair, turned by hand: wherever a connection ends, nothing is left.

#include "http/session.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/unit/parts_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class SessionTest : public PartsTest {
 protected:
  void Start() {
    session_ = std::make_shared<Session>(Connect(), &thread_);
    session_->Start();
  }
  /// Sends more than the socket holds.
  void SendAll(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
      Turn();
    }
  }
  /// The thread reads, and works on nothing.
  void OnlyRead() {
    thread_.io.restart();
    thread_.io.poll();
  }
  /// Whoever waits is told.
  void LetGo() {
    const std::lock_guard lock(service_.mutex);
    for (const auto& resume : service_.parked) resume(nullptr);
    service_.parked.clear();
    service_.kept.clear();
  }
  bool NothingLeft() {
    return thread_.sessions.empty() && shared_.counters.open == 0 &&
           shared_.counters.in_flight == 0 && thread_.lane->empty() && thread_.idle_count == 0;
  }
  void ExpectNothingLeft(const std::string& of) {
    EXPECT_TRUE(TurnUntil([this] {
      LetGo();
      return NothingLeft();
    })) << of;
    session_.reset();
    Turn();
    EXPECT_EQ(shared_.budget.used(), 0u) << of;
    EXPECT_EQ(shared_.answers.used(), 0u) << of;
    EXPECT_EQ(shared_.unlimited.used(), 0u) << of;
  }
  static size_t Count(const std::string& text, std::string_view part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }

  std::shared_ptr<Session> session_;
};

TEST_F(SessionTest, APipelineIsAnsweredInOrderByOneWrite) {
  Start();
  Send(Post("/1", "one") + Get("/2") + Post("/lines", "a\nb\n") + Get("/3"));
  std::string heard;
  ASSERT_TRUE(TurnUntil([&] {
    heard += Heard();
    return heard.find("/3:") != std::string::npos;
  })) << heard;
  size_t last = 0;
  for (const std::string_view part : {"/1:one", "/2:", "a\nb\n", "/3:"}) {
    const size_t at = heard.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_GE(at, last);
    last = at;
  }
  EXPECT_EQ(Count(heard, "HTTP/1.1 200 OK"), 4u);
  Leave();
  ExpectNothingLeft("a pipeline");
}

TEST_F(SessionTest, AHeadMayComeByteByByte) {
  Start();
  for (const char byte : Get("/pieces") + Post("/again", "body")) {
    Send(std::string_view(&byte, 1));
    Turn();
  }
  const std::string heard = Heard();
  EXPECT_NE(heard.find("/pieces:"), std::string::npos);
  EXPECT_NE(heard.find("/again:body"), std::string::npos);
  Leave();
  ExpectNothingLeft("bytes");
}

TEST_F(SessionTest, WhoeverIsTooSlowIsToldAndMayReadIt) {
  for (const std::string& sent :
       {std::string("GET /"),
        std::string("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"),
        std::string("POST /lines HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n")}) {
    Start();
    Send(sent);
    Turn();
    session_->TimeOut();
    Turn();
    const std::string heard = Heard();
    EXPECT_EQ(Count(heard, "HTTP/1.1 408 "), 1u) << sent << heard;
    EXPECT_TRUE(Ended());
    Send("more");  // is read, and nobody looks at it
    Turn();
    EXPECT_FALSE(thread_.sessions.empty());
    Leave();
    ExpectNothingLeft(sent);
  }
}

TEST_F(SessionTest, WhoeverSaysNothingIsNotAnswered) {
  Start();
  Turn();
  session_->TimeOut();
  Turn();
  EXPECT_EQ(Heard(), "");
  EXPECT_TRUE(Ended());
  Leave();
  ExpectNothingLeft("silence");
}

/// The bytes that bring a connection to the place where it ends.
struct State {
  std::string name, sent;
  bool works = true;  // the thread works on what waits
};

TEST_F(SessionTest, NothingIsLeftWhereverItEnds) {
  const std::string large(3u << 20, 'x');
  const std::vector<State> states = {
      {"idle", ""},
      {"head", "GET / HT"},
      {"body", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"},
      {"chunked body", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na"},
      {"stream", "POST /lines HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\nabc\n"},
      {"lane", Get("/x") + Get("/y"), /*works=*/false},
      {"stream in the lane", Post("/lines", "x\n"), /*works=*/false},
      {"handler", Get("/later")},
      {"handler of a pipeline", Get("/x") + Get("/later") + Get("/z")},
      {"stream that waits", Post("/wait-lines", "x\n")},
      {"writing", Post("/x", large) + Get("/next")},
      {"linger", Get("/x", "Connection: close\r\n")},
      {"linger of a broken one", "no HTTP\r\n\r\n"},
  };
  const std::vector<std::pair<std::string, std::function<void()>>> ends = {
      {"peer gone", [this] { Leave(); }},
      {"no more said", [this] { EndSending(); }},
      {"closed", [this] { session_->Close(); }},
      {"room made", [this] { session_->MakeRoom(); }},
      {"timed out", [this] { session_->TimeOut(); }},
  };
  for (const State& state : states) {
    for (const auto& [name, end] : ends) {
      Start();
      if (state.works) {
        SendAll(state.sent);
        Turn();
      } else {
        Send(state.sent);
        OnlyRead();
        ASSERT_FALSE(thread_.lane->empty());
      }
      end();
      Turn();
      LetGo();
      Turn();
      if (peer_ >= 0) Heard();
      Turn();
      Leave();
      ExpectNothingLeft(state.name + ", " + name);
    }
  }
}

TEST_F(SessionTest, AWorkerMayHaveTheRequestOfAClosedConnection) {
  Start();
  Send(Get("/slow"));
  ASSERT_TRUE(TurnUntil([this] { return service_.waiting > 0; }));
  session_->Close();
  EXPECT_TRUE(NothingLeft());
  const std::weak_ptr<Session> weak = session_;
  session_.reset();
  EXPECT_FALSE(weak.expired());
  service_.release.set_value();
  EXPECT_TRUE(TurnUntil([&weak] { return weak.expired(); }));
}

TEST_F(SessionTest, AnIdleConnectionGivesItsMemoryBack) {
  Start();
  SendAll(Post("/x", std::string(200'000, 'x')));
  Heard();
  Turn();
  const size_t used = shared_.budget.used();
  EXPECT_GT(used, 100'000u);
  session_->Shrink(Clock::now());
  EXPECT_EQ(shared_.budget.used(), used);
  session_->Shrink(Clock::now() + std::chrono::seconds(2));
  EXPECT_LT(shared_.budget.used(), 10'000u);
  Send(Get("/again"));
  Turn();
  EXPECT_NE(Heard().find("/again:"), std::string::npos);
  Leave();
  ExpectNothingLeft("idle");
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
