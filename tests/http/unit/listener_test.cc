// The listener over real sockets with a service of its own: limits, order, slow peers, draining.

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST_F(ListenerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  Peer peer = Connect();
  std::string requests;
  for (int i = 0; i < 200; ++i) requests += Post("/" + std::to_string(i), "b" + std::to_string(i));
  peer.Send(requests + Get("/end", "Connection: close\r\n"));
  const std::string all = peer.ReadToEnd();
  size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string body = "/" + std::to_string(i) + ":b" + std::to_string(i);
    at = all.find("\r\n\r\n" + body, at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_NE(all.find("/end:<closed>"), std::string::npos);
}

TEST_F(ListenerTest, LargeAnswersBetweenSmallOnes) {
  Start();
  Peer peer = Connect();
  const std::string large(500'000, 'x');
  peer.Send(Post("/a", "1") + Post("/b", large) + Get("/c", "Connection: close\r\n"));
  const std::string all = peer.ReadToEnd();
  EXPECT_NE(all.find("/a:1HTTP/1.1 200"), std::string::npos);
  EXPECT_NE(all.find("/b:" + large + "HTTP/1.1 200"), std::string::npos);
  EXPECT_NE(all.find("/c:<closed>"), std::string::npos);
}

TEST_F(ListenerTest, ASlowHeadIsCutOffAnIdleConnectionClosed) {
  Start({.header_ms = 200, .idle_ms = 600});
  Peer slow = Connect(), idle = Connect();
  slow.Send("GET / HTTP/1.1\r\nHo");
  const std::string told = slow.ReadToEnd();
  EXPECT_NE(told.find("408"), std::string::npos) << told;
  EXPECT_NE(told.find("<closed>"), std::string::npos) << told;
  EXPECT_EQ(idle.ReadToEnd(), "<closed>");
  EXPECT_GE(listener_->counters().timed_out, 2u) << "and a third when its last words lie unread";
}

TEST_F(ListenerTest, ASlowBodyIsCutOff) {
  Start({.idle_ms = 300});
  for (const char* path : {"/body", "/lines"}) {
    Peer peer = Connect();
    peer.Send("POST " + std::string(path) +
              " HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
    const std::string told = peer.ReadToEnd();
    EXPECT_NE(told.find("timeout"), std::string::npos) << told;
    EXPECT_NE(told.find("<closed>"), std::string::npos) << told;
  }
}

TEST_F(ListenerTest, BodiesAreLimitedOneByOneAndTogether) {
  Start({.body_bytes = 200'000, .inflight_bytes = 450'000});
  Peer large = Connect();
  large.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200001\r\n\r\n");
  EXPECT_NE(large.ReadToEnd().find("413 Content Too Large"), std::string::npos);

  Peer first = Connect();
  const std::string half(190'000, 'x');
  const uint64_t before = listener_->counters().bytes_in;
  first.Send("POST /first HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + half);
  // A body that grows holds its old and its new memory for a moment: wait until it has grown.
  while (listener_->counters().bytes_in < before + half.size()) std::this_thread::yield();
  Peer second = Connect();
  second.Send("POST /second HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + half);
  const std::string told = second.ReadToEnd();
  EXPECT_NE(told.find("503"), std::string::npos) << told.substr(0, 300);
  first.Send(std::string(10'000, 'y'));
  EXPECT_NE(first.ReadUntil("yyy").find("200 OK"), std::string::npos);
}

TEST_F(ListenerTest, ALyingLengthCostsNoMemory) {
  Start();
  Peer peer = Connect();
  peer.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\nx");
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LE(listener_->InflightBytes(), 128u << 10);
}

TEST_F(ListenerTest, EndlessChunkHeadsAreRefused) {
  Start();
  Peer peer = Connect();
  peer.Send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;" +
            std::string(200'000, 'e'));
  EXPECT_NE(peer.ReadToEnd().find("400 Bad Request"), std::string::npos);
}

TEST_F(ListenerTest, MuchMayFollowAChunkedBody) {
  Start();
  Peer peer = Connect();
  std::string requests;
  for (int i = 0; i < 4'000; ++i) {
    requests += "POST /" + std::to_string(i) +
                " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
  }
  std::thread sender([&] { peer.Send(requests + Get("/end", "Connection: close\r\n")); });
  const std::string all = peer.ReadToEnd();
  sender.join();
  EXPECT_NE(all.find("/3999:x"), std::string::npos);
  EXPECT_NE(all.find("/end:<closed>"), std::string::npos);
  EXPECT_EQ(all.find("400 Bad Request"), std::string::npos);
}

TEST_F(ListenerTest, ExceptionsAreAnswered) {
  Start();
  for (const char* path : {"/throw", "/throw-slow"}) {
    Peer peer = Connect();
    peer.Send(Get(path) + Get("/next"));
    const std::string all = peer.ReadUntil("/next:");
    EXPECT_NE(all.find("500 Internal Server Error"), std::string::npos) << all;
    EXPECT_EQ(all.find("thrown"), std::string::npos) << "what it says stays inside";
  }
  Peer lost = Connect(), other = Connect();
  lost.Send(Get("/throw-at-once"));
  EXPECT_EQ(lost.ReadToEnd(), "<closed>");
  other.Send(Get("/other"));
  EXPECT_NE(other.ReadUntil("/other:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerTest, ContinueIsSaidOnlyWhenTheBodyIsWanted) {
  Start();
  const std::string head =
      " HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
  Peer wanted = Connect();
  wanted.Send("POST /body" + head);
  EXPECT_EQ(wanted.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wanted.Send("{}");
  EXPECT_NE(wanted.ReadUntil("/body:{}").find("200 OK"), std::string::npos);
  Peer unwanted = Connect();
  unwanted.Send("POST /refused" + head);
  const std::string told = unwanted.ReadToEnd();
  EXPECT_EQ(told.find("100 Continue"), std::string::npos);
  EXPECT_NE(told.find("404 Not Found"), std::string::npos);
}

TEST_F(ListenerTest, ARefusedRequestLeavesTheConnectionUsable) {
  Start();
  Peer peer = Connect();
  peer.Send(Post("/refused", std::string(10'000, 'x')) + Get("/next"));
  const std::string all = peer.ReadUntil("/next:");
  EXPECT_NE(all.find("404 Not Found"), std::string::npos);
  EXPECT_NE(all.find("200 OK"), std::string::npos);
}

TEST_F(ListenerTest, DrainingFinishesWhatWasBegun) {
  Start();
  Peer slow = Connect(), idle = Connect();
  idle.Send(Get("/idle"));
  ASSERT_NE(idle.ReadUntil("/idle:").find("200 OK"), std::string::npos);
  slow.Send(Get("/slow"));
  while (service_.waiting == 0) std::this_thread::yield();
  listener_->BeginDrain();
  EXPECT_FALSE(listener_->WaitIdle(50)) << "a request is in flight";
  service_.release.set_value();
  const std::string all = slow.ReadToEnd();
  EXPECT_NE(all.find("/slow:"), std::string::npos);
  EXPECT_NE(all.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(listener_->WaitIdle(10'000));
  EXPECT_TRUE(listener_->StopWorkers(10'000));
  listener_->Stop();
  EXPECT_EQ(idle.ReadToEnd(), "<closed>");
  EXPECT_EQ(listener_->counters().open, 0);
  EXPECT_EQ(listener_->counters().in_flight, 0);
}

TEST_F(ListenerTest, TheWorkersQueueIsLimited) {
  Start({.queue = 1});
  Peer first = Connect(), second = Connect();
  first.Send(Get("/slow"));
  while (service_.waiting < 1) std::this_thread::yield();
  second.Send(Get("/slow"));
  while (service_.waiting < 2) std::this_thread::yield();
  // Both workers are taken. Of two more one waits, whichever is read first, and one is refused.
  Peer one = Connect(), other = Connect();
  one.Send(Get("/slow"));
  other.Send(Get("/slow"));
  while (service_.last_status == 0) std::this_thread::yield();
  EXPECT_EQ(service_.last_status, 503u);
  service_.release.set_value();
  EXPECT_NE(first.ReadUntil("/slow:").find("200 OK"), std::string::npos);
  EXPECT_NE(second.ReadUntil("/slow:").find("200 OK"), std::string::npos);
  const std::string answers[] = {one.ReadUntil("\r\n\r\n"), other.ReadUntil("\r\n\r\n")};
  const auto refused = [](const std::string& answer) {
    return answer.find(" 503 ") != std::string::npos &&
           answer.find("Retry-After") != std::string::npos;
  };
  const auto answered = [](const std::string& answer) {
    return answer.find("200 OK") != std::string::npos;
  };
  EXPECT_TRUE((refused(answers[0]) && answered(answers[1])) ||
              (answered(answers[0]) && refused(answers[1])))
      << answers[0] << answers[1];
}

TEST_F(ListenerTest, ManyConnectionsAtOnce) {
  Start();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        Peer peer = Connect();
        const std::string path = "/" + std::to_string(t * 1'000 + i);
        peer.Send(Post(path, "x") + Post(path, "y"));
        const std::string got = peer.ReadUntil(path + ":y");
        if (got.find(path + ":x") != std::string::npos) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
  EXPECT_EQ(listener_->counters().opened, 400u);
}

TEST(ListenerOpenTest, SaysWhyItCanNotListen) {
  EchoService service;
  Listener first(&service, {}), second(&service, {});
  ASSERT_EQ(first.Open("127.0.0.1", 0), std::nullopt);
  const auto address = ParseHostPort(first.address());
  const auto error = second.Open("127.0.0.1", address->second);
  ASSERT_TRUE(error);
  EXPECT_NE(error->find(first.address()), std::string::npos) << *error;
  EXPECT_TRUE(Listener(&service, {}).Open("no.such.host.invalid", 0));
}

TEST(ListenerOpenTest, ReadsAddresses) {
  EXPECT_EQ(ParseHostPort("127.0.0.1:80"), std::make_pair(std::string("127.0.0.1"), uint16_t{80}));
  EXPECT_EQ(ParseHostPort("[::1]:7373"), std::make_pair(std::string("::1"), uint16_t{7373}));
  for (const char* bad : {"", "80", ":80", "h:", "h:x", "h:65536", "h:-1", "::1:80", "[::1]"}) {
    EXPECT_EQ(ParseHostPort(bad), std::nullopt) << bad;
  }
}

TEST_F(ListenerTest, RequestIdsComeBackWithTheirOwnAnswers) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/a", "X-Request-Id: id-1\r\n") + Get("/b") +
            Get("/refused", "X-Request-Id: id-3\r\nConnection: close\r\n"));
  const std::string all = peer.ReadToEnd();
  const size_t first = all.find("\r\nX-Request-Id: id-1\r\n");
  const size_t third = all.find("\r\nX-Request-Id: id-3\r\n");
  ASSERT_NE(first, std::string::npos) << all;
  ASSERT_NE(third, std::string::npos) << all;
  EXPECT_LT(first, third);
  EXPECT_EQ(all.find("X-Request-Id", first + 10), third + 2) << "the second has none";
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
