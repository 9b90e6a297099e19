// tests/cluster/unit/three_nodes.h: a cluster of two partitions and three nodes that are up; its
// placement is {n1, n2}, {n2, n3}.

#pragma once

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "cluster/meta.h"
#include "cluster/view.h"

namespace seendb::cluster {

class ThreeNodes : public ::testing::Test {
 protected:
  ThreeNodes() {
    Take(InitRecord{
        .uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f", .partitions = 2, .replicas = 2, .hash = 1});
    for (const char* node : {"n1", "n2", "n3"}) {
      Take(MemberRecord{.node = node, .url = std::string("http://") + node + ":1", .zone = node});
    }
    Take(PlacementRecord{-1, {{"n1", "n2"}, {"n2", "n3"}}});
    for (const char* node : {"n1", "n2", "n3"}) Say(node, {});
  }
  void Take(const MetaRecord& record) {
    EXPECT_TRUE(meta_.Apply(meta_.next_offset(), EncodeMeta(record)).ok());
  }
  /// The node answers a probe.
  void Say(const std::string& node, std::map<uint32_t, ReplicaReport> replicas) {
    NodeReport& report = nodes_[node].report.emplace();
    report.replicas = std::move(replicas);
    report.meta_offset = meta_.next_offset();
    nodes_[node].health.Answered();
  }

  Meta meta_;
  std::map<std::string, NodeView> nodes_;
};

}  // namespace seendb::cluster
