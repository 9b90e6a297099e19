// How a connection agrees on TLS, or does not.

#include "http/tls_greeting.h"

#include <memory>
#include <optional>
#include <string>

#include <openssl/ssl.h>

#include "http/unit/parts_fixture.h"
#include "support/self_signed.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

/// Runs one task.
class RunningLoop final : public Loop {
 public:
  void Came(Event, bool ok) override {
    if (ok) run.GoOn();
  }
  TaskRun run{nullptr};
};

Task<> Put(Task<bool> task, std::optional<bool>* to) { *to = co_await std::move(task); }

class TlsGreetingTest : public PartsTest {
 protected:
  void Begin(const TlsContext& context = Context()) {
    Arrival arrival = Connect();
    arrival.tls = context;
    transport_.emplace(&arrival, &thread_, running_.get());
    turn_.emplace(running_.get(), nullptr, &thread_, thread_.io.get_executor());
    greeting_.emplace(running_.get(), &*transport_, &*turn_);
    running_->run.Begin(Put(greeting_->Agree(), &agreed_));
    running_->run.GoOn();
    Poll();
  }
  static TlsContext Context() {
    return std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  }
  void Poll() {
    thread_.io.restart();
    thread_.io.poll();
  }
  /// Its turn has come, or it is refused by `verdict`.
  void Take(std::optional<admission::Verdict> verdict = std::nullopt) {
    Poll();
    const auto now = Clock::now();
    const admission::Lane::Turn taken = thread_.lane->Take(now);
    ASSERT_NE(taken.entry, nullptr);
    EXPECT_EQ(thread_.hellos, 1u);
    if (verdict) thread_.lane->Remove(taken.entry);
    const std::shared_ptr<Loop> kept = turn_->Came(verdict.value_or(taken.verdict), now);
    running_->Came(Loop::Event::kWork, true);
    EXPECT_EQ(thread_.hellos, 0u);
    Poll();
  }

  std::shared_ptr<RunningLoop> running_ = std::make_shared<RunningLoop>();
  std::optional<bool> agreed_;
  std::optional<Transport> transport_;
  std::optional<RequestTurn> turn_;
  std::optional<TlsGreeting> greeting_;
};

TEST_F(TlsGreetingTest, WhoSaysNothingWaitsInNoLane) {
  Begin();
  EXPECT_FALSE(agreed_.has_value());
  EXPECT_TRUE(thread_.lane->empty());
}

TEST_F(TlsGreetingTest, PlainHttpIsTold) {
  Begin();
  Send("GET / HTTP/1.1\r\n");
  Take();
  EXPECT_EQ(agreed_, false);
  EXPECT_EQ(Heard().substr(0, 13), "HTTP/1.1 400 ");
  EXPECT_EQ(shared_.counters.handshakes_failed, 1u);
  EXPECT_TRUE(thread_.lane->empty());
}

TEST_F(TlsGreetingTest, WhoGoesHasFailed) {
  Begin();
  Leave();
  Take();
  EXPECT_EQ(agreed_, false);
  EXPECT_EQ(shared_.counters.handshakes_failed, 1u);
}

TEST_F(TlsGreetingTest, WhoSaysNonsenseHasFailed) {
  Begin();
  Send("\x16\x03\x01nonsense that is longer than the head of a record");
  Take();
  Leave();
  Poll();
  EXPECT_EQ(agreed_, false);
  EXPECT_EQ(shared_.counters.handshakes_failed, 1u);
}

TEST_F(TlsGreetingTest, UnderOverloadFewWait) {
  Begin();
  thread_.lane->counters().overloaded = true;
  thread_.hellos = 8;
  Send("\x16");
  Poll();
  EXPECT_EQ(agreed_, false);
  EXPECT_EQ(shared_.counters.handshakes_refused, 1u);
  EXPECT_TRUE(thread_.lane->empty());
}

TEST_F(TlsGreetingTest, ARefusalAnswersNothing) {
  Begin();
  Send("\x16");
  Take(admission::Verdict{.reason = admission::Reason::kStale});
  EXPECT_EQ(agreed_, false);
  EXPECT_EQ(Heard(), "");
  EXPECT_EQ(shared_.counters.handshakes_refused, 1u);
}

TEST_F(TlsGreetingTest, AgreesWithAClient) {
  const SelfSigned signed_by_itself("DNS:test");
  const TlsContext context = Context();
  context->use_certificate_chain_file(signed_by_itself.certificate());
  context->use_private_key_file(signed_by_itself.key(), boost::asio::ssl::context::pem);
  Begin(context);
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> client(SSL_CTX_new(TLS_client_method()),
                                                            &SSL_CTX_free);
  const std::unique_ptr<SSL, void (*)(SSL*)> said(SSL_new(client.get()), &SSL_free);
  SSL_set_fd(said.get(), peer_);
  EXPECT_LT(SSL_connect(said.get()), 0);  // it waits for the answer
  Take();
  for (int i = 0; i < 10 && SSL_connect(said.get()) != 1; ++i) Poll();
  Poll();
  EXPECT_EQ(agreed_, true);
  EXPECT_EQ(transport_->connection.certificate_name, "");
  EXPECT_EQ(shared_.counters.handshakes_failed, 0u);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
