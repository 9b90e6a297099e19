// Connections beyond the limits of their number: idle ones make room, probes are answered.

#include <deque>
#include <string>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class ListenerLimitTest : public ListenerTest {
 protected:
  // Leaves a connection in the middle of a request.
  void MakeBusy(const Peer& peer) {
    peer.Send("GET /busy HTTP/1.1\r\nHo");
    while (listener_->counters().bytes_in == seen_) std::this_thread::yield();
    seen_ = listener_->counters().bytes_in;
  }
  uint64_t seen_ = 0;
};

TEST_F(ListenerLimitTest, OneBeyondTheLimitIsTold) {
  Start({.connections = 2});
  Peer first = Connect(), second = Connect();
  for (const Peer* peer : {&first, &second}) MakeBusy(*peer);
  {
    Peer third = Connect();
    third.Send(Get("/3"));
    const std::string told = third.ReadToEnd();
    EXPECT_NE(told.find("503 Service Unavailable"), std::string::npos) << told;
    EXPECT_NE(told.find("Retry-After: 1"), std::string::npos) << told;
    EXPECT_NE(told.find("too many connections"), std::string::npos) << told;
  }
  EXPECT_EQ(listener_->counters().refused, 1u);
  first.Send("st: h\r\n\r\n");
  EXPECT_NE(first.ReadUntil("/busy:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerLimitTest, ProbesAreAnsweredBeyondTheLimit) {
  Start({.connections = 2});
  const Peer first = Connect(), second = Connect();
  for (const Peer* peer : {&first, &second}) MakeBusy(*peer);
  for (int i = 0; i < 3; ++i) {
    Peer probe = Connect();
    probe.Send(Get("/probe") + Get("/probe"));
    const std::string told = probe.ReadToEnd();
    EXPECT_NE(told.find("200 OK"), std::string::npos) << told;
    EXPECT_NE(told.find("Connection: close"), std::string::npos) << told;
    EXPECT_EQ(told.find("200 OK", told.find("200 OK") + 1), std::string::npos) << "one each";
  }
  EXPECT_EQ(listener_->counters().refused, 0u);
}

TEST_F(ListenerLimitTest, OneBeyondTheLimitThatSaysNothingIsClosedSoon) {
  Start({.header_ms = 60'000, .idle_ms = 60'000, .connections = 1});
  const Peer first = Connect();
  MakeBusy(first);
  EXPECT_EQ(Connect().ReadToEnd(), "<closed>");
  Peer slow = Connect();
  slow.Send("GET /probe HT");
  EXPECT_NE(slow.ReadToEnd().find("<closed>"), std::string::npos);
}

TEST_F(ListenerLimitTest, TheConnectionThatIsIdleLongestMakesRoom) {
  Start({.connections = 3});
  Peer oldest = Connect(), middle = Connect(), newest = Connect();
  for (Peer* peer : {&oldest, &middle, &newest}) {
    peer->Send(Get("/1"));
    EXPECT_NE(peer->ReadUntil("/1:").find("200 OK"), std::string::npos);
  }
  Peer another = Connect();
  another.Send(Get("/2"));
  EXPECT_NE(another.ReadUntil("/2:").find("200 OK"), std::string::npos);
  EXPECT_EQ(oldest.ReadToEnd(), "<closed>") << "it was answered first";
  for (Peer* peer : {&middle, &newest, &another}) {
    peer->Send(Get("/3"));
    EXPECT_NE(peer->ReadUntil("/3:").find("200 OK"), std::string::npos);
  }
  EXPECT_EQ(listener_->counters().evicted, 1u);
  EXPECT_EQ(listener_->counters().refused, 0u);
}

TEST_F(ListenerLimitTest, OneAddressHasNoMoreThanItsShare) {
  Start({.connections_per_peer = 2});
  std::optional<Peer> first(std::in_place, listener_->address());
  Peer second = Connect();
  for (Peer* peer : {&*first, &second}) {
    peer->Send(Get("/1"));
    EXPECT_NE(peer->ReadUntil("/1:").find("200 OK"), std::string::npos);
  }
  const std::string told = Connect().ReadToEnd();
  EXPECT_NE(told.find("503"), std::string::npos) << told;
  EXPECT_NE(told.find("limits.connections_per_peer"), std::string::npos) << told;
  first.reset();
  while (listener_->counters().open > 1) std::this_thread::yield();
  Peer third = Connect();
  third.Send(Get("/3"));
  EXPECT_NE(third.ReadUntil("/3:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerLimitTest, AnswersThatNobodyReadsAreLetGo) {
  // More than the system's buffers take, so that some of it waits here.
  const std::string much(16u << 20, 'x');
  Start({.body_bytes = 32u << 20, .answer_bytes = 1u << 20});
  Peer slow = Connect();
  slow.Send(Post("/large", much));
  while (listener_->AnswerBytes() < (1u << 20)) std::this_thread::yield();
  Peer other = Connect();
  other.Send(Get("/large"));
  const std::string told = other.ReadUntil("in flight");
  EXPECT_NE(told.find("503"), std::string::npos) << told;
  EXPECT_NE(told.find("too many answer bytes in flight"), std::string::npos) << told;
  other.Send(Post("/small", "b"));
  EXPECT_NE(other.ReadUntil("/small:b").find("200 OK"), std::string::npos);
  while (listener_->counters().timed_out == 0) std::this_thread::yield();  // by read_bytes_per_s
  while (listener_->AnswerBytes() > (1u << 20)) std::this_thread::yield();
  other.Send(Get("/large"));
  EXPECT_NE(other.ReadUntil("/large:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerLimitTest, SmallBodiesFindRoomWhateverOthersHold) {
  Start({.inflight_bytes = 130'000});
  const auto begin = [](const Peer& peer, int promised, size_t sent) {
    peer.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(promised) +
              "\r\n\r\n" + std::string(sent, 'x'));
  };
  const Peer first = Connect(), second = Connect();
  begin(first, 65'000, 60'000);
  while (listener_->InflightBytes() < 65'000) std::this_thread::yield();
  begin(second, 34'000, 30'000);
  while (listener_->InflightBytes() < 99'000) std::this_thread::yield();
  Peer third = Connect();
  begin(third, 30'000, 30'000);
  EXPECT_NE(third.ReadToEnd().find("too many request bytes in flight"), std::string::npos);
  std::deque<Peer> held;
  while (listener_->InflightBytes() < 130'000)
    begin(held.emplace_back(listener_->address()), 16'000, 10'000);
  for (int i = 0; i < 20; ++i) {
    Peer small = Connect();
    small.Send(Post("/small", std::string(16'000, 's')));
    EXPECT_NE(small.ReadUntil("sss").find("200 OK"), std::string::npos);
  }
}

TEST_F(ListenerLimitTest, EmptyLinesKeepNoStreamOpen) {
  Start({.idle_ms = 500});
  Peer peer = Connect();
  peer.Send("POST /lines HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n");
  EXPECT_NE(peer.ReadUntil("a\n").find("200 OK"), std::string::npos);
  std::string told;
  for (int i = 0; i < 100 && told.find("<closed>") == std::string::npos; ++i) {
    peer.Send("2\r\n\r\n\r\n");
    told += peer.ReadUntil("<never>", milliseconds(50));
  }
  EXPECT_NE(told.find("\"timeout\""), std::string::npos) << told;
  EXPECT_NE(told.find("<closed>"), std::string::npos) << told;
}

TEST_F(ListenerLimitTest, AStreamEnds) {
  Start({.idle_ms = 60'000, .stream_ms = 700});
  Peer peer = Connect();
  peer.Send("POST /lines HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string told;
  for (int i = 0; i < 100 && told.find("<closed>") == std::string::npos; ++i) {
    peer.Send("2\r\na\n\r\n");
    told += peer.ReadUntil("<never>", milliseconds(50));
  }
  EXPECT_NE(told.find("a\n"), std::string::npos) << told;
  EXPECT_NE(told.find("<closed>"), std::string::npos) << told;
}

TEST_F(ListenerLimitTest, AConnectionThatWaitsForARequestHoldsLittleMemory) {
  Start();
  const std::string body(200'000, 'b');
  std::deque<Peer> peers;
  for (int i = 0; i < 8; ++i) {
    peers.emplace_back(listener_->address()).Send(Post("/echo", body));
    EXPECT_NE(peers.back().ReadUntil("b" + body.substr(1)).find("200 OK"), std::string::npos);
  }
  const auto held = [this] { return listener_->InflightBytes() + listener_->AnswerBytes(); };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (held() > peers.size() * 16'384 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_LE(held(), peers.size() * 16'384);
  for (Peer& peer : peers) {
    peer.Send(Post("/echo", "again"));
    EXPECT_NE(peer.ReadUntil("/echo:again").find("200 OK"), std::string::npos);
  }
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
