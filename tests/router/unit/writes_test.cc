// Writes at any node: each event goes into the partition of its user, through whoever leads it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "router/unit/small_cluster.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

class WritesTest : public SmallCluster {
 protected:
  static std::string PlayOf(const std::string& user, const std::string& item) {
    return R"({"user":")" + user + R"(","item":")" + item + R"("})";
  }
  size_t RecordsOf(uint32_t partition) {
    const std::lock_guard lock(mutex);
    return log[partition].size();
  }
};

TEST_F(WritesTest, EventsAreSplitByPartition) {
  std::string body = R"({"events":[)";
  for (int i = 0; i < 12; ++i) {
    body += (i > 0 ? "," : "") +
            PlayOf(UserOf(static_cast<uint32_t>(i) % kPartitions), "i" + std::to_string(i));
  }
  body += "]}";
  const peers::PeerAnswer answer = Ask(*nodes[0], "POST", "/plays", body);
  EXPECT_EQ(answer.status, 200u) << answer.body;
  EXPECT_EQ(answer.body, R"({"accepted":12,"refused":0,"refusals":[]})");
  EXPECT_EQ(answer.Header("seendb-position"), "0:1,1:1,2:1,3:1");
  for (uint32_t p = 0; p < kPartitions; ++p) {
    ASSERT_EQ(RecordsOf(p), 1u);
    const Json record = Json::parse(log[p].front().value);
    ASSERT_EQ(record["events"].size(), 3u);
    EXPECT_EQ(record["collection"], "default");
    for (const Json& event : record["events"]) EXPECT_EQ(event["user"], UserOf(p));
    EXPECT_EQ(log[p].front().key, UserOf(p));
  }
}

// An older node would pass such a record over, and differ for ever.
TEST_F(WritesTest, WhatTheLogHasNoRecordForIsRefused) {
  const peers::Headers lines = {{"Content-Type", "application/x-ndjson"}};
  const std::string items = R"({"items":[{"id":"a"}]})";
  for (const peers::PeerAnswer& answer :
       {Ask(*nodes[0], "PUT", "/items/schema", R"({"fields":[]})"),
        Ask(*nodes[0], "POST", "/items", items),
        Ask(*nodes[0], "POST", "/items", items + "\n", lines),
        Ask(*nodes[0], "GET", "/items/schema", "")}) {
    EXPECT_EQ(answer.status, 409u) << answer.body;
    EXPECT_NE(answer.body.find("nodes of a cluster"), std::string::npos) << answer.body;
  }
  for (uint32_t p = 0; p < kPartitions; ++p) EXPECT_EQ(RecordsOf(p), 0u);
}

TEST_F(WritesTest, BinaryExposuresAreJsonInTheLog) {
  FinishUpgrade();
  const peers::Headers binary = {{"Content-Type", "application/octet-stream"}};
  const std::string seven("\x07\0\0\0\0\0\0\0", 8);
  const peers::PeerAnswer answer = Ask(
      *nodes[0], "POST", "/exposures?ids=u64&surface=home&at=5&user=" + UserOf(3), seven, binary);
  EXPECT_EQ(answer.status, 200u) << answer.body;
  const std::lock_guard lock(mutex);
  ASSERT_EQ(log[3].size(), 1u);
  EXPECT_EQ(log[3][0].kind, cluster::LogKind::kExposures);
  EXPECT_EQ(log[3][0].value, R"({"events":[{"user":")" + UserOf(3) +
                                 R"(","item":7,"at":5,"surface":"home"}],"collection":"default"})");
}

TEST_F(WritesTest, BinaryEventsAreJsonInTheLog) {
  const auto bytes = [](auto number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  const auto text = [&](const std::string& id) {
    return bytes(static_cast<uint32_t>(id.size())) + id;
  };
  const peers::Headers binary = {{"Content-Type", "application/octet-stream"}};
  const int64_t at = nodes[0]->engine.now_ms - 5'000;
  std::string rows;
  for (uint32_t p = 0; p < 3; ++p) {
    rows += text(UserOf(p)) + text("a\x01\"" + std::to_string(p)) + bytes(p == 0 ? at : int64_t{0});
  }
  const peers::PeerAnswer plays = Ask(*nodes[0], "POST", "/plays?ids=string&count=3", rows, binary);
  EXPECT_EQ(plays.body, R"({"accepted":3,"refused":0,"refusals":[]})");
  for (uint32_t p = 0; p < 3; ++p) {
    ASSERT_EQ(RecordsOf(p), 1u);
    const Json event = Json::parse(log[p].front().value)["events"][0];
    EXPECT_EQ(event["user"], UserOf(p));
    EXPECT_EQ(event["item"], "a\x01\"" + std::to_string(p));
    EXPECT_EQ(event.contains("at"), p == 0);
  }
  const peers::PeerAnswer served =
      Ask(*nodes[1], "POST", "/impressions?ids=u64&user=" + UserOf(3), bytes(uint64_t{7}), binary);
  EXPECT_EQ(served.status, 200u) << served.body;
  EXPECT_EQ(Json::parse(log[3].front().value)["items"], Json::array({7}));
  EXPECT_EQ(Ask(*nodes[0], "POST", "/plays?ids=u64&user=%FF", bytes(uint64_t{7}), binary).status,
            400u);
  EXPECT_EQ(RecordsOf(3), 1u);
}

TEST_F(WritesTest, RefusalsHaveTheIndexesOfTheRequest) {
  const std::string future = std::to_string(nodes[0]->engine.now_ms + 1'000'000'000'000);
  std::string body = R"({"events":[)";
  for (int i = 0; i < 8; ++i) {
    if (i > 0) body += ",";
    body += R"({"user":")" + UserOf(static_cast<uint32_t>(i) % kPartitions) + R"(","item":1)";
    body += i == 2 || i == 7 ? R"(,"at":)" + future + "}" : "}";
  }
  body += "]}";
  const peers::PeerAnswer answer = Ask(*nodes[1], "POST", "/plays", body);
  const Json json = Body(answer);
  EXPECT_EQ(json["accepted"], 6) << answer.body;
  EXPECT_EQ(json["refused"], 2);
  EXPECT_EQ(json["refusals"][0]["index"], 2);
  EXPECT_EQ(json["refusals"][1]["index"], 7);
  EXPECT_EQ(json["refusals"][1]["error"]["field"], "/at");
  EXPECT_EQ(json["refused_by"]["in_future"], 2);
}

TEST_F(WritesTest, WhatIsWrongIsSaidBeforeAnythingIsWritten) {
  for (const auto& [target, body, status] :
       {std::tuple("/plays", R"({"events":[{"user":"u1"}]})", 400u),
        std::tuple("/plays", R"({"events":[{"user":"u1","item":"a"}],"collection":"x"})", 404u),
        std::tuple("/plays?collection=y",
                   R"({"events":[{"user":"u1","item":"a"}],"collection":"x"})", 400u),
        std::tuple("/impressions", R"({"user":"u1"})", 400u),
        std::tuple("/users/u1/history/clear", R"({"x":1})", 400u)}) {
    EXPECT_EQ(Ask(*nodes[0], "POST", target, body).status, status) << target << body;
  }
  EXPECT_EQ(Ask(*nodes[0], "PUT", "/users/u1/recording", R"({"paused":1})").status, 400u);
  EXPECT_TRUE(log.empty());
}

TEST_F(WritesTest, LargeBodiesBecomeSeveralRecords) {
  std::string body = R"({"events":[)";
  for (int i = 0; i < 9'000; ++i) {
    body += (i > 0 ? "," : "") + PlayOf(UserOf(1), "item" + std::to_string(i));
  }
  body += "]}";
  EXPECT_EQ(Body(Ask(*nodes[0], "POST", "/plays", body))["accepted"], 9'000);
  EXPECT_EQ(RecordsOf(1), 3u);
  for (const LogRow& row : log[1]) EXPECT_LE(row.value.size(), cluster::kLogValueBytesMost);
}

TEST_F(WritesTest, LinesGoIntoTheLogInBatches) {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) {
    lines += i == 5'000
                 ? "{\"user\":1\n"
                 : PlayOf(UserOf(static_cast<uint32_t>(i) % kPartitions), "i" + std::to_string(i)) +
                       "\n";
  }
  const peers::PeerAnswer answer =
      Ask(*nodes[2], "POST", "/plays", lines, {{"Content-Type", "application/x-ndjson"}});
  const Json json = Body(answer);
  EXPECT_EQ(json["accepted"], 9'999) << answer.body;
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["refusals"][0]["index"], 5'000);
  size_t events = 0;
  for (uint32_t p = 0; p < kPartitions; ++p) {
    for (const LogRow& row : log[p]) events += Json::parse(row.value)["events"].size();
  }
  EXPECT_EQ(events, 9'999u);
}

TEST_F(WritesTest, LinesOfImpressions) {
  std::string lines;
  for (int i = 0; i < 8; ++i) {
    lines += R"({"user":")" + UserOf(static_cast<uint32_t>(i) % 2) + R"(","item":)" +
             std::to_string(i) + R"(,"at":)" + std::to_string(1'000 + i % 2) + "}\n";
  }
  const peers::PeerAnswer answer = Ask(*nodes[2], "POST", "/impressions?collection=default", lines,
                                       {{"Content-Type", "application/x-ndjson"}});
  EXPECT_EQ(Body(answer)["accepted"], 8) << answer.body;
  ASSERT_EQ(RecordsOf(1), 1u);
  EXPECT_EQ(Json::parse(log[1].front().value),
            Json::parse(R"({"user":"u1","items":[1,3,5,7],"collection":"default","at":1001})"));
}

TEST_F(WritesTest, CommandsGoTheSameWay) {
  for (const auto& node : nodes) {
    const peers::PeerAnswer erased = Ask(*node, "DELETE", "/users/u1");
    EXPECT_EQ(erased.status, 200u) << erased.body;
    EXPECT_EQ(Body(erased)["erased"], true);
    EXPECT_FALSE(erased.Header("seendb-position").empty());
  }
  EXPECT_EQ(RecordsOf(1), 3u);
  const peers::PeerAnswer paused =
      Ask(Stranger(1), "PUT", "/users/u1/recording", R"({"paused":true})");
  EXPECT_EQ(paused.status, 200u) << paused.body;
  EXPECT_EQ(Body(paused)["paused"], true) << paused.body;
  EXPECT_EQ(paused.Header("seendb-position"), "1:4");
  EXPECT_EQ(Body(Ask(Stranger(1), "GET", "/users/u1/recording", "",
                     {{"SeenDB-Position", "1:4"}}))["paused"],
            true);
  const peers::PeerAnswer unknown =
      Ask(*nodes[0], "POST", "/users/u1/history/clear", R"({"collections":["nothing"]})");
  EXPECT_EQ(unknown.status, 200u) << "the fake has no such check; the record is written";
}

TEST_F(WritesTest, WhatIsInTheLogAndNotAppliedIsPending) {
  for (const auto& node : nodes) node->lags = true;
  const peers::PeerAnswer answer =
      Ask(*nodes[0], "POST", "/plays", R"({"events":[)" + PlayOf("u1", "a") + "]}");
  EXPECT_EQ(answer.status, 202u);
  EXPECT_EQ(Body(answer)["pending"], true);
  EXPECT_EQ(answer.Header("seendb-position"), "1:1");
  EXPECT_EQ(Ask(*nodes[0], "DELETE", "/users/u1").status, 202u);
}

TEST_F(WritesTest, WithoutKafkaNothingIsTaken) {
  kafka_away = true;
  for (const auto& node : nodes) {
    const peers::PeerAnswer answer =
        Ask(*node, "POST", "/plays", R"({"events":[)" + PlayOf("u1", "a") + "]}");
    EXPECT_EQ(answer.status, 503u);
    EXPECT_EQ(Ask(*node, "POST", "/filter", FilterOf("u1")).status, 200u);
  }
  EXPECT_TRUE(log[1].empty());
}

TEST_F(WritesTest, TheNextLeaderWrites) {
  Replica(1, 0).Kill();
  for (int i = 0; i < 3; ++i) {
    const peers::PeerAnswer answer =
        Ask(Stranger(1), "POST", "/plays", R"({"events":[)" + PlayOf("u1", "a") + "]}");
    EXPECT_EQ(answer.status, 200u) << answer.body;
  }
  Replica(1, 1).Kill();
  EXPECT_EQ(Ask(Stranger(1), "POST", "/plays", R"({"events":[)" + PlayOf("u1", "a") + "]}").status,
            503u);
}

/// Takes connections and answers nothing, as a process that stands still.
class SilentNode {
 public:
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
};

// The bound is far from what it takes, and from the time that the request has.
TEST_F(WritesTest, ASilentLeaderIsNotWaitedForToTheEnd) {
  const SilentNode silent;
  const std::string leader = Replica(1, 0).name;
  ASSERT_TRUE(
      meta.Apply(meta.next_offset(), cluster::EncodeMeta(cluster::MemberRecord{
                                         .node = leader, .url = silent.url(), .zone = leader}))
          .ok());
  Stranger(1).RenewTable();
  for (const auto& [method, target, body] :
       {std::tuple("POST", "/plays", R"({"events":[)" + PlayOf("u1", "a") + "]}"),
        std::tuple("DELETE", "/users/u1", std::string())}) {
    const auto began = std::chrono::steady_clock::now();
    const peers::PeerAnswer answer =
        Ask(Stranger(1), method, target, body, {{"SeenDB-Timeout-Ms", "19000"}});
    EXPECT_EQ(answer.status, 503u) << answer.body;
    EXPECT_NE(answer.body.find("the outcome is open"), std::string::npos) << answer.body;
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(6));
  }
  const auto began = std::chrono::steady_clock::now();
  const peers::PeerAnswer answer =
      Ask(Stranger(1), "POST", "/filter", FilterOf("u1", R"(,"record":true)"),
          {{"SeenDB-Timeout-Ms", "19000"}});
  EXPECT_EQ(answer.status, 200u) << answer.body;
  EXPECT_EQ(Replica(1, 1).engine.filters, 1) << "after three that were lost the next one leads";
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(9));
}

// It answers other questions: it is Kafka that is slow.
TEST_F(WritesTest, ALeaderThatWaitsForKafkaIsWaitedFor) {
  Replica(1, 0).append_takes = std::chrono::milliseconds(3'500);
  const peers::PeerAnswer answer =
      Ask(Stranger(1), "POST", "/plays", R"({"events":[)" + PlayOf("u1", "a") + "]}");
  EXPECT_EQ(answer.status, 200u) << answer.body;
}

TEST_F(WritesTest, WhatAFilterRecordsIsInTheLog) {
  const std::string body = FilterOf("u1", R"(,"record":true)");
  for (const auto& node : nodes) {
    const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", body);
    EXPECT_EQ(answer.status, 200u) << answer.body;
  }
  EXPECT_EQ(Replica(1, 0).engine.filters, 3) << "the acting primary alone is asked";
  ASSERT_EQ(RecordsOf(1), 1u);  // the second and the third had nothing left to serve
  const Json record = Json::parse(log[1].front().value);
  EXPECT_EQ(record["items"], Json::parse(R"(["a","b"])"));
  EXPECT_EQ(record["user"], "u1");
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
