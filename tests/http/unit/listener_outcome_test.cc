// What the service is told of a request once it is answered: times, bytes, the error.

#include <string>

#include "http/unit/listener_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

using std::chrono::nanoseconds;

class ListenerOutcomeTest : public ListenerTest {
 protected:
  // The waits counted for an executor.
  uint64_t Waits(Executor executor) const {
    uint64_t sum = 0;
    const auto& waits = listener_->counters().queue_waits[static_cast<size_t>(executor)];
    for (const uint64_t count : waits.Read().counts) sum += count;
    return sum;
  }
};

TEST_F(ListenerOutcomeTest, CountsTheBytesOfEachRequest) {
  Start();
  const std::string head = "POST /b HTTP/1.1\r\nHost: h\r\n";
  const std::string requests[] = {
      Get("/get"),
      Post("/post", "body"),
      Post("/big", std::string(100'000, 'x')),
      Post("/drop", "dropped"),
      Post("/lines", "a\nb\n"),
      head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
  };
  size_t count = 0;
  Peer peer = Connect();
  for (const std::string& request : requests) {
    peer.Send(request);
    EXPECT_EQ(service_.DoneOf(++count).bytes_in, request.size()) << request.substr(0, 40);
  }
  peer.Send(requests[0] + requests[1]);
  EXPECT_EQ(service_.DoneOf(++count).bytes_in, requests[0].size());
  EXPECT_EQ(service_.DoneOf(++count).bytes_in, requests[1].size());
}

TEST_F(ListenerOutcomeTest, CountsTheBytesOfEachAnswer) {
  Start();
  const std::string last = "\r\n0\r\n\r\n";
  size_t requests = 0;
  const auto expect_whole = [&](const std::string& request, const std::string& end) {
    Peer peer = Connect();
    peer.Send(request);
    const std::string answer = peer.ReadUntil(end);
    EXPECT_TRUE(answer.ends_with(end)) << request.substr(0, 40);
    EXPECT_EQ(service_.DoneOf(++requests).bytes_out, answer.size()) << request.substr(0, 40);
  };
  expect_whole(Get("/get"), "/get:");
  expect_whole(Post("/post", "the body"), "the body");
  expect_whole(Post("/big", std::string(100'000, 'x') + "-end"), "-end");
  expect_whole(Post("/lines", "a\nb\n"), last);
  expect_whole(Post("/count/3", "x"), last);
  expect_whole(Get("/refused"), "}}");
  expect_whole("HEAD /get HTTP/1.1\r\nHost: h\r\n\r\n", "\r\n\r\n");
  expect_whole("nonsense\r\n\r\n", "}}");
  Peer pipelined = Connect();
  pipelined.Send(Get("/one") + Get("/two"));
  const std::string both = pipelined.ReadUntil("/two:");
  const uint64_t one = service_.DoneOf(++requests).bytes_out;
  EXPECT_EQ(one + service_.DoneOf(++requests).bytes_out, both.size());
}

TEST_F(ListenerOutcomeTest, NamesTheError) {
  Start({.body_bytes = 1'024});
  const struct {
    std::string request;
    const char* code;
  } cases[] = {{Get("/get"), ""},
               {Get("/refused"), "not_found"},
               {Get("/throw"), "internal"},
               {Get("/throw-slow"), "internal"},
               {Post("/post", std::string(2'000, 'x')), "too_large"},
               {Post("/fail/2", "x"), "unavailable"},
               {"nonsense\r\n\r\n", "invalid_argument"},
               {Get("/get"), ""}};
  size_t requests = 0;
  for (const auto& c : cases) {
    Peer peer = Connect();
    peer.Send(c.request);
    EXPECT_EQ(service_.DoneOf(++requests).error_code, c.code) << c.request.substr(0, 40);
  }
}

TEST_F(ListenerOutcomeTest, TellsWaitingForAWorkerFromWork) {
  Start();
  Peer first = Connect();
  first.Send(Get("/slower"));  // holds the only worker of kSlow
  while (service_.waiting == 0) std::this_thread::yield();
  Peer second = Connect();
  second.Send(Get("/slower"));
  while (listener_->counters().in_flight < 2) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(200));  // what the first works
  service_.release.set_value();
  EchoService::Told held = service_.DoneOf(1), queued = service_.DoneOf(2);
  if (held.worked < queued.worked) std::swap(held, queued);  // two threads told of them
  EXPECT_GE(held.worked, milliseconds(200));
  EXPECT_GE(queued.waited, milliseconds(20));
  EXPECT_LT(held.waited, queued.waited);
  EXPECT_GE(queued.took, queued.waited + queued.worked);
  EXPECT_EQ(Waits(Executor::kSlow), 2u);
  EXPECT_EQ(Waits(Executor::kEngine), 0u);
  Peer third = Connect();
  third.Send(Get("/inline"));
  const EchoService::Told inlined = service_.DoneOf(3);
  EXPECT_LT(inlined.waited, milliseconds(20));  // for its thread's next slice of work
  EXPECT_GT(inlined.worked, nanoseconds(0));
  EXPECT_GE(inlined.took, inlined.worked);
  EXPECT_EQ(Waits(Executor::kSlow), 2u);
}

TEST_F(ListenerOutcomeTest, AWaitWithoutAThreadIsAWait) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/wait/60"));  // resumed by nobody: 60 ms
  EXPECT_GE(service_.DoneOf(1).waited, milliseconds(60));
  peer.Send(Get("/inline"));
  EXPECT_LT(service_.DoneOf(2).waited, milliseconds(20));
}

TEST_F(ListenerOutcomeTest, ATaskWaitsUntilItIsGivenAndWorksOnAWorker) {
  Start();
  Peer peer = Connect();
  peer.Send(Get("/later-work"));
  const auto give = std::move(service_.Kept(1).front());
  std::this_thread::sleep_for(milliseconds(200));  // what it waits
  give(Response());
  const EchoService::Told told = service_.DoneOf(1);
  EXPECT_GE(told.waited, milliseconds(20));
  EXPECT_GE(told.worked, milliseconds(20));
  EXPECT_GE(told.took, told.waited + told.worked);
  EXPECT_EQ(Waits(Executor::kEngine), 1u);
  peer.Send(Get("/later"));
  service_.Kept(1).front()(Response());
  EXPECT_LT(service_.DoneOf(2).worked, service_.DoneOf(2).took);
  EXPECT_EQ(service_.DoneOf(2).status, 200u);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
