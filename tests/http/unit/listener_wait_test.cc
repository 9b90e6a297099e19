// Requests that wait without a thread: the I/O thread serves others meanwhile, and whatever ends
// the wait, what was handed over is given back.

#include <memory>
#include <string>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class ListenerWaitTest : public ListenerTest {
 protected:
  // How often what was handed over has been let go.
  std::shared_ptr<void> Token() {
    return {static_cast<void*>(this), [this](void*) { ++let_go_; }};
  }
  void ExpectLetGo(int count) {
    for (int i = 0; i < 1'000 && let_go_ < count; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_EQ(let_go_, count);
  }

  std::atomic<int> let_go_{0};
};

TEST_F(ListenerWaitTest, ManyWaitAndOthersAreAnswered) {
  Start();
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 50; ++i) {
    peers.push_back(std::make_unique<Peer>(listener_->address()));
    peers.back()->Send(Post("/wait/0", std::to_string(i)) + Get("/next"));
  }
  auto resumes = service_.Parked(50);
  Peer other = Connect();
  other.Send(Get("/other"));
  EXPECT_NE(other.ReadUntil("/other:").find("200 OK"), std::string::npos);
  for (const auto& resume : resumes) {
    resume(Token());
    resume(Token());  // nobody waits for it
  }
  for (int i = 0; i < 50; ++i) {
    const std::string told = peers[static_cast<size_t>(i)]->ReadUntil("/next:");
    EXPECT_NE(told.find("/wait/0:" + std::to_string(i)), std::string::npos) << told;
  }
  EXPECT_EQ(service_.given, 50);
  ExpectLetGo(100);
}

TEST_F(ListenerWaitTest, AWaitEndsAtItsLimit) {
  Start();
  Peer peer = Connect();
  peer.Send(Post("/wait/50", "x"));
  EXPECT_NE(peer.ReadUntil("/wait/50:x").find("200 OK"), std::string::npos);
  EXPECT_EQ(service_.given, 0);
  service_.Parked(1).front()(Token());  // too late
  ExpectLetGo(1);
  peer.Send(Get("/again"));
  EXPECT_NE(peer.ReadUntil("/again:").find("200 OK"), std::string::npos);
}

TEST_F(ListenerWaitTest, AStreamWaitsBetweenItsLines) {
  Start();
  Peer peer = Connect();
  peer.Send("POST /wait-lines HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc");
  service_.Parked(1).front()(Token());
  EXPECT_NE(peer.ReadUntil("abc").find("200 OK"), std::string::npos);
  peer.Send("def");
  service_.Parked(1).front()(Token());
  EXPECT_NE(peer.ReadUntil("0\r\n\r\n").find("def"), std::string::npos);
  ExpectLetGo(2);
}

TEST_F(ListenerWaitTest, TheListenerStopsWhileRequestsWait) {
  Start();
  Peer first = Connect(), second = Connect();
  first.Send(Post("/wait/0", "x"));
  second.Send(Post("/wait/60000", "x"));
  auto resumes = service_.Parked(2);
  listener_->Stop();
  resumes.front()(Token());
  ExpectLetGo(1);
  listener_.reset();
  resumes.back()(Token());
  ExpectLetGo(2);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
