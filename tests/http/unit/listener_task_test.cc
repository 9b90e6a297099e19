// Requests whose handlers are tasks: they wait without a thread, and go on where they ask to.

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class ListenerTaskTest : public ListenerTest {
 protected:
  /// All tasks and requests come to their end.
  void ExpectIdle() {
    for (int i = 0; i < 2'000 && (service_.alive > 0 || listener_->counters().open > 0); ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_EQ(service_.alive, 0);
    EXPECT_EQ(listener_->counters().open, 0);
    EXPECT_EQ(listener_->counters().in_flight, 0);
  }
  Give<std::string> GivenOne() { return service_.GivenOne(); }
};

TEST_F(ListenerTaskTest, OneThatWaitsForNothingIsAnsweredWhereItCame) {
  Start();
  Peer peer = Connect();
  peer.Send(Post("/task", "body"));
  EXPECT_NE(peer.ReadUntil(" body0").find("200 OK"), std::string::npos);
  EXPECT_EQ(service_.alive, 0);
}

TEST_F(ListenerTaskTest, ItGoesWhereItAsksTo) {
  Start();
  Peer peer = Connect();
  for (const auto& [steps, told] :
       {std::pair("w", " worker body0"), std::pair("t", " worker body0"),
        std::pair("ti", " worker io body0"), std::pair("wt", " worker worker body0"),
        std::pair("iiwi", " io io worker io body0")}) {
    peer.Send(Post(std::string("/task?") + steps, "body"));
    const std::string answer = peer.ReadUntil(" body0");
    EXPECT_NE(answer.find(std::string("\r\n\r\n") + told), std::string::npos) << answer;
  }
}

TEST_F(ListenerTaskTest, WhatItIsGivenComesFromAnyThread) {
  Start();
  std::vector<std::unique_ptr<Peer>> peers;
  constexpr size_t kPeers = 24;
  for (size_t i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<Peer>(listener_->address()));
    peers.back()->Send(Get(i % 2 == 0 ? "/task?gw" : "/task?wgg"));
  }
  for (size_t given = 0; given < kPeers + kPeers / 2; ++given) {
    const Give<std::string> give = GivenOne();
    std::thread([&give] { give("told"); }).join();
  }
  for (const auto& peer : peers) {
    EXPECT_NE(peer->ReadUntil("told").find("200 OK"), std::string::npos);
  }
  peers.clear();
  ExpectIdle();
  EXPECT_EQ(service_.handled, static_cast<int>(kPeers));
}

TEST_F(ListenerTaskTest, AnswersStayInOrder) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/first") + Get("/task?g") + Get("/second") + Get("/task?wg") + Get("/third"));
  GivenOne()("one");
  GivenOne()("two");
  const std::string all = peer.ReadUntil("/third:");
  size_t at = 0;
  for (const char* body : {"/first:", "one", "/second:", " worker", "/third:"}) {
    at = all.find("\r\n\r\n" + std::string(body), at);
    ASSERT_NE(at, std::string::npos) << body << " in " << all;
  }
}

TEST_F(ListenerTaskTest, AConnectionThatClosesCancelsIt) {
  Start();
  std::vector<Give<std::string>> gives;
  std::vector<std::unique_ptr<Peer>> peers;
  for (const char* const steps : {"g", "wg", "gg"}) {
    peers.push_back(std::make_unique<Peer>(listener_->address()));
    peers.back()->Send(Get(std::string("/task?") + steps));
    gives.push_back(GivenOne());
  }
  gives.back()("once");
  gives.push_back(GivenOne());
  EXPECT_EQ(service_.alive, 3);
  listener_->Stop();
  ExpectIdle();
  for (const auto& give : gives) give("too late");
  EXPECT_EQ(service_.handled, 0);
}

TEST_F(ListenerTaskTest, OneAtAWorkerEndsBeforeItIsCancelled) {
  Start();
  {
    Peer peer = Connect();
    peer.Send(Get("/task?wsg"));
    while (service_.waiting == 0) std::this_thread::sleep_for(milliseconds(1));
    peer.Reset();
  }
  EXPECT_EQ(service_.alive, 1);
  service_.release.set_value();
  const Give<std::string> give = GivenOne();
  listener_->Stop();
  ExpectIdle();
  give("too late");
  EXPECT_EQ(service_.handled, 0);
}

TEST_F(ListenerTaskTest, WhatItThrowsIsAFailure) {
  Start();
  Peer peer = Connect();
  for (const char* const steps : {"x", "wx", "tx", "ix"}) {
    peer.Send(Get(std::string("/task?") + steps));
    EXPECT_NE(peer.ReadUntil("could not be handled").find(" 500 "), std::string::npos) << steps;
  }
  peer.Send(Get("/task?g"));
  { const Give<std::string> gone = GivenOne(); }  // nobody will answer
  EXPECT_NE(peer.ReadUntil("could not be handled").find(" 500 "), std::string::npos);
  peer.Send(Get("/again"));
  EXPECT_NE(peer.ReadUntil("/again:").find("200 OK"), std::string::npos);
  EXPECT_EQ(service_.alive, 0);
}

TEST_F(ListenerTaskTest, ItsTimesAreTold) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/task?gw"));
  const Give<std::string> give = GivenOne();
  std::this_thread::sleep_for(milliseconds(30));
  give("told");
  peer.ReadUntil("told");
  const EchoService::Told told = service_.DoneOf(1);
  EXPECT_EQ(told.status, 200u);
  EXPECT_GE(told.waited, milliseconds(25));
  EXPECT_GE(told.took, told.waited + told.worked);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
