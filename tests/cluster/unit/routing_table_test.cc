// Whom a node asks, worked out for all partitions.

#include "cluster/routing_table.h"

#include <gtest/gtest.h>

namespace seendb::cluster {
namespace {

class RoutingTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int64_t offset = 0;
    const auto take = [&](const MetaRecord& record) {
      ASSERT_TRUE(meta_.Apply(offset++, EncodeMeta(record)).ok());
    };
    take(InitRecord{
        .uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f", .partitions = 2, .replicas = 2, .hash = 1});
    for (const char* node : {"n1", "n2", "n3"}) {
      take(MemberRecord{.node = node, .url = std::string("http://") + node + ":1", .zone = node});
    }
    take(PlacementRecord{-1, {{"n1", "n2"}, {"n2", "n3"}}});
    Say("n1", {0});
    Say("n2", {0, 1});
    Say("n3", {1});
  }
  void Say(const std::string& node, const std::vector<uint32_t>& partitions) {
    NodeReport& report = nodes_[node].report.emplace();
    for (const uint32_t p : partitions) report.replicas[p] = {ReplicaState::kServing, 5, 40};
    nodes_[node].health.Answered();
  }
  RoutingTable Table(const RoutingTable* before = nullptr) const {
    return RoutingTable("n2", meta_, nodes_, before);
  }

  Meta meta_;
  std::map<std::string, NodeView> nodes_;
};

TEST_F(RoutingTableTest, NamesReplicasAndLeaders) {
  const RoutingTable table = Table();
  ASSERT_EQ(table.partitions(), 2u);
  EXPECT_EQ(table.placement_offset(), 4);
  const PartitionRoutes& first = table.of(0);
  ASSERT_EQ(first.reads.size(), 2u);
  EXPECT_EQ(first.reads[0], (Holder{"n1", "http://n1:1", false, 40}));
  EXPECT_TRUE(first.reads[1].here);
  EXPECT_EQ(first.leader->node, "n1");
  EXPECT_FALSE(first.taken_over);
  EXPECT_TRUE(table.of(1).leader->here);
  EXPECT_EQ(table.up(),
            (std::map<std::string, std::string>{{"n1", "http://n1:1"}, {"n3", "http://n3:1"}}));
}

// It is about to stop, or its clock is wrong: another one has applied what was acknowledged.
TEST_F(RoutingTableTest, ReadsAtTheLeaderFirst) {
  nodes_["n1"].report->stopping = true;
  const RoutingTable table = Table();
  EXPECT_TRUE(table.of(0).taken_over);
  ASSERT_EQ(table.of(0).reads.size(), 2u);
  EXPECT_TRUE(table.of(0).reads[0].here);
  EXPECT_EQ(table.of(0).reads[1].node, "n1");
  // One that lags tells less than one that serves.
  nodes_["n2"].report->replicas[0].state = ReplicaState::kBehind;
  const RoutingTable lags = Table();
  EXPECT_TRUE(lags.of(0).leader->here);
  EXPECT_EQ(lags.of(0).reads[0].node, "n1");
}

TEST_F(RoutingTableTest, CountsChangesOfTheLeader) {
  const RoutingTable table = Table();
  const uint64_t term = table.of(0).term;
  nodes_["n1"].health.Refused();
  const RoutingTable failed = Table(&table);
  EXPECT_EQ(failed.of(0).term, term + 1);
  EXPECT_TRUE(failed.of(0).taken_over);
  EXPECT_TRUE(failed.of(0).leader->here);
  EXPECT_EQ(failed.of(0).reads.size(), 1u);
  EXPECT_EQ(failed.of(1).term, table.of(1).term);
  EXPECT_FALSE(failed.up().contains("n1"));
  EXPECT_EQ(Table(&failed).of(0).term, term + 1);
  nodes_["n1"].health.Answered();
  const RoutingTable back = Table(&failed);
  EXPECT_EQ(back.of(0).term, term + 2);
  EXPECT_FALSE(back.of(0).taken_over);
}

TEST_F(RoutingTableTest, WithoutAClusterThereAreNoPartitions) {
  EXPECT_EQ(RoutingTable("n2", Meta(), {}, nullptr).partitions(), 0u);
}

}  // namespace
}  // namespace seendb::cluster
