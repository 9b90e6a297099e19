// Sets of users at any node: they are in the log once the cluster's upgrade is finished.

#include "router/unit/small_cluster.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

class UserSetsTest : public SmallCluster {
 protected:
  std::vector<LogRow> RowsOf(uint32_t partition) {
    const std::lock_guard lock(mutex);
    return log[partition];
  }
};

TEST_F(UserSetsTest, NothingIsWrittenBeforeTheUpgradeIsFinished) {
  const std::string path = "/users/u1/sets/session";
  const std::string body = R"({"items":["a"],"expires_ms":5})";
  for (const peers::PeerAnswer& answer :
       {Ask(*nodes[0], "PUT", path, body), Ask(*nodes[0], "DELETE", path)}) {
    EXPECT_EQ(answer.status, 503u) << answer.body;
    EXPECT_NE(answer.body.find("cluster upgrade --finish"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(Ask(*nodes[0], "GET", path).status, 404u);
  EXPECT_EQ(Ask(*nodes[0], "GET", "/users/u1/sets").body, R"({"sets":[]})");
  EXPECT_TRUE(RowsOf(1).empty());
  FinishUpgrade();
  EXPECT_EQ(Ask(*nodes[0], "PUT", path, body).status, 200u);
}

TEST_F(UserSetsTest, TheyGoThroughTheLog) {
  FinishUpgrade();
  const std::string path = "/users/u1/sets/a%2F1";
  const peers::PeerAnswer put = Ask(
      Stranger(1), "PUT", path, R"({"expires_ms":3600000,"items":["v1",42,"\u00e9\""],"at":4})");
  EXPECT_EQ(put.status, 200u) << put.body;
  EXPECT_EQ(put.body, R"({"name":"a/1","count":3,"at":4,"expires_at":3600004})");
  EXPECT_EQ(put.Header("seendb-position"), "1:1");
  const peers::PeerAnswer now =
      Ask(Replica(1, 0), "PUT", "/users/u1/sets/b", R"({"items":["x"],"expires_ms":7})");
  EXPECT_EQ(now.body, R"({"name":"b","count":1,"at":5,"expires_at":12})") << "as of its arrival";
  const std::vector<LogRow> rows = RowsOf(1);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kind, cluster::LogKind::kUserSet);
  EXPECT_EQ(rows[0].key, "u1");
  EXPECT_EQ(
      rows[0].value,
      "{\"name\":\"a/1\",\"items\":[\"v1\",42,\"\u00e9\\\"\"],\"expires_ms\":3600000,\"at\":4}");
  for (const auto& node : nodes) {
    const peers::PeerAnswer read = Ask(*node, "GET", path, "", {{"SeenDB-Position", "1:2"}});
    EXPECT_EQ(Body(read)["items"], Json::parse(R"(["42","v1","\u00e9\""])")) << read.body;
    EXPECT_EQ(
        Body(Ask(*node, "GET", "/users/u1/sets", "", {{"SeenDB-Position", "1:2"}}))["sets"].size(),
        2u);
  }
  const peers::PeerAnswer gone = Ask(Stranger(1), "DELETE", path);
  EXPECT_EQ(gone.body, R"({"deleted":true})");
  EXPECT_EQ(gone.Header("seendb-position"), "1:3");
  EXPECT_EQ(RowsOf(1).back().value, R"({"name":"a/1","deleted":true})");
  EXPECT_EQ(Ask(Replica(1, 1), "DELETE", path).body, R"({"deleted":false})");
  EXPECT_EQ(Ask(Replica(1, 1), "GET", path, "", {{"SeenDB-Position", "1:4"}}).status, 404u);
}

TEST_F(UserSetsTest, WrongOnesAreRefusedBeforeAnythingIsWritten) {
  FinishUpgrade();
  const std::string ahead = std::to_string(nodes[0]->engine.now_ms + 4'000'000);
  std::string large = R"({"expires_ms":5,"items":[)";
  for (int i = 0; i < 6'000; ++i) {
    large += (i > 0 ? ",\"" : "\"") + std::to_string(i) + std::string(90, 'x') + "\"";
  }
  for (const auto& [body, field] :
       {std::pair(std::string(R"({"items":["a"]})"), "/expires_ms"),
        std::pair(std::string(R"({"items":["a"],"expires_ms":0})"), "/expires_ms"),
        std::pair(std::string(R"({"items":["a"],"expires_ms":2592000001})"), "/expires_ms"),
        std::pair(std::string(R"({"expires_ms":5})"), "/items"),
        std::pair(std::string(R"({"items":["a",""],"expires_ms":5})"), "/items/1"),
        std::pair(std::string(R"({"items":["a"],"expires_ms":5,"name":"b"})"), "/name"),
        std::pair(R"({"items":["a"],"expires_ms":5,"at":)" + ahead + "}", "/at"),
        std::pair(large + "]}", "/items")}) {
    const peers::PeerAnswer answer = Ask(Stranger(1), "PUT", "/users/u1/sets/s", body);
    EXPECT_EQ(answer.status, 400u) << answer.body;
    EXPECT_EQ(Body(answer)["error"]["field"], field) << answer.body;
  }
  const std::string long_name = "/users/u1/sets/" + std::string(65, 's');
  for (const peers::PeerAnswer& answer :
       {Ask(Stranger(1), "DELETE", long_name),
        Ask(Stranger(1), "PUT", long_name, R"({"items":["a"],"expires_ms":5})")}) {
    EXPECT_EQ(answer.status, 400u);
    EXPECT_EQ(Body(answer)["error"]["field"], "/name") << answer.body;
  }
  EXPECT_TRUE(RowsOf(1).empty());
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
