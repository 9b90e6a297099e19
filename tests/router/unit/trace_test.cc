// The trace of a request goes along to the nodes that it is passed on to.

#include <sstream>

#include "ops/log.h"
#include "router/unit/small_cluster.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

const std::string kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParentId = "00f067aa0ba902b7";

class TraceTest : public SmallCluster {
 protected:
  void SetUp() override {
    ops::StartLog("debug");
    SmallCluster::SetUp();
  }
  void TearDown() override {
    SmallCluster::TearDown();
    ops::StartLog("info");
  }

  peers::PeerAnswer Traced(SmallNode& node, const std::string& method, const std::string& target,
                           const std::string& body, peers::Headers more = {}) {
    more.emplace_back("traceparent", "00-" + kTraceId + "-" + kParentId + "-01");
    more.emplace_back("tracestate", "a=1,b=2");
    return Ask(node, method, target, body, std::move(more));
  }
  /// The lines about requests that all nodes write, whichever ends first.
  std::vector<Json> LinesOf(const std::function<void()>& calls) {
    testing::internal::CaptureStderr();
    calls();
    for (const auto& node : nodes) node->Kill();  // a line may come after its answer
    std::istringstream all(testing::internal::GetCapturedStderr());
    std::vector<Json> lines;
    for (std::string text; std::getline(all, text);) {
      Json line = Json::parse(text);
      if (line.at("event") == "request") lines.push_back(std::move(line));
    }
    return lines;
  }
  /// One line is of the node that was asked; the others are of nodes that it asked.
  static void ExpectTrace(const std::vector<Json>& lines, size_t count) {
    ASSERT_EQ(lines.size(), count) << Json(lines).dump(1);
    std::string span;
    for (const Json& line : lines) {
      ASSERT_EQ(line.value("trace_id", ""), kTraceId) << line;
      if (line.at("parent_id") == kParentId) span = line.at("span_id");
    }
    size_t caused = 0;
    for (const Json& line : lines) caused += line.at("parent_id") == span ? 1u : 0u;
    EXPECT_EQ(caused, count - 1) << Json(lines).dump(1);
  }
};

TEST_F(TraceTest, AReadCarriesIt) {
  const auto lines = LinesOf(
      [&] { EXPECT_EQ(Traced(Stranger(1), "POST", "/filter", FilterOf(UserOf(1))).status, 200u); });
  ExpectTrace(lines, 2);
}

TEST_F(TraceTest, AReadOfAPathCarriesIt) {
  const auto lines = LinesOf(
      [&] { EXPECT_EQ(Traced(Stranger(1), "GET", "/users/" + UserOf(1), "").status, 200u); });
  ExpectTrace(lines, 2);
}

TEST_F(TraceTest, LinesCarryIt) {
  const auto lines = LinesOf([&] {
    const std::string body = FilterOf(UserOf(1)) + "\n" + FilterOf(UserOf(1)) + "\n";
    const peers::PeerAnswer answer =
        Traced(Stranger(1), "POST", "/filter", body, {{"Content-Type", "application/x-ndjson"}});
    EXPECT_EQ(answer.status, 200u) << answer.body;
  });
  ExpectTrace(lines, 3);
}

TEST_F(TraceTest, RecordsOfTheLogCarryIt) {
  const auto lines = LinesOf([&] {
    const std::string play = R"({"events":[{"user":")" + UserOf(1) + R"(","item":"a"}]})";
    EXPECT_EQ(Traced(Stranger(1), "POST", "/plays", play).status, 200u);
  });
  ExpectTrace(lines, 2);
}

TEST_F(TraceTest, LinesOfEventsCarryIt) {
  const auto lines = LinesOf([&] {
    const std::string play = R"({"user":")" + UserOf(1) + R"(","item":"a"})";
    const peers::PeerAnswer answer = Traced(Stranger(1), "POST", "/plays", play + "\n",
                                            {{"Content-Type", "application/x-ndjson"}});
    EXPECT_EQ(answer.status, 200u) << answer.body;
  });
  ExpectTrace(lines, 2);
}

TEST_F(TraceTest, WithoutOneNoneIsBegun) {
  const auto lines = LinesOf([&] {
    const peers::PeerAnswer answer = Ask(Stranger(1), "POST", "/filter", FilterOf(UserOf(1)),
                                         {{"traceparent", "00-none"}, {"tracestate", "a=1"}});
    EXPECT_EQ(answer.status, 200u) << answer.body;
  });
  ASSERT_EQ(lines.size(), 2u) << Json(lines).dump(1);
  for (const Json& line : lines) EXPECT_FALSE(line.contains("trace_id")) << line;
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
