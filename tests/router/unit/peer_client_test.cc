// The client that nodes ask each other with, against servers that serve, are silent, close and are
// gone.

#include "peers/peer_client.h"

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "http/unit/listener_fixture.h"

namespace seendb::peers::SEENDB_TEST_FILE {
namespace {

using http::ListenerTest;
using http::milliseconds;
using Kind = PeerAnswer::Kind;

class PeerClientTest : public ListenerTest {
 protected:
  std::future<PeerAnswer> Begin(PeerClient* client, std::string target, milliseconds timeout,
                                std::string body = "") {
    auto came = std::make_shared<std::promise<PeerAnswer>>();
    std::future<PeerAnswer> answer = came->get_future();
    client->Ask({.node = "n2",
                 .url = Url(),
                 .target = std::move(target),
                 .body = std::move(body),
                 .timeout = timeout},
                [came](PeerAnswer one) { came->set_value(std::move(one)); });
    return answer;
  }
  PeerAnswer Ask(PeerClient* client, std::string target,
                 milliseconds timeout = milliseconds(20'000), std::string body = "") {
    return Begin(client, std::move(target), timeout, std::move(body)).get();
  }
  std::string Url() const { return url_.empty() ? "http://" + listener_->address() : url_; }

  std::string url_;
};

TEST_F(PeerClientTest, ConnectionsAreKept) {
  Start();
  PeerClient client({});
  for (int i = 0; i < 50; ++i) {
    const PeerAnswer answer = Ask(&client, "/x", milliseconds(20'000), std::string(300'000, 'b'));
    ASSERT_EQ(answer.kind, Kind::kAnswered) << answer.why;
    EXPECT_EQ(answer.status, 200u);
    EXPECT_GT(answer.body.size(), 300'000u);
  }
  EXPECT_EQ(listener_->counters().opened, 1u);
}

TEST_F(PeerClientTest, ManyAtOnceShareABoundedNumber) {
  Start();
  PeerClient client({.connections_most = 3});
  std::vector<std::future<PeerAnswer>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(Begin(&client, "/x", milliseconds(20'000)));
  for (auto& answer : answers) EXPECT_EQ(answer.get().kind, Kind::kAnswered);
  EXPECT_LE(listener_->counters().opened, 3u);
}

TEST_F(PeerClientTest, WhatWaitsForAConnectionIsBoundedToo) {
  Start();
  PeerClient client({.connections_most = 1, .waiting_most = 2});
  std::vector<std::future<PeerAnswer>> answers;
  answers.push_back(Begin(&client, "/later", milliseconds(20'000)));
  std::vector<http::Give<http::Response>> kept = service_.Kept(1);  // it has the connection
  for (int i = 0; i < 3; ++i) answers.push_back(Begin(&client, "/x", milliseconds(300)));
  EXPECT_EQ(answers[3].get().kind, Kind::kFull);
  EXPECT_EQ(answers[1].get().kind, Kind::kTimedOut);
  EXPECT_EQ(answers[2].get().kind, Kind::kTimedOut);
  kept.front()({});
  EXPECT_EQ(answers[0].get().kind, Kind::kAnswered);
}

TEST_F(PeerClientTest, ASilentNodeIsNotWaitedForLonger) {
  Start();
  PeerClient client({});
  std::future<PeerAnswer> answer = Begin(&client, "/later", milliseconds(100));
  std::vector<http::Give<http::Response>> kept = service_.Kept(1);
  EXPECT_EQ(answer.get().kind, Kind::kTimedOut);
  kept.front()({});
  EXPECT_EQ(Ask(&client, "/x").kind, Kind::kAnswered);
}

TEST_F(PeerClientTest, NobodyIsSentTheSecret) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor stranger(io, {boost::asio::ip::address_v4::loopback(), 0});
  url_ = "http://127.0.0.1:" + std::to_string(stranger.local_endpoint().port());
  const std::string secret = "a-secret-of-the-nodes";
  const auto proofs = std::make_shared<proof::Proofs>("n1");
  proofs->SetSecrets({secret});
  PeerClient client({.proofs = proofs});
  std::future<PeerAnswer> answer = Begin(&client, "/x", milliseconds(20'000));
  boost::asio::ip::tcp::socket socket = stranger.accept();
  std::string sent;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(sent), "\r\n\r\n");
  EXPECT_NE(sent.find("SeenDB-Peer-Proof: 1 n1 n2 "), std::string::npos) << sent;
  EXPECT_EQ(sent.find(secret), std::string::npos) << sent;
  // A time that somebody without the secret says is not believed.
  const std::string said = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: SeenDB-Proof 1 " +
                           std::string(64, 'a') + "\r\nContent-Length: 0\r\n\r\n";
  boost::asio::write(socket, boost::asio::buffer(said));
  EXPECT_EQ(answer.get().status, 401u);
}

TEST_F(PeerClientTest, UnderTlsNobodyIsAskedInClear) {
  Start();
  PeerClient client({.tls_alone = true});
  const PeerAnswer answer = Ask(&client, "/x");
  EXPECT_EQ(answer.kind, Kind::kRefused);
  EXPECT_EQ(answer.why,
            Url() + " is not asked: this node speaks TLS, and asks addresses of https " + "alone");
  EXPECT_EQ(listener_->counters().opened, 0u);
}

TEST_F(PeerClientTest, NobodyListens) {
  Start();
  url_ = "http://" + listener_->address();
  listener_->Stop();
  listener_.reset();
  PeerClient client({});
  EXPECT_EQ(Ask(&client, "/x").kind, Kind::kRefused);
}

TEST_F(PeerClientTest, AKeptConnectionThatWasClosedIsMadeAnew) {
  Start();
  PeerClient client({});
  ASSERT_EQ(Ask(&client, "/x").kind, Kind::kAnswered);
  const std::string address = listener_->address();
  url_ = "http://" + address;
  listener_->Stop();
  listener_.emplace(&service_, http::ListenerOptions{.limits = {}, .threads = 1});
  const auto at = http::ParseHostPort(address);
  ASSERT_EQ(listener_->Open(at->first, at->second), std::nullopt);
  listener_->Start();
  EXPECT_EQ(Ask(&client, "/x").kind, Kind::kAnswered);
}

TEST_F(PeerClientTest, AnswersThatAreTooLargeAreNone) {
  Start();
  PeerClient client({.answer_bytes_most = 1'000});
  EXPECT_EQ(Ask(&client, "/x").kind, Kind::kAnswered);
  const PeerAnswer large = Ask(&client, "/x", milliseconds(20'000), std::string(2'000, 'b'));
  EXPECT_EQ(large.kind, Kind::kBroken) << large.status << " " << large.body.size();
  EXPECT_EQ(Ask(&client, "/x").kind, Kind::kAnswered);
}

TEST_F(PeerClientTest, StopEndsWhatIsUnderWay) {
  Start();
  PeerClient client({});
  std::future<PeerAnswer> answer = Begin(&client, "/later", milliseconds(60'000));
  std::vector<http::Give<http::Response>> kept = service_.Kept(1);
  client.Stop();
  EXPECT_EQ(answer.get().kind, Kind::kBroken);
  EXPECT_EQ(Ask(&client, "/x").kind, Kind::kFull);
  kept.front()({});
}

TEST_F(PeerClientTest, StopMayComeWhenSomethingHasJustBeenSent) {
  Start();
  for (int i = 0; i < 300; ++i) {
    PeerClient client({});
    std::future<PeerAnswer> answer =
        Begin(&client, "/x", milliseconds(60'000), std::string(2'000, 'b'));
    std::this_thread::sleep_for(std::chrono::microseconds(i * 2));
    client.Stop();
    answer.wait();
  }
}

}  // namespace
}  // namespace seendb::peers::SEENDB_TEST_FILE
