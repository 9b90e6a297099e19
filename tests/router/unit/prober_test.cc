// Nodes are asked how they are beside one that accepts connections and says nothing.

#include "membership/prober.h"

#include <map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include "http/unit/listener_fixture.h"

namespace seendb::membership::SEENDB_TEST_FILE {
namespace {

using boost::asio::ip::tcp;
using std::chrono::milliseconds;
using Kind = ProbeResult::Kind;

class ProberTest : public http::ListenerTest {
 protected:
  ProberTest() : silent_(io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)) {}

  std::vector<ProbeTarget> Targets() const {
    return {{"silent", "http://127.0.0.1:" + std::to_string(silent_.local_endpoint().port())},
            {"fast", "http://" + listener_->address()}};
  }

  boost::asio::io_context io_;
  tcp::acceptor silent_;  // the kernel completes the handshake
};

TEST_F(ProberTest, ASilentNodeKeepsNoOtherWaiting) {
  Start();
  peers::PeerClient client({});
  Prober prober(&client, milliseconds(60'000));
  for (int round = 0; round < 3; ++round) {
    std::map<std::string, int> answered;
    // A busy machine may need more than one look.
    while (answered.empty()) {
      for (const auto& [node, result] : prober.Round(Targets(), milliseconds(200))) {
        EXPECT_EQ(result.kind, Kind::kAnswered) << node;
        ++answered[node];
      }
    }
    EXPECT_TRUE(answered.contains("fast"));
  }
}

TEST_F(ProberTest, EachQuestionIsMissedOnce) {
  Start();
  peers::PeerClient client({});
  Prober prober(&client, milliseconds(300));
  std::map<std::string, int> missed, answered;
  const auto hear = [&](const std::vector<ProbeTarget>& targets, milliseconds gather) {
    for (const auto& [node, result] : prober.Round(targets, gather)) {
      ++(result.kind == Kind::kAnswered ? answered : missed)[node];
    }
  };
  // The second asks while the first is still under way.
  for (int round = 0; round < 2; ++round) hear(Targets(), milliseconds(20));
  const auto until = std::chrono::steady_clock::now() + milliseconds(20'000);
  while (missed["silent"] + answered["fast"] + missed["fast"] < 4 &&
         std::chrono::steady_clock::now() < until) {
    hear({}, milliseconds(20));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(missed["silent"], 2);
  EXPECT_EQ(answered["silent"], 0);
  EXPECT_EQ(answered["fast"] + missed["fast"], 2);
}

TEST_F(ProberTest, ARoundEndsOnceAllHaveAnswered) {
  Start();
  peers::PeerClient client({});
  Prober prober(&client, milliseconds(60'000));
  const std::vector<ProbeTarget> fast{Targets()[1]};
  const auto results = prober.Round(fast, milliseconds(60'000));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].first, "fast");
  EXPECT_EQ(results[0].second.kind, Kind::kAnswered);
  EXPECT_LE(results[0].second.steady_asked_ms, results[0].second.steady_answered_ms);
}

}  // namespace
}  // namespace seendb::membership::SEENDB_TEST_FILE
