// More than a thread can do: what is read while it works, what is refused, what costs nothing.

#include <string>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class ListenerOverloadTest : public ListenerTest {
 protected:
  // Keeps the only I/O thread busy.
  void HoldTheThread() {
    held_.emplace(listener_->address());
    held_->Send(Get("/hold"));
    while (service_.waiting == 0) std::this_thread::yield();
  }
  void Release() { service_.release.set_value(); }
  // Waits until the system has a byte for the server on each of its connections.
  static void LetArrive() { std::this_thread::sleep_for(milliseconds(100)); }

  std::optional<Peer> held_;
};

TEST_F(ListenerOverloadTest, ProbesAreAnsweredWhileEveryThreadWorks) {
  Start({}, 1);
  Peer early = Connect();  // idle, at the door
  HoldTheThread();
  early.Send(Get("/healthz"));
  EXPECT_NE(early.ReadUntil("/healthz:").find("200 OK"), std::string::npos);
  Peer cut = Connect();  // first bytes that tell nothing yet
  cut.Send("GET /hea");
  std::this_thread::sleep_for(milliseconds(20));
  cut.Send("lthz HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(cut.ReadUntil("/healthz:").find("200 OK"), std::string::npos);
  early.Send(Get("/healthz") + Get("/other"));  // goes on to the thread behind the probe
  EXPECT_NE(early.ReadUntil("/healthz:").find("200 OK"), std::string::npos);
  EXPECT_NE(early.ReadUntil("/other:", milliseconds(50)).find("<timeout>"), std::string::npos);
  Release();
  EXPECT_NE(early.ReadUntil("/other:").find("200 OK"), std::string::npos);
  EXPECT_EQ(listener_->counters().open, 3);
}

TEST_F(ListenerOverloadTest, AConnectionOfMixedRequestsIsAnsweredInOrder) {
  Start({}, 1);
  Peer peer = Connect();
  std::string all;
  for (int i = 0; i < 20; ++i) {
    all += Get("/healthz") + Post("/echo", "body" + std::to_string(i)) + Get("/healthz");
  }
  peer.Send(all);
  const std::string told = peer.ReadUntil("/echo:body19");
  size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = told.find("/healthz:", at);
    ASSERT_NE(at, std::string::npos) << i;
    at = told.find("/echo:body" + std::to_string(i), at);
    ASSERT_NE(at, std::string::npos) << i;
  }
}

TEST_F(ListenerOverloadTest, ARequestWhoseTimeoutHasPassedIsRefused) {
  Start({}, 1);
  HoldTheThread();
  Peer peer = Connect(), other = Connect(), envoy = Connect();
  peer.Send(Get("/timed", "SeenDB-Timeout-Ms: 20\r\n"));
  envoy.Send(Get("/timed", "X-Envoy-Expected-Rq-Timeout-Ms: 20\r\n"));
  other.Send(Get("/patient", "SeenDB-Timeout-Ms: 50000\r\n"));
  LetArrive();
  Release();
  for (Peer* const gone : {&peer, &envoy}) {
    const std::string told = gone->ReadUntil("}}");
    EXPECT_NE(told.find("503 Service Unavailable"), std::string::npos) << told;
    EXPECT_NE(told.find("\"code\":\"timeout\""), std::string::npos) << told;
    EXPECT_NE(told.find("SeenDB-Retry-After-Ms: "), std::string::npos) << told;
  }
  EXPECT_NE(other.ReadUntil("/patient:").find("200 OK"), std::string::npos);
  EXPECT_EQ(service_.handled, 2) << "what was refused cost nothing";
  peer.Send(Get("/again"));
  EXPECT_NE(peer.ReadUntil("/again:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerOverloadTest, ClientsThatAreGoneCostNothing) {
  Start({}, 1);
  HoldTheThread();
  std::vector<std::unique_ptr<Peer>> gone;
  for (int i = 0; i < 20; ++i) {
    gone.push_back(std::make_unique<Peer>(listener_->address()));
    gone.back()->Send(Get("/gone"));
  }
  Peer stays = Connect();
  stays.Send(Get("/stays"));
  LetArrive();
  for (const auto& peer : gone) peer->Reset();
  Release();
  EXPECT_NE(stays.ReadUntil("/stays:").find("200 OK"), std::string::npos);
  while (listener_->counters().open > 2) std::this_thread::yield();
  EXPECT_EQ(service_.handled, 2);
}

TEST_F(ListenerOverloadTest, ABodyThatIsRefusedIsDroppedAndTheConnectionStays) {
  Start({}, 1);
  service_.limited.Set({.requests_per_s = 0.01}, 1);
  Peer peer = Connect();
  peer.Send(Get("/limited"));
  EXPECT_NE(peer.ReadUntil("/limited:").find("200 OK"), std::string::npos);
  for (const size_t bytes : {size_t{10}, size_t{20'000}, size_t{900'000}}) {
    std::thread sender([&] { peer.Send(Post("/limited", std::string(bytes, 'x'))); });
    const std::string told = peer.ReadUntil("}}");
    sender.join();
    EXPECT_NE(told.find("429 Too Many Requests"), std::string::npos) << told;
    EXPECT_EQ(told.find("Connection: close"), std::string::npos) << told;
    peer.Send(Post("/after", "b"));
    EXPECT_NE(peer.ReadUntil("/after:b").find("200 OK"), std::string::npos) << bytes;
  }
}

TEST_F(ListenerOverloadTest, ABodyOfUnknownLengthThatIsRefusedClosesTheConnection) {
  Start({}, 1);
  service_.limited.Set({.requests_per_s = 0.01}, 1);
  Peer peer = Connect();
  peer.Send(Get("/limited"));
  EXPECT_NE(peer.ReadUntil("/limited:").find("200 OK"), std::string::npos);
  peer.Send("POST /limited HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde");
  const std::string told = peer.ReadToEnd();
  EXPECT_NE(told.find("429 Too Many Requests"), std::string::npos) << told;
  EXPECT_NE(told.find("Connection: close"), std::string::npos) << told;
}

TEST_F(ListenerOverloadTest, WhatHasComeWholeIsRefusedAtItsHeadAlone) {
  Start({}, 1);
  Peer first = Connect();
  for (int i = 0; i < 70; ++i) {  // the lane learns that it takes a millisecond
    first.Send(Post("/work", "b"));
    ASSERT_NE(first.ReadUntil("/work:b").find("200 OK"), std::string::npos);
  }
  first.Send(Get("/hold-probe"));
  while (service_.waiting == 0) std::this_thread::yield();
  constexpr int kCrowd = 300;  // of whose work a third may wait
  const std::string request = Post("/work", std::string(40'000, 'x'));
  std::vector<std::unique_ptr<Peer>> crowd;
  for (int i = 0; i < kCrowd; ++i) {
    crowd.push_back(std::make_unique<Peer>(listener_->address()));
    crowd.back()->Send(request);
  }
  LetArrive();
  Release();
  for (const auto& peer : crowd) {
    const std::string told = peer->ReadUntil("\r\n\r\n", milliseconds(60'000));
    EXPECT_TRUE(told.find("200 OK") != std::string::npos ||
                told.find("503 Service Unavailable") != std::string::npos)
        << told.substr(0, 200);
  }
  const auto& lanes = admission_.lanes();
  const auto refused = [&lanes](admission::Place place) {
    uint64_t sum = 0;
    for (const auto& lane : lanes) {
      const auto& of_place = lane->counters().refused[static_cast<size_t>(place)];
      for (const auto& count : of_place[static_cast<size_t>(admission::Reason::kOverloaded)]) {
        sum += count.load();
      }
    }
    return sum;
  };
  EXPECT_EQ(refused(admission::Place::kBody), 0u) << refused(admission::Place::kHead);
}

TEST_F(ListenerOverloadTest, ManySilentConnectionsNeverExceedTheLimit) {
  Start({.connections = 50});
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 300; ++i) peers.push_back(std::make_unique<Peer>(listener_->address()));
  while (listener_->counters().opened < 300) std::this_thread::yield();
  EXPECT_EQ(listener_->counters().open, 50);
  EXPECT_EQ(listener_->counters().evicted, 250u);
  EXPECT_EQ(listener_->counters().refused, 0u);
  peers[300 - 50]->Send(Get("/first"));
  EXPECT_NE(peers[300 - 50]->ReadUntil("/first:").find("200 OK"), std::string::npos);
  EXPECT_EQ(peers[300 - 51]->ReadToEnd(), "<closed>");
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
