// Which workers run what: requests that hold all workers of one executor leave the others free.

#include <string>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class ListenerExecutorsTest : public ListenerTest {
 protected:
  // Sends `count` requests for `path`, one after another, each held by a worker of its own.
  void Hold(const std::string& path, int count) {
    for (int i = 0; i < count; ++i) {
      const int before = service_.waiting;
      held_.push_back(std::make_unique<Peer>(listener_->address()));
      held_.back()->Send(Get(path));
      while (service_.waiting == before) std::this_thread::yield();
    }
  }
  // Releases all that is held; each request is answered.
  void Release() {
    service_.release.set_value();
    for (const auto& peer : held_) {
      EXPECT_NE(peer->ReadUntil("/slow").find("200 OK"), std::string::npos);
    }
  }
  std::string Answer(const std::string& path) {
    Peer peer = Connect();
    peer.Send(Get(path));
    return peer.ReadUntil(path + ":", milliseconds(5'000));
  }

  std::vector<std::unique_ptr<Peer>> held_;
};

TEST_F(ListenerExecutorsTest, ProbesAreAnsweredWhileAllOtherWorkersAreHeld) {
  Start();
  Hold("/slow", 2);
  Hold("/slower", 1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(Answer("/probe").find("200 OK"), std::string::npos);
    EXPECT_NE(Answer("/inline").find("200 OK"), std::string::npos);
  }
  Release();
}

TEST_F(ListenerExecutorsTest, AFullQueueIsRefusedByEachExecutor) {
  Start({.queue = 1});
  Hold("/slow", 2);
  Hold("/slower", 1);
  Hold("/slow-probe", 1);
  for (const char* path : {"/slow", "/slower", "/slow-probe"}) {
    // Of two more one waits, whichever is read first, and one is refused.
    service_.last_status = 0;
    Peer one = Connect(), other = Connect();
    one.Send(Get(path));
    other.Send(Get(path));
    while (service_.last_status == 0) std::this_thread::yield();
    EXPECT_EQ(service_.last_status, 503u) << path;
  }
  EXPECT_NE(Answer("/inline").find("200 OK"), std::string::npos);
  Release();
}

TEST(ExecutorTest, HasManyWorkersForTheEngine) {
  EXPECT_GE(DefaultEngineWorkers(), 8u);
  EXPECT_GE(DefaultEngineWorkers(), 4u * std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
