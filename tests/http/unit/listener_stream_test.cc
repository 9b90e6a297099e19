// Answers that go out as they are made, over real sockets.

#include <chrono>
#include <string>
#include <thread>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST_F(ListenerTest, AStreamIsAnsweredWhileItIsSent) {
  Start();
  Peer peer = Connect();
  peer.Send("POST /lines HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  EXPECT_NE(peer.ReadUntil("4\r\none\n\r\n").find("Transfer-Encoding: chunked"), std::string::npos);
  peer.Send("4\r\ntwo\n\r\n");
  EXPECT_EQ(peer.ReadUntil("two\n\r\n"), "4\r\ntwo\n\r\n");
  peer.Send("0\r\n\r\n" + Get("/next"));
  EXPECT_NE(peer.ReadUntil("/next:").find("0\r\n\r\nHTTP/1.1 200 OK"), std::string::npos);
}

TEST_F(ListenerTest, AnHttp10StreamEndsWithItsConnection) {
  Start();
  Peer peer = Connect();
  peer.Send("POST /lines HTTP/1.0\r\nContent-Length: 4\r\n\r\none\n");
  const std::string all = peer.ReadToEnd();
  EXPECT_EQ(all.find("chunked"), std::string::npos) << all;
  EXPECT_NE(all.find("\r\n\r\none\n<closed>"), std::string::npos) << all;
}

TEST_F(ListenerTest, ABrokenStreamSaysSoAndHasNoEnd) {
  Start();
  Peer peer = Connect();
  peer.Send("POST /lines HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  peer.ReadUntil("one\n\r\n");
  peer.Send("zz\r\n");
  const std::string all = peer.ReadToEnd();
  EXPECT_NE(all.find("invalid_argument"), std::string::npos) << all;
  EXPECT_EQ(all.find("\r\n0\r\n\r\n"), std::string::npos) << all;
}

/// "2\r\n0\n\r\n" and so on, and the end.
std::string Chunks(int lines) {
  std::string chunks;
  for (int i = 0; i < lines; ++i) {
    const std::string line = std::to_string(i) + "\n";
    chunks += std::to_string(line.size()) + "\r\n" + line + "\r\n";
  }
  return chunks + "0\r\n\r\n";
}

TEST_F(ListenerTest, AnAnswerGoesOnBehindTheBody) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/count/500") + Post("/count/3", "a body") +
            "POST /count/2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n0\r\n\r\n" +
            Get("/count/0") + "HEAD /count/7 HTTP/1.1\r\nHost: h\r\n\r\n" +
            Get("/end", "Connection: close\r\n"));
  const std::string all = peer.ReadUntil("", milliseconds(60'000));
  size_t at = 0;
  for (const int lines : {500, 3, 2, 0}) {
    const std::string answer =
        "Transfer-Encoding: chunked\r\n\r\n" + Chunks(lines) + "HTTP/1.1 200";
    at = all.find(answer, at);
    ASSERT_NE(at, std::string::npos) << lines;
  }
  const size_t head = all.find("Transfer-Encoding: chunked\r\n\r\nHTTP/1.1 200", at);
  EXPECT_NE(head, std::string::npos) << "HEAD has no body";
  EXPECT_NE(all.find("\r\n\r\n/end:<closed>", head), std::string::npos);
}

TEST_F(ListenerTest, HeadOfAStreamHasNoBodyHoweverItsOwnArrives) {
  Start();
  Peer peer = Connect();
  peer.Send("HEAD /lines HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n");
  std::this_thread::sleep_for(milliseconds(20));  // taken alone, most likely
  peer.Send("2\r\nb\n\r\n0\r\n\r\n" + Get("/end", "Connection: close\r\n"));
  const std::string all = peer.ReadUntil("", milliseconds(60'000));
  const size_t head = all.find("\r\n\r\n");
  ASSERT_NE(head, std::string::npos) << all;
  const std::string rest = all.substr(head + 4);
  EXPECT_EQ(rest.find("HTTP/1.1 200"), 0u) << all;
  EXPECT_NE(rest.find("\r\n\r\n/end:<closed>"), std::string::npos) << all;
}

TEST_F(ListenerTest, ADroppedBodyNeverReachesTheService) {
  Start();
  Peer peer = Connect();
  const std::string head = "POST /drop HTTP/1.1\r\nHost: h\r\n";
  peer.Send(head + "Content-Length: 3\r\n\r\nabc" + head +
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
            Get("/end", "Connection: close\r\n"));
  const std::string all = peer.ReadUntil("", milliseconds(60'000));
  const size_t first = all.find("/drop:HTTP/1.1 200");
  ASSERT_NE(first, std::string::npos) << all;
  EXPECT_NE(all.find("/drop:HTTP/1.1 200", first + 1), std::string::npos) << all;
}

TEST_F(ListenerTest, AFailureBehindTheBodyBreaksTheAnswerOff) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/fail/0") + Get("/fail/2"));
  const std::string all = peer.ReadUntil("", milliseconds(60'000));
  EXPECT_EQ(all.find("HTTP/1.1 503"), 0u) << "nothing was sent: an answer like others";
  EXPECT_NE(all.find("Retry-After: 1"), std::string::npos);
  const size_t second = all.find("HTTP/1.1 200");
  ASSERT_NE(second, std::string::npos);
  EXPECT_NE(all.find("2\r\n1\n\r\n", second), std::string::npos);
  EXPECT_NE(all.find("\"no more\"", second), std::string::npos);
  EXPECT_EQ(all.find("\r\n0\r\n\r\n", second), std::string::npos) << "an end it must not have";
  EXPECT_EQ(service_.last_status, 503u);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
