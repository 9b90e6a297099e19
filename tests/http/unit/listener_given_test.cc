// Requests that are answered once their handler is given the answer.

#include <memory>
#include <string>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

Response Text(const std::string& text) {
  Response response;
  response.body = text;
  return response;
}

class ListenerGivenTest : public ListenerTest {
 protected:
  Give<Response> KeptOne() { return std::move(service_.Kept(1).front()); }
  // A request whose answer is `text` arrives at `peer`.
  static void ExpectText(Peer* peer, const std::string& text) {
    const std::string told = peer->ReadUntil(text);
    EXPECT_NE(told.find("200 OK"), std::string::npos) << told;
    EXPECT_EQ(told.find("not this"), std::string::npos) << told;
  }
  void ExpectIdle() {
    for (int i = 0; i < 1'000 && listener_->counters().open > 0; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_EQ(listener_->counters().open, 0);
    EXPECT_EQ(listener_->counters().in_flight, 0);
  }
};

TEST_F(ListenerGivenTest, ManyAreAnsweredFromOtherThreads) {
  Start();
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 40; ++i) {
    peers.push_back(std::make_unique<Peer>(listener_->address()));
    peers.back()->Send(Get(i % 4 != 0 ? "/later" : "/later-worker"));  // ten: kSlow takes them all
  }
  std::vector<Give<Response>> replies = service_.Kept(40);
  Peer other = Connect();
  other.Send(Get("/other"));
  EXPECT_NE(other.ReadUntil("/other:").find("200 OK"), std::string::npos);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&replies, t] {
      for (size_t i = t; i < replies.size(); i += 4) {
        replies[i](Text("told"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& peer : peers) ExpectText(peer.get(), "told");
  peers.front()->Send(Get("/again"));
  EXPECT_NE(peers.front()->ReadUntil("/again:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerGivenTest, WhatIsPipelinedBehindItWaitsForIt) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/first") + Get("/later") + Get("/second") + Get("/later") + Get("/third"));
  KeptOne()(Text("one"));
  KeptOne()(Text("two"));
  const std::string all = peer.ReadUntil("/third:");
  size_t at = 0;
  for (const char* body : {"/first:", "one", "/second:", "two", "/third:"}) {
    at = all.find("\r\n\r\n" + std::string(body), at);
    ASSERT_NE(at, std::string::npos) << body << " in " << all;
  }
}

TEST_F(ListenerGivenTest, NothingIsTakenFromAConnectionThatWaits) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/later") + Get("/later"));
  const auto first = KeptOne();
  std::this_thread::sleep_for(milliseconds(50));
  {
    const std::lock_guard lock(service_.mutex);
    EXPECT_TRUE(service_.kept.empty());
  }
  first(Text("one"));
  KeptOne()(Text("two"));
  ExpectText(&peer, "two");
}

TEST_F(ListenerGivenTest, WaitsLongerThanAPeerMayBeIdle) {
  Start({.header_ms = 100, .idle_ms = 200, .transfer_ms = 200});
  Peer peer = Connect();
  peer.Send(Get("/later"));
  const auto reply = KeptOne();
  std::this_thread::sleep_for(milliseconds(600));
  reply(Text("told"));
  ExpectText(&peer, "told");
  EXPECT_EQ(peer.ReadToEnd(), "<closed>") << "the limits hold again";
}

TEST_F(ListenerGivenTest, AClientThatLeftHarmsNobody) {
  Start();
  {
    Peer peer = Connect();
    peer.Send(Get("/later") + Get("/later"));
    Peer lost = Connect();
    lost.Send(Get("/later"));
    while (listener_->counters().in_flight < 2) std::this_thread::yield();
  }
  for (const auto& give : service_.Kept(2)) give(Text(std::string(1'000'000, 'x')));
  // The second request of the first peer is handled, or its connection has gone before.
  for (int i = 0; i < 1'000 && listener_->counters().open > 0; ++i) {
    {
      const std::lock_guard lock(service_.mutex);
      service_.kept.clear();
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  ExpectIdle();
  EXPECT_EQ(listener_->InflightBytes(), 0u);
}

TEST_F(ListenerGivenTest, DroppedItAnswers500) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/later") + Get("/later") + Get("/next"));
  { const auto dropped = KeptOne(); }
  { const auto dropped = KeptOne(); }
  const std::string all = peer.ReadUntil("/next:");
  const size_t first = all.find("500 Internal Server Error");
  ASSERT_NE(first, std::string::npos) << all;
  EXPECT_NE(all.find("500 Internal Server Error", first + 1), std::string::npos) << all;
  EXPECT_NE(all.find("200 OK"), std::string::npos) << "the connection goes on";
}

TEST_F(ListenerGivenTest, AHandlerThatThrewHasBeenAnswered) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/later-throw") + Get("/later"));
  const auto void_one = KeptOne();
  // It goes out at once, or with the next answer.
  const std::string first = peer.ReadUntil("\r\n\r\n", milliseconds(100));
  const auto next = KeptOne();
  void_one(Text("dropped"));
  std::this_thread::sleep_for(milliseconds(20));
  next(Text("told"));
  const std::string all = first + peer.ReadUntil("told");
  EXPECT_NE(all.find("500 Internal Server Error"), std::string::npos) << all;
  EXPECT_EQ(all.find("dropped"), std::string::npos) << all;
}

TEST_F(ListenerGivenTest, ADrainWaitsForIt) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/later"));
  const auto reply = KeptOne();
  listener_->BeginDrain();
  EXPECT_FALSE(listener_->WaitIdle(50));
  reply(Text("told"));
  const std::string all = peer.ReadToEnd();
  EXPECT_NE(all.find("Connection: close"), std::string::npos) << all;
  EXPECT_NE(all.find("told"), std::string::npos) << all;
  EXPECT_TRUE(listener_->WaitIdle(10'000));
}

TEST_F(ListenerGivenTest, TheListenerMayStopBefore) {
  Start();
  Peer first = Connect(), second = Connect(), third = Connect();
  for (const Peer* peer : {&first, &second, &third}) peer->Send(Get("/later"));
  std::vector<Give<Response>> replies = service_.Kept(3);
  listener_->Stop();
  EXPECT_EQ(listener_->counters().in_flight, 0);
  replies[0](Text("nobody reads it"));
  listener_.reset();
  replies[1](Text("nobody reads it"));
  replies.clear();
}

TEST_F(ListenerGivenTest, WorkersThatHaveStoppedTakeNothing) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/task?gw"));
  const Give<std::string> give = service_.GivenOne();
  ASSERT_TRUE(listener_->StopWorkers(10'000));
  give("told");
  const std::string all = peer.ReadUntil("refused");
  EXPECT_NE(all.find("200 OK"), std::string::npos) << all;
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
