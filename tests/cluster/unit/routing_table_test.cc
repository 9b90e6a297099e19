// Whom a node asks, worked out for all partitions.

#include "cluster/routing_table.h"

#include "cluster/unit/three_nodes.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

class RoutingTableTest : public ThreeNodes {
 protected:
  RoutingTableTest() {
    Say("n1", {{0, kServing}});
    Say("n2", {{0, kServing}, {1, kServing}});
    Say("n3", {{1, kServing}});
  }
  RoutingTable Table(const RoutingTable* before = nullptr) const {
    return RoutingTable("n2", meta_, nodes_, before);
  }

  static constexpr ReplicaReport kServing{ReplicaState::kServing, 5, 40};
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
}  // namespace seendb::cluster::SEENDB_TEST_FILE
