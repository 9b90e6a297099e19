// Exposures and marks at any node: they are in the log once the cluster's upgrade is finished.

#include "cluster/cluster_doc.h"
#include "router/unit/small_cluster.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

const peers::Headers kLines = {{"Content-Type", "application/x-ndjson"}};

class FactsTest : public SmallCluster {
 protected:
  static std::string ShownOf(const std::string& user, const std::string& item,
                             const std::string& more = "") {
    return R"({"user":")" + user + R"(","item":")" + item + "\"" + more + "}";
  }
  std::vector<LogRow> RowsOf(uint32_t partition) {
    const std::lock_guard lock(mutex);
    return log[partition];
  }
};

TEST_F(FactsTest, NothingNewIsWrittenBeforeTheUpgradeIsFinished) {
  const std::string user = UserOf(1), marks = "/users/" + user + "/marks";
  const std::string exposures = R"({"events":[)" + ShownOf(user, "v") + "]}";
  const std::string mark = R"({"group":"g","until":1})";
  const auto ask = [&] {
    return std::vector<peers::PeerAnswer>{
        Ask(*nodes[0], "POST", "/exposures", exposures),
        Ask(*nodes[0], "POST", "/exposures", ShownOf(user, "v") + "\n", kLines),
        Ask(*nodes[0], "POST", marks, mark),
        Ask(*nodes[0], "POST", marks, mark + "\n", kLines),
        Ask(*nodes[0], "DELETE", marks + "/g", ""),
        Ask(*nodes[0], "POST", "/plays",
            R"({"events":[)" + ShownOf(user, "v", R"(,"of":["a"])") + "]}"),
        Ask(*nodes[0], "POST", "/plays",
            R"({"events":[)" + ShownOf(user, "v", R"(,"same_as":[])") + "]}"),
        Ask(*nodes[0], "POST", "/plays", ShownOf(user, "v", R"(,"same_as":["s"])") + "\n", kLines),
        Ask(*nodes[0], "POST", "/impressions",
            R"({"user":")" + user + R"(","items":["v"],"surface":"home"})"),
        Ask(*nodes[0], "POST", "/impressions",
            R"({"user":")" + user + R"(","items":[{"id":"v","of":["a"]}]})")};
  };
  for (const peers::PeerAnswer& answer : ask()) {
    EXPECT_EQ(answer.status, 503u) << answer.body;
    EXPECT_NE(answer.body.find("cluster upgrade --finish"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(Ask(*nodes[0], "POST", "/plays", exposures).status, 200u);
  EXPECT_EQ(Ask(*nodes[0], "GET", marks, "").status, 200u);
  EXPECT_EQ(RowsOf(1).size(), 1u);
  FinishUpgrade();
  for (const peers::PeerAnswer& answer : ask()) EXPECT_EQ(answer.status, 200u) << answer.body;
  EXPECT_EQ(RowsOf(1).size(), 11u);
}

TEST_F(FactsTest, GroupsAreInTheLog) {
  FinishUpgrade();
  const std::string play = ShownOf("u1", "v", R"(,"of":["author:3"],"same_as":["src:9"])");
  EXPECT_EQ(Body(Ask(Stranger(1), "POST", "/plays", R"({"events":[)" + play + "]}"))["accepted"],
            1);
  EXPECT_EQ(Body(Ask(Stranger(1), "POST", "/plays", play + "\n", kLines))["accepted"], 1);
  const std::string item = R"({"id":"w","of":["author:3"]})";
  EXPECT_EQ(
      Body(Ask(Stranger(1), "POST", "/impressions",
               R"({"user":"u1","surface":"home","at":5,"items":["x",)" + item + "]}"))["accepted"],
      2);
  const std::string line = ShownOf("u1", "w", R"(,"of":["author:3"])");
  EXPECT_EQ(Body(Ask(Stranger(1), "POST", "/impressions", line + "\n", kLines))["accepted"], 1);
  const std::string lift = R"({"items":["v"],"same_as":["src:9"]})";
  Ask(Stranger(1), "POST", "/users/u1/history/delete", lift);
  const std::vector<LogRow> rows = RowsOf(1);
  ASSERT_EQ(rows.size(), 5u);
  for (const size_t at : {0u, 1u}) {
    EXPECT_EQ(rows[at].kind, cluster::LogKind::kPlaysGrouped);
    EXPECT_EQ(Json::parse(rows[at].value)["events"][0], Json::parse(play));
  }
  for (const size_t at : {2u, 3u}) EXPECT_EQ(rows[at].kind, cluster::LogKind::kImpressionsGrouped);
  EXPECT_EQ(rows[2].value, R"({"user":"u1","items":["x",)" + item +
                               R"(],"collection":"default","surface":"home","at":5})");
  EXPECT_EQ(Json::parse(rows[3].value)["items"], Json::parse("[" + item + "]"));
  EXPECT_EQ(rows[4].kind, cluster::LogKind::kHistoryDeleteGrouped);
  EXPECT_EQ(rows[4].value, lift);
}

TEST_F(FactsTest, RecordsAreThoseOfTheDocument) {
  FinishUpgrade();
  const std::vector<std::string> page = cluster::test::DocumentBlocks("json kinds");
  ASSERT_EQ(page.size(), 6u);
  const std::string groups = R"(,"of":["author:3"],"same_as":["src:9"])";
  const auto ask = [&](const char* path, const std::string& body) {
    const peers::PeerAnswer answer = Ask(Stranger(1), "POST", path, body);
    EXPECT_EQ(answer.status, 200u) << path << answer.body;
  };
  ask("/exposures", R"({"events":[)" + ShownOf("u", "a", R"(,"surface":"home")" + groups) + "]}");
  Ask(Stranger(1), "DELETE", "/users/u/marks/channel:9", "");
  ask("/plays", R"({"events":[)" + ShownOf("u", "b", groups) + "]}");
  ask("/impressions", R"({"user":"u","surface":"home","items":["c",{"id":"d")" + groups + "}]}");
  ask("/users/u/history/delete", R"({"items":["b"],"same_as":["src:9"]})");
  ask("/reserve",
      R"({"user":"u","items":[{"id":"e","of":["ad:1"]}],"caps":[],"at":1773144000000})");
  const std::vector<LogRow> rows = RowsOf(1);
  ASSERT_EQ(rows.size(), page.size());
  for (size_t i = 0; i < page.size(); ++i) {
    EXPECT_EQ(rows[i].value, page[i]);
    EXPECT_EQ(rows[i].key, "u");
    EXPECT_EQ(static_cast<int>(rows[i].kind), i == 0 ? 10 : 11 + static_cast<int>(i));
  }
}

TEST_F(FactsTest, APolicyThatOlderNodesCannotReadWaitsForTheUpgrade) {
  const char* const policies[] = {R"({"counts":{"author":"7d"}})",
                                  R"({"caps":[{"of":"author","n":2,"within":"1d"}]})",
                                  R"({"exposures":{"days":7}})", R"({"exposed_is_seen":true})"};
  const auto told = [&](const char* policy) {
    return Ask(*nodes[0], "PUT", "/collections/default", policy).body;
  };
  for (const char* policy : policies) {
    EXPECT_NE(told(policy).find("cluster upgrade --finish"), std::string::npos) << told(policy);
  }
  EXPECT_NE(told(R"({"impressions":7})").find("not in this test"), std::string::npos);
  FinishUpgrade();
  for (const char* policy : policies) {
    EXPECT_NE(told(policy).find("not in this test"), std::string::npos) << told(policy);
  }
}

TEST_F(FactsTest, ReservationsAreDecidedByWhoLeadsAndLogged) {
  const std::string body =
      R"({"user":"u1","items":[{"id":"a","of":["ad:1"]},{"id":"b","of":["ad:1"]}],)"
      R"("caps":[{"of":"ad","n":1,"within":"1d"}],"expires_ms":60000})";
  const peers::PeerAnswer early = Ask(Stranger(1), "POST", "/reserve", body);
  EXPECT_EQ(early.status, 503u) << early.body;
  EXPECT_NE(early.body.find("cluster upgrade --finish"), std::string::npos) << early.body;
  EXPECT_EQ(Replica(1, 0).engine.reservations, 0);
  FinishUpgrade();
  int records = 0;
  for (const auto& node : nodes) {
    const peers::PeerAnswer answer = Ask(*node, "POST", "/reserve", body);
    EXPECT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(answer.body, R"({"reserved":["a"],"refused":["b"]})");
    EXPECT_EQ(answer.Header("seendb-position"), "1:" + std::to_string(++records));
  }
  const std::vector<LogRow> rows = RowsOf(1);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].kind, cluster::LogKind::kReserve);
  EXPECT_EQ(rows[0].key, "u1");
  EXPECT_EQ(
      rows[0].value,
      R"({"user":"u1","items":[{"id":"a","of":["ad:1"]}],"caps":[],"expires_ms":60000,"at":)" +
          std::to_string(nodes[0]->engine.now_ms) + R"(,"collection":"default"})");
  // Decided once each at the acting primary, and promised by it and, later, by the other one.
  EXPECT_EQ(Replica(1, 0).engine.reservations, 6);
  Replica(1, 1).Apply(1);
  EXPECT_EQ(Replica(1, 1).engine.reservations, 3);
}

TEST_F(FactsTest, AReservationThatTheLogDoesNotTakeIsNotAcknowledged) {
  FinishUpgrade();
  kafka_away = true;
  const std::string body =
      R"({"user":"u1","items":[{"id":"a","of":["ad:1"]}],"caps":[],"expires_ms":60000})";
  const peers::PeerAnswer answer = Ask(Stranger(1), "POST", "/reserve", body);
  EXPECT_EQ(answer.status, 503u) << answer.body;
  EXPECT_EQ(Replica(1, 0).engine.reservations, 1) << "it is not tried again";
  EXPECT_EQ(Replica(1, 1).engine.reservations, 0);
  kafka_away = false;
  Replica(1, 0).Kill();
  EXPECT_EQ(Ask(Stranger(1), "POST", "/reserve", body).status, 200u);
  EXPECT_EQ(Ask(Stranger(1), "POST", "/reserve", R"({"user":"u1","items":["a"]})").status, 400u);
}

TEST_F(FactsTest, WhatAFilterRecordsIsLoggedWithItsGroups) {
  const std::string candidates = R"("items":["a",{"id":"b","of":["author:3"]}],"record":true})";
  Ask(Stranger(1), "POST", "/filter", R"({"user":"u1",)" + candidates);
  ASSERT_EQ(RowsOf(1).size(), 1u);
  EXPECT_EQ(RowsOf(1)[0].kind, cluster::LogKind::kImpressions) << "the upgrade is not finished";
  FinishUpgrade();
  Ask(Stranger(1), "POST", "/filter", R"({"user":"u5",)" + candidates);
  ASSERT_EQ(RowsOf(1).size(), 2u);
  EXPECT_EQ(RowsOf(1)[1].kind, cluster::LogKind::kImpressionsGrouped);
  EXPECT_EQ(Json::parse(RowsOf(1)[1].value)["items"],
            Json::parse(R"(["a",{"id":"b","of":["author:3"]}])"));
}

TEST_F(FactsTest, ExposuresAreSplitByPartition) {
  FinishUpgrade();
  std::string body = R"({"events":[)", lines;
  for (uint32_t i = 0; i < 8; ++i) {
    const std::string event = ShownOf(UserOf(i % kPartitions), "i" + std::to_string(i),
                                      R"(,"surface":"home","of":["author:3"],"at":5)");
    body += (i > 0 ? "," : "") + event;
    lines += event + "\n";
  }
  const peers::PeerAnswer whole = Ask(*nodes[1], "POST", "/exposures", body + "]}");
  EXPECT_EQ(whole.body, R"({"accepted":8,"refused":0,"refusals":[]})");
  EXPECT_EQ(whole.Header("seendb-position"), "0:1,1:1,2:1,3:1");
  EXPECT_EQ(Body(Ask(*nodes[2], "POST", "/exposures", lines, kLines))["accepted"], 8);
  for (uint32_t p = 0; p < kPartitions; ++p) {
    ASSERT_EQ(RowsOf(p).size(), 2u);
    for (const LogRow& row : RowsOf(p)) {
      EXPECT_EQ(row.kind, cluster::LogKind::kExposures);
      const Json record = Json::parse(row.value);
      ASSERT_EQ(record["events"].size(), 2u);
      EXPECT_EQ(record["collection"], "default");
      EXPECT_EQ(record["events"][0]["surface"], "home");
      EXPECT_EQ(record["events"][0]["of"], Json::parse(R"(["author:3"])"));
    }
  }
}

TEST_F(FactsTest, WrongExposuresAreRefusedBeforeAnythingIsWritten) {
  FinishUpgrade();
  std::string groups;
  for (int i = 0; i < 9; ++i) groups += (i > 0 ? ",\"g" : "\"g") + std::to_string(i) + "\"";
  const std::string too_many = R"(,"of":[)" + groups + R"(],"same_as":[)" + groups + "]";
  for (const auto& [more, field] : {std::pair(std::string(R"(,"surface":"")"), "/events/0/surface"),
                                    std::pair(std::string(R"(,"of":[""])"), "/events/0/of/0"),
                                    std::pair(too_many, "/events/0")}) {
    const std::string event = ShownOf("u1", "v", more);
    const peers::PeerAnswer answer =
        Ask(*nodes[0], "POST", "/exposures", R"({"events":[)" + event + "]}");
    EXPECT_EQ(answer.status, 400u) << answer.body;
    EXPECT_TRUE(Body(answer)["error"]["field"].get<std::string>().starts_with(field))
        << answer.body;
    EXPECT_EQ(Body(Ask(*nodes[0], "POST", "/exposures", event + "\n", kLines))["refused"], 1);
  }
  const std::string late =
      R"(,"at":)" + std::to_string(nodes[0]->engine.now_ms + 1'000'000'000'000);
  const peers::PeerAnswer refused =
      Ask(*nodes[0], "POST", "/exposures",
          R"({"events":[)" + ShownOf("u0", "v") + "," + ShownOf("u1", "v", late) + "]}");
  EXPECT_EQ(Body(refused)["accepted"], 1) << refused.body;
  EXPECT_EQ(Body(refused)["refusals"][0]["index"], 1) << refused.body;
}

TEST_F(FactsTest, MarksGoThroughTheLog) {
  FinishUpgrade();
  const std::string path = "/users/u1/marks";
  const peers::PeerAnswer one =
      Ask(Stranger(1), "POST", path, R"({"group":"channel:9","until":"always"})");
  EXPECT_EQ(one.status, 200u) << one.body;
  EXPECT_EQ(one.body, R"({"accepted":1,"refused":0,"refusals":[]})");
  EXPECT_EQ(one.Header("seendb-position"), "1:1");
  EXPECT_EQ(
      Body(
          Ask(Replica(1, 1), "POST", path,
              R"({"marks":[{"group":"a","until":5,"at":4},{"group":"b","until":6}]})"))["accepted"],
      2);
  const std::vector<LogRow> rows = RowsOf(1);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].kind, cluster::LogKind::kMarks);
  EXPECT_EQ(rows[1].key, "u1");
  EXPECT_EQ(rows[1].value, R"({"marks":[{"group":"a","until":5,"at":4},{"group":"b","until":6}]})");
  for (const auto& node : nodes) {
    const peers::PeerAnswer read = Ask(*node, "GET", path, "", {{"SeenDB-Position", "1:2"}});
    EXPECT_EQ(Body(read)["marks"].size(), 3u) << read.body;
  }
  EXPECT_EQ(Ask(Stranger(1), "DELETE", path + "/channel:9").body, R"({"deleted":true})");
  EXPECT_EQ(Ask(Stranger(1), "DELETE", path + "/channel:9").body, R"({"deleted":false})");
  EXPECT_EQ(Body(Ask(Stranger(1), "GET", path))["marks"].size(), 2u);
}

TEST_F(FactsTest, WrongMarksAreRefusedBeforeAnythingIsWritten) {
  FinishUpgrade();
  const std::string ahead = std::to_string(nodes[0]->engine.now_ms + 4'000'000);
  for (const auto& [body, field] :
       {std::pair(std::string(R"({"group":"","until":5})"), "/group"),
        std::pair(std::string(R"({"group":"a"})"), "/until"),
        std::pair(R"({"group":"a","until":5,"at":)" + ahead + "}", "/at"),
        std::pair(R"({"marks":[{"group":"a","until":5,"at":)" + ahead + "}]}", "/marks/0/at")}) {
    const peers::PeerAnswer answer = Ask(*nodes[0], "POST", "/users/u1/marks", body);
    EXPECT_EQ(answer.status, 400u) << answer.body;
    EXPECT_EQ(Body(answer)["error"]["field"], field) << answer.body;
  }
  EXPECT_EQ(Ask(*nodes[0], "DELETE", "/users/u1/marks/" + std::string(65, 'g')).status, 400u);
  EXPECT_TRUE(RowsOf(1).empty());
}

TEST_F(FactsTest, LinesOfMarksGoIntoTheLogInBatches) {
  FinishUpgrade();
  std::string lines;
  for (int i = 0; i < 2'500; ++i) {
    lines += i == 1'200 ? std::string("{\"group\":\"\",\"until\":1}\n")
                        : R"({"group":"g)" + std::to_string(i) + "\",\"until\":7}\n";
  }
  const peers::PeerAnswer answer = Ask(Stranger(1), "POST", "/users/u1/marks", lines, kLines);
  EXPECT_EQ(Body(answer)["accepted"], 2'499) << answer.body;
  EXPECT_EQ(Body(answer)["refusals"][0]["index"], 1'200) << answer.body;
  EXPECT_EQ(answer.Header("seendb-position"), "1:3");
  size_t marks = 0;
  for (const LogRow& row : RowsOf(1)) marks += Json::parse(row.value)["marks"].size();
  EXPECT_EQ(marks, 2'499u);
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
