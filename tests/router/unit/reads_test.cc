// Reads of users, asked at any node.

#include <sys/socket.h>

#include "router/unit/small_cluster.h"
#include "support/run_here.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

class ReadsTest : public SmallCluster {
 protected:
  /// Both replicas have seen `a` played by the user.
  void PlayA(uint32_t partition) {
    const std::string user = UserOf(partition);
    const peers::PeerAnswer answer = Ask(Stranger(partition), "POST", "/plays",
                                         R"({"events":[{"user":")" + user + R"(","item":"a"}]})");
    ASSERT_EQ(answer.status, 200u) << answer.body;
    Replica(partition, 1).Apply(partition);
  }
};

TEST_F(ReadsTest, EveryNodeAnswersForEveryUser) {
  for (uint32_t p = 0; p < kPartitions; ++p) {
    PlayA(p);
    for (const auto& node : nodes) {
      const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", FilterOf(UserOf(p)));
      EXPECT_EQ(answer.status, 200u) << answer.body;
      EXPECT_EQ(answer.body,
                R"({"unseen":["b"],"seen":1,"examined":2,"unseen_share":0.5,"degraded":false})");
      EXPECT_EQ(Ask(*node, "GET", "/users/" + UserOf(p)).status, 200u);
    }
  }
}

TEST_F(ReadsTest, FiltersTravelThroughEveryNode) {
  const std::string path = "/users/" + UserOf(1) + "/filter";
  for (const size_t at : {0u, 1u}) {
    DumpPart& part = Replica(1, at).engine.dump.parts.emplace_back();
    part.body = "ring";
    part.hash = 7;
  }
  for (const auto& node : nodes) {
    const peers::PeerAnswer whole = Ask(*node, "GET", path);
    ASSERT_EQ(whole.status, 200u) << whole.body;
    EXPECT_EQ(whole.Header("content-type"), "application/octet-stream");
    EXPECT_EQ(whole.Header("cache-control"), "private, no-cache");
    const std::string etag(whole.Header("etag"));
    EXPECT_NE(etag.find("0000000000000007"), std::string::npos) << etag;
    const peers::PeerAnswer same = Ask(*node, "GET", path, "", {{"If-None-Match", etag}});
    EXPECT_EQ(same.status, 304u);
    EXPECT_EQ(same.Header("etag"), etag);
    EXPECT_EQ(same.body, "");
  }
}

TEST_F(ReadsTest, ANodeFetchesNoFilterForWhoMustNotHaveIt) {
  http::Connection far;
  far.family = AF_INET;
  far.peer = "10.0.0.7";
  http::RequestHead head;
  head.method = http::Method::kGet;
  head.target = "/users/" + UserOf(1) + "/filter";
  head.connection = &far;
  api::ApiService& service = Stranger(1).service();
  const http::Plan plan = service.Begin(head);
  http::Response response;
  RunHere(service.Handle(plan, {head, ""}, &response));
  EXPECT_EQ(response.status, 403u) << response.body;
}

TEST_F(ReadsTest, TheFirstReplicaOfTheListIsAsked) {
  for (int i = 0; i < 5; ++i) Ask(Stranger(1), "POST", "/filter", FilterOf(UserOf(1)));
  EXPECT_EQ(Replica(1, 0).engine.filters, 5);
  EXPECT_EQ(Replica(1, 1).engine.filters, 0);
}

TEST_F(ReadsTest, TheUserIsFoundWhereverTheBodyNamesIt) {
  const char* bodies[] = {
      R"({"user":"u1","items":["a"]})",      R"({"items":["a"],"user":"u1"})",
      R"({ "user" : "u1", "items":["a"] })", R"({"user":"\u00751","items":["a"]})",
      R"({"user":"u\",1","items":["a"]})",   R"({"user":1,"items":["a"]})",
      R"({"user":"u1","items":["\u0072"]})"};
  int asked = 0;
  for (const char* body : bodies) {
    for (const auto& node : nodes) {
      const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", body);
      EXPECT_EQ(answer.status, 200u) << body << answer.body;
      EXPECT_EQ(Replica(1, 0).engine.filters, ++asked) << body;
    }
  }
}

// Their database may have a store of items, of the time before the cluster.
TEST_F(ReadsTest, RulesOnItemsAreRefused) {
  const std::string head = R"({"user":"u1","items":["a"],)";
  const peers::Headers lines = {{"Content-Type", "application/x-ndjson"}};
  for (const char* member :
       {R"("where":[{"field":"x","eq":1}])", R"("at_most":{"field":"x","n":1})",
        R"("unknown":"drop")", R"("fields":["x"])"}) {
    for (const auto& node : nodes) {
      const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", head + member + "}");
      EXPECT_EQ(answer.status, 409u) << answer.body;
      EXPECT_NE(answer.body.find("nodes of a cluster"), std::string::npos) << answer.body;
    }
    const peers::PeerAnswer line = Ask(*nodes[0], "POST", "/filter", head + member + "}\n", lines);
    EXPECT_NE(line.body.find("nodes of a cluster"), std::string::npos) << line.body;
  }
}

TEST_F(ReadsTest, ErrorsAreThoseOfOneServer) {
  for (const auto& [body, status, field] :
       {std::tuple(R"({"items":["a"]})", 400u, "/user"),
        std::tuple(R"({"user":"u1","items":["a"],"collection":"none"})", 404u, "/collection"),
        std::tuple(R"({"user":"u1","items":[true]})", 400u, "/items/0")}) {
    for (const auto& node : nodes) {
      const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", body);
      EXPECT_EQ(answer.status, status) << body;
      EXPECT_EQ(Body(answer)["error"]["field"], field) << answer.body;
    }
  }
}

TEST_F(ReadsTest, ANodeThatIsGoneCostsNoAnswer) {
  PlayA(1);
  Replica(1, 0).Kill();
  for (int i = 0; i < 20; ++i) {
    const peers::PeerAnswer answer = Ask(Stranger(1), "POST", "/filter", FilterOf(UserOf(1)));
    ASSERT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(Body(answer)["seen"], 1) << answer.body;
  }
  EXPECT_EQ(Replica(1, 1).engine.filters, 20);
  // What the one that is gone acknowledged is in the log: it was read up to a tick first, and once.
  EXPECT_GE(Replica(1, 1).barriers, 1);
}

TEST_F(ReadsTest, WhoTakesOverReadsTheLogFirst) {
  const std::string user = UserOf(1);
  Replica(1, 1).lags = true;  // it has not applied yet what the first has acknowledged
  ASSERT_EQ(
      Ask(Replica(1, 0), "POST", "/plays", R"({"events":[{"user":")" + user + R"(","item":"a"}]})")
          .status,
      200u);
  Replica(1, 1).lags = false;
  Replica(1, 0).Kill();
  // The first request meets that the first is gone, the second knows that this node leads by now.
  for (const int ticks : {1, 2, 2, 2}) {
    EXPECT_EQ(Body(Ask(Replica(1, 1), "POST", "/filter", FilterOf(user)))["unseen"],
              Json::parse(R"(["b"])"));
    EXPECT_EQ(Replica(1, 1).barriers, ticks);
  }
}

// Without Kafka there is no tick: the answer says so until there was one. Routes that can't say it
// answer.
TEST_F(ReadsTest, WhoTakesOverWithoutKafkaSaysThatItMayBeBehind) {
  PlayA(1);
  Replica(1, 0).Kill();
  kafka_away = true;
  const std::string filter = FilterOf(UserOf(1));
  for (int i = 0; i < 4; ++i) {  // the first waits for a tick, the others do not
    for (SmallNode* node : {&Replica(1, 1), &Stranger(1)}) {
      const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", filter);
      EXPECT_EQ(answer.status, 200u) << answer.body;
      EXPECT_EQ(Body(answer)["unseen"], Json::parse(R"(["b"])"));
      EXPECT_EQ(Body(answer)["missing"], Json::parse(R"(["behind"])")) << answer.body;
    }
    const peers::PeerAnswer lines = Ask(Replica(1, 1), "POST", "/filter", filter + "\n",
                                        {{"Content-Type", "application/x-ndjson"}});
    EXPECT_EQ(Body(lines)["missing"], Json::parse(R"(["behind"])")) << lines.body;
    EXPECT_EQ(Ask(Replica(1, 1), "GET", "/users/" + UserOf(1)).status, 200u);
  }
  EXPECT_EQ(
      Ask(Replica(1, 1), "POST", "/filter", FilterOf(UserOf(1), R"(,"on_error":"fail")")).status,
      503u);
  kafka_away = false;
  std::this_thread::sleep_for(router::Takeovers::kPause);
  EXPECT_EQ(Body(Ask(Replica(1, 1), "POST", "/filter", filter))["degraded"], false);
}

TEST_F(ReadsTest, AShardThatIsNotThereIsAskedOfTheOther) {
  PlayA(2);
  Replica(2, 0).engine.held.clear();
  for (const auto& node : nodes) {
    const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", FilterOf(UserOf(2)));
    ASSERT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(Body(answer)["seen"], 1);
  }
}

TEST_F(ReadsTest, WithoutReplicasTheAnswerIsDegradedOrNone) {
  Replica(1, 0).Kill();
  Replica(1, 1).Kill();
  SmallNode& node = Stranger(1);
  const peers::PeerAnswer answer =
      Ask(node, "POST", "/filter", FilterOf(UserOf(1), R"(,"exclude":["b"])"));
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.body, R"({"unseen":["a"],"seen":0,"excluded":1,"examined":2,"unseen_share":0.5,)"
                         R"("degraded":true,"missing":["partition"]})");
  EXPECT_EQ(Ask(node, "POST", "/filter", FilterOf(UserOf(1), R"(,"on_error":"fail")")).status,
            503u);
  EXPECT_EQ(Ask(node, "GET", "/users/" + UserOf(1)).status, 503u);
  EXPECT_EQ(Ask(node, "GET", "/users/" + UserOf(3)).status,
            200u);  // of partition 3: node 1 is here
}

TEST_F(ReadsTest, AReplicaThatDoesNotServeAnswersWhereNobodyElseCan) {
  PlayA(1);
  for (const auto& node : nodes) {
    for (const auto& other : nodes) {
      for (auto& [partition, replica] : node->nodes[other->name].report->replicas) {
        replica.state = cluster::ReplicaState::kCatchingUp;
      }
    }
    node->RenewTable();
  }
  for (const char* more : {"", R"(,"record":true)"}) {
    const Json answer = Body(Ask(Replica(1, 0), "POST", "/filter", FilterOf(UserOf(1), more)));
    EXPECT_EQ(answer["unseen"], Json::parse(R"(["b"])"));
    EXPECT_EQ(answer["missing"], Json::parse(R"(["behind"])"));
    EXPECT_EQ(answer.contains("recorded"), *more != 0) << answer;
  }
  EXPECT_EQ(Body(Ask(Stranger(1), "POST", "/filter", FilterOf(UserOf(1))))["missing"],
            Json::parse(R"(["partition"])"));
}

// All nodes have it answered by one: the second page has nothing of the first.
TEST_F(ReadsTest, ABinaryQuestionThatRecordsGoesToTheActingPrimary) {
  const std::string target = "/filter?ids=u64&record=true&user=" + UserOf(1);
  const std::string items("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  const peers::Headers binary = {{"Content-Type", "application/octet-stream"}};
  std::string expected(1, '\3');
  for (const auto& node : nodes) {
    const peers::PeerAnswer answer = Ask(*node, "POST", target, items, binary);
    EXPECT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(answer.body, expected) << node->name;
    expected = std::string(1, '\0');
  }
}

TEST_F(ReadsTest, WhoWantsToGoThereItselfIsToldWhere) {
  const peers::Headers direct = {{"SeenDB-Route", "direct"}};
  const peers::PeerAnswer answer = Ask(Stranger(1), "POST", "/filter", FilterOf(UserOf(1)), direct);
  EXPECT_EQ(answer.status, 421u);
  EXPECT_EQ(Body(answer)["placement_offset"], meta.placement().offset);
  EXPECT_EQ(Body(answer)["error"]["code"], "misdirected");
  EXPECT_EQ(Ask(Replica(1, 0), "POST", "/filter", FilterOf(UserOf(1)), direct).status, 200u);
}

TEST_F(ReadsTest, AClockThatIsApartCutsNoNodeOff) {
  constexpr int64_t kDayMs = 86'400'000;
  nodes[1]->clock_ahead_ms = kDayMs;
  nodes[2]->clock_ahead_ms = 2 * kDayMs;
  for (int round = 0; round < 3; ++round) {
    for (const auto& node : nodes) {
      for (uint32_t p = 0; p < kPartitions; ++p) {
        const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", FilterOf(UserOf(p)));
        EXPECT_EQ(answer.status, 200u) << node->name << " " << answer.body;
        EXPECT_EQ(Body(answer)["degraded"], false) << node->name << " " << answer.body;
      }
    }
    nodes[1]->clock_ahead_ms += kDayMs;  // it is set anew, and its time is learned anew
  }
}

TEST_F(ReadsTest, WhatNodesSayToEachOtherAsksForTheSecret) {
  for (const char* header : {"SeenDB-Hop", "SeenDB-Failover"}) {
    const peers::PeerAnswer answer =
        Ask(Replica(1, 0), "POST", "/filter", FilterOf(UserOf(1)), {{header, "1"}});
    EXPECT_EQ(answer.status, 403u) << header;
  }
  EXPECT_EQ(
      Ask(Replica(1, 0), "POST", "/internal/append?partition=1&kind=plays&key=u", "{}").status,
      403u);
  EXPECT_TRUE(log.empty());
}

TEST_F(ReadsTest, ACallerMayElsewhereWhatItMayHere) {
  // The SHA-256 of "abc".
  const auto tokens =
      files::ReadTokens(R"([{"name":"page","role":"read","collections":["video"],"sha256":)"
                        R"("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}])");
  ASSERT_TRUE(tokens.ok());
  for (const auto& node : nodes) {
    ASSERT_TRUE(node->engine.PutCollection("video", {}, {}).ok());
    node->context->catalog.Renew(&node->engine);
    node->context->access.Set(*tokens, false);
  }
  const peers::Headers page = {{"Authorization", "Bearer abc"}};
  for (const auto& node : nodes) {
    const auto ask = [&](const std::string& more) {
      return Ask(*node, "POST", "/filter", FilterOf(UserOf(1), more), page).status;
    };
    EXPECT_EQ(ask(R"(,"collection":"video")"), 200u) << node->name;
    EXPECT_EQ(ask(""), 403u) << node->name;
    EXPECT_EQ(ask(R"(,"collection":"video","record":true)"), 403u) << node->name;
    EXPECT_EQ(Ask(*node, "POST", "/filter", FilterOf(UserOf(1))).status, 401u);
    EXPECT_EQ(Ask(*node, "POST", "/plays", R"({"events":[]})", page).status, 403u);
  }
}

TEST_F(ReadsTest, AHopGoesNoFurther) {
  const peers::Headers hop = {{"SeenDB-Hop", "1"}, {"SeenDB-Caller", "anybody"}};
  const peers::PeerAnswer answer =
      AskAsNode("n9", Stranger(1), "POST", "/filter", FilterOf(UserOf(1)), hop);
  EXPECT_EQ(answer.status, 503u) << answer.body;
  EXPECT_EQ(Replica(1, 0).engine.filters, 0);
}

TEST_F(ReadsTest, APositionIsWaitedFor) {
  const std::string user = UserOf(1);
  SmallNode& second = Replica(1, 1);
  const peers::PeerAnswer written =
      Ask(Replica(1, 0), "POST", "/plays", R"({"events":[{"user":")" + user + R"(","item":"a"}]})");
  ASSERT_EQ(written.Header("seendb-position"), "1:1");
  for (const auto& node : nodes) node->nodes[Replica(1, 0).name].health.Refused();
  for (const auto& node : nodes) node->RenewTable();
  second.lags = true;
  const peers::Headers position = {{"SeenDB-Position", "1:1,3:7"}};
  for (SmallNode* node : {&second, &Stranger(1)}) {
    const std::string soon = FilterOf(user, R"(,"deadline_ms":100)");
    const peers::PeerAnswer answer = Ask(*node, "POST", "/filter", soon, position);
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(Body(answer)["missing"], Json::parse(R"(["behind"])")) << answer.body;
  }
  EXPECT_EQ(Ask(second, "POST", "/filter",
                FilterOf(user, R"(,"on_error":"fail","deadline_ms":100)"), position)
                .status,
            503u);
  EXPECT_EQ(Ask(second, "GET", "/users/" + user, "", position).status, 503u);
  second.lags = false;
  EXPECT_EQ(Body(Ask(second, "POST", "/filter", FilterOf(user), position))["unseen"],
            Json::parse(R"(["b"])"));
  EXPECT_EQ(Ask(second, "POST", "/filter", FilterOf(user), {{"SeenDB-Position", "x"}}).status,
            400u);
}

TEST_F(ReadsTest, AReplicaThatLagsSaysSo) {
  for (const auto& node : nodes) {
    for (const auto& other : nodes) {
      for (auto& [partition, replica] : node->nodes[other->name].report->replicas) {
        replica.behind_ms = 2'500;
      }
    }
    node->RenewTable();
  }
  for (const auto& node : nodes) {
    EXPECT_EQ(Body(Ask(*node, "POST", "/filter", FilterOf(UserOf(1))))["behind_ms"], 2'500);
  }
}

TEST_F(ReadsTest, LinesAreAnsweredInTheirOrder) {
  PlayA(1);
  std::string lines;
  for (int i = 0; i < 50; ++i) {
    const auto user = UserOf(static_cast<uint32_t>(i) % kPartitions);
    lines += R"({"user":")" + user + R"(","items":["a",)" + std::to_string(i) + "]}\n";
    if (i % 10 == 9) lines += "{\"user\":1}\n";
  }
  for (const auto& node : nodes) {
    const peers::PeerAnswer answer =
        Ask(*node, "POST", "/filter", lines, {{"Content-Type", "application/x-ndjson"}});
    ASSERT_EQ(answer.status, 200u);
    std::istringstream all(answer.body);
    std::string line;
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(std::getline(all, line)) << answer.body;
      const Json one = Json::parse(line);
      EXPECT_EQ(one["unseen"].back(), i) << line;
      EXPECT_EQ(one["seen"], i % 4 == 1 ? 1 : 0) << line;
      if (i % 10 != 9) continue;
      ASSERT_TRUE(std::getline(all, line));
      EXPECT_EQ(Json::parse(line)["error"]["field"], "/items");
    }
    EXPECT_FALSE(std::getline(all, line)) << line;
  }
}

TEST_F(ReadsTest, LinesGoToTheNextReplica) {
  PlayA(1);
  Replica(1, 0).Kill();
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += FilterOf(UserOf(1)) + "\n";
  for (SmallNode* node : {&Stranger(1), &Replica(1, 1)}) {
    const peers::PeerAnswer answer =
        Ask(*node, "POST", "/filter", lines, {{"Content-Type", "application/x-ndjson"}});
    std::istringstream all(answer.body);
    std::string line;
    int count = 0;
    while (std::getline(all, line)) count += Json::parse(line)["seen"] == 1 ? 1 : 0;
    EXPECT_EQ(count, 40) << answer.body;
  }
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
