// What nodes tell of themselves, and what is told of a cluster.

#include "cluster/report.h"

#include <gtest/gtest.h>

#include "cluster/cluster_doc.h"
#include "cluster/node_report.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

NodeReport Report() {
  NodeReport report;
  report.incarnation = "5f3a";
  report.build = "0.1.0";
  report.now_ms = 1'773'144'000'000;
  report.meta_offset = 7;
  report.replicas[0] = {ReplicaState::kServing, 5, 3};
  report.none = {1, 1'023};
  return report;
}

const std::string kText =
    R"({"version":1,"node":"n1","incarnation":"5f3a","build":"0.1.0","now_ms":1773144000000,"meta_offset":7,)"
    R"("stopping":false,"replicas":[{"partition":0,"state":"serving","next_offset":5,)"
    R"("behind_ms":3}],"none":[1,1023]})";

TEST(NodeReportTest, IsWrittenAndReadBack) {
  EXPECT_EQ(NodeReportToJson("n1", Report()), kText);
  EXPECT_EQ(*NodeReportFromJson(kText, "n1"), Report());
  NodeReport full = Report();
  full.stopping = true;
  for (uint32_t p = 0; p < kPartitionsMost; ++p) {
    full.replicas[p] = {
        static_cast<ReplicaState>(p % 5),        INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX,
        CopyProgress{UINT64_MAX, UINT64_MAX, p}, p % 2 == 0};
    full.none.insert(p);
  }
  const std::string text = NodeReportToJson("n1", full);
  EXPECT_LE(text.size(), kNodeReportBytesMost);
  EXPECT_EQ(*NodeReportFromJson(text, "n1"), full);
}

TEST(NodeReportTest, IsAsThePageHasIt) {
  const std::vector<std::string> page = test::DocumentBlocks("json status");
  ASSERT_EQ(page.size(), 1u);
  NodeReport report = Report();
  ReplicaReport& replica = report.replicas[0];
  replica.cut_off = true;
  replica.old_from = 4;
  replica.old_to = 9;
  replica.copy = CopyProgress{5, 9, 2};
  EXPECT_EQ(NodeReportToJson("n1", report), page[0]);
  EXPECT_EQ(*NodeReportFromJson(page[0], "n1"), report);
}

TEST(NodeReportTest, WhatANewerNodeAddsIsPassedOver) {
  std::string text = kText;
  text.insert(1, R"("more":{"x":[1]},)");
  EXPECT_EQ(*NodeReportFromJson(text, "n1"), Report());
}

TEST(NodeReportTest, AReplicaInAStateOfANewerNodeIsPassedOverAlone) {
  std::string text = kText;
  text.replace(text.find("serving"), sizeof("serving") - 1, "dancing");
  text.replace(text.find("[{"), 2, R"([{"partition":3,"state":"behind"},{)");
  NodeReport rest = Report();
  rest.replicas = {{3, {ReplicaState::kBehind, 0, 0}}};
  EXPECT_EQ(*NodeReportFromJson(text, "n1"), rest);
}

TEST(NodeReportTest, WhatIsMissingIsItsDefault) {
  EXPECT_EQ(*NodeReportFromJson(R"({"node":"n1"})", "n1"), NodeReport());
}

// An older node says nothing of what it lacks: nobody takes that for having none.
TEST(NodeReportTest, ANodeThatDoesNotSayWhatItLacksHasNotSaidThatItHasNone) {
  std::string text = kText;
  text.erase(text.find(R"(,"none")"), sizeof(R"(,"none":[1,1023])") - 1);
  NodeReport silent = Report();
  silent.none.clear();
  EXPECT_EQ(*NodeReportFromJson(text, "n1"), silent);
}

TEST(NodeReportTest, AnotherNodeAtTheAddressIsNamed) {
  const Status status = NodeReportFromJson(kText, "n2").status();
  EXPECT_EQ(status.code(), StatusCode::kIncompatible);
  EXPECT_EQ(status.message(), "the node n1 answers, not n2");
}

TEST(NodeReportTest, AnythingElseIsRefused) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string(kNodeReportBytesMost + 1, ' '),
        with("\"node\":\"n1\",", ""), with("\"next_offset\":5", "\"next_offset\":-1"),
        with("\"behind_ms\":3", "\"behind_ms\":-1"),
        with("\"behind_ms\":3", "\"behind_ms\":3,\"old_store\":[1]"),
        with("\"behind_ms\":3", "\"behind_ms\":3,\"old_store\":[-1,2]"),
        with("\"partition\":0", "\"partition\":4294967296"),
        with("\"next_offset\":5", "\"next_offset\":1e300"),
        with("\"now_ms\":1773144000000", "\"now_ms\":1e300"),
        with("\"partition\":0", "\"partition\":1024"), with("1023]", "1024]"), with("1023]", "-1]"),
        with("1023]", "\"a\"]"), with("\"meta_offset\":7", "\"meta_offset\":\"7\""),
        with("\"stopping\":false", "\"stopping\":0"),
        with("[{", R"([{"partition":0,"state":"behind","next_offset":5,"behind_ms":3},{)")}) {
    EXPECT_EQ(NodeReportFromJson(text, "n1").status().code(), StatusCode::kInvalidArgument)
        << text.substr(0, 300);
  }
}

TEST(ClusterReportTest, ShowsNodesAndReplicasAsTheyAreSeen) {
  Meta meta;
  int64_t offset = 0;
  const auto take = [&](const MetaRecord& record) {
    ASSERT_TRUE(meta.Apply(offset++, EncodeMeta(record)).ok());
  };
  take(InitRecord{
      .uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f", .partitions = 1, .replicas = 2, .hash = 1});
  for (const char* node : {"n1", "n2", "n3"}) {
    take(MemberRecord{.node = node, .url = std::string("http://") + node + ":1", .zone = "z"});
  }
  take(PlacementRecord{-1, {{"n1", "n2"}}});
  take(LeaveRecord{"n3"});
  std::map<std::string, NodeView> nodes;
  nodes["n1"].health.Answered();
  nodes["n1"].report = Report();
  nodes["n3"].health.Answered();
  nodes["n3"].report = Report();
  nodes["n3"].report->replicas[0].state = ReplicaState::kBehind;
  nodes["n3"].report->replicas[0].copy = {100, 4'000, 50};
  EXPECT_EQ(
      ClusterToJson("feed", meta, &nodes, "b1:9092"),
      R"({"name":"feed","partitions":1,"replicas":2,"placement_offset":4,"log_version":1,"brokers":"b1:9092","nodes":[)"
      R"({"node":"n1","url":"http://n1:1","zone":"z","weight":1.0,"state":"up","build":"","log_version":1},)"
      R"({"node":"n2","url":"http://n2:1","zone":"z","weight":1.0,"state":"down","build":"","log_version":1},)"
      R"({"node":"n3","url":"http://n3:1","zone":"z","weight":1.0,"state":"up","build":"","log_version":1,)"
      R"("leaving":true}],"shards":[{"partition":0,"replicas":[)"
      R"({"node":"n1","state":"serving","next_offset":5,"behind_ms":3},)"
      R"({"node":"n2","state":"unreachable"},)"
      R"({"node":"n3","state":"behind","next_offset":5,"behind_ms":3,)"
      R"("copy":{"bytes":100,"total":4000,"bytes_per_s":50},"leaving":true}]}]})");
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
