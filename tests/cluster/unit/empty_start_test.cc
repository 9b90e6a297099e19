// When a node may begin a shard empty: only once every node that may have it has said that it has
// none.

#include "cluster/empty_start.h"

#include "cluster/unit/three_nodes.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

using enum ReplicaState;

class EmptyStartTest : public ThreeNodes {
 protected:
  EmptyStartTest() {
    // A cluster without a past, whose partition 0 is given to n1 and n2.
    meta_ = Meta();
    Take(InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                    .partitions = 2,
                    .replicas = 2,
                    .hash = 1,
                    .at_ms = 1});
    for (const char* node : {"n1", "n2", "n3"}) {
      Take(MemberRecord{.node = node, .url = std::string("http://") + node + ":1", .zone = node});
    }
    Take(PlacementRecord{-1, {{"n1", "n2"}, {"n2", "n3"}}});
  }
  /// The node says that it has nothing of partition 0.
  void SayNone(const std::string& node, int64_t asked_ms, const std::string& incarnation = "a") {
    Say(node, {});
    nodes_[node].report->none = {0};
    nodes_[node].report->incarnation = incarnation;
    nodes_[node].asked_ms = asked_ms;
    nodes_[node].answered_ms = asked_ms + 5;
  }
  std::string Look(int64_t now_ms) {
    start_.Note("n1", 0, meta_, nodes_);
    return start_.Objection(meta_, now_ms);
  }
  EmptyStart start_;
};

TEST_F(EmptyStartTest, AllHaveToSayItTwice) {
  SayNone("n2", 1'000);
  SayNone("n3", 1'001);
  EXPECT_EQ(Look(1'010), "the nodes are asked once more");
  SayNone("n2", 2'000);
  EXPECT_EQ(Look(2'010), "the nodes are asked once more");  // n3 meant an earlier moment
  SayNone("n3", 2'001);
  EXPECT_EQ(Look(2'010), "");
  EXPECT_EQ(Look(2'000 + kNoneSaidMostMs), "");
  EXPECT_EQ(Look(2'001 + kNoneSaidMostMs), "n2 has not said so lately");
}

TEST_F(EmptyStartTest, SilenceIsNoAnswer) {
  nodes_.erase("n2");
  SayNone("n3", 1'000);
  EXPECT_EQ(Look(1'010), "n2, which had it, is no member");
  nodes_["n2"];
  EXPECT_EQ(Look(1'010), "n2 does not answer");
  Say("n2", {});  // it opens its database
  EXPECT_EQ(Look(1'010), "n2 does not say that it has none");
  SayNone("n2", 2'000);
  nodes_["n2"].health.Refused();
  EXPECT_EQ(Look(2'010), "n2 does not answer");
}

TEST_F(EmptyStartTest, OneThatHasItIsNamedWhateverItsState) {
  SayNone("n3", 1'000);
  for (const ReplicaState state : {kCatchingUp, kServing, kBehind}) {
    Say("n2", {{0, {state}}});
    EXPECT_EQ(Look(1'010), "n2 has it (" + std::string(ReplicaStateName(state)) + ")");
  }
  // One that looks for a copy as this node does has none.
  SayNone("n2", 1'000);
  nodes_["n2"].report->replicas[0].state = kFetching;
  EXPECT_EQ(Look(1'010), "the nodes are asked once more");
}

TEST_F(EmptyStartTest, AnotherProcessHasToSayItAnew) {
  for (const int64_t at_ms : {1'000, 2'000}) {
    SayNone("n2", at_ms);
    SayNone("n3", at_ms);
    Look(at_ms + 10);
  }
  EXPECT_EQ(Look(2'010), "");
  SayNone("n2", 3'000, "b");
  SayNone("n3", 3'000);
  EXPECT_EQ(Look(3'010), "the nodes are asked once more");
  SayNone("n2", 4'000, "b");
  SayNone("n3", 4'000);
  EXPECT_EQ(Look(4'010), "");
}

// A copy that goes from one to the other between the questions is met at neither.
TEST_F(EmptyStartTest, AShardThatMovesBetweenTheQuestionsIsNotTakenForNone) {
  SayNone("n2", 1'000);
  Say("n3", {{0, {kServing}}});
  EXPECT_EQ(Look(1'010), "n3 has it (serving)");
  SayNone("n3", 1'800);  // n2 has fetched it by now
  EXPECT_EQ(Look(1'810), "the nodes are asked once more");
  Say("n2", {{0, {kCatchingUp}}});
  EXPECT_EQ(Look(2'010), "n2 has it (catching_up)");
}

TEST_F(EmptyStartTest, ThoseThatHadItBeforeAreAskedToo) {
  Take(PlacementRecord{meta_.placement().offset, {{"n1"}, {"n2", "n3"}}});
  nodes_["n2"].health.Refused();
  SayNone("n3", 1'000);
  EXPECT_EQ(Look(1'010), "n2 does not answer");
  EXPECT_EQ(meta_.EverNamed(0), (std::set<std::string>{"n1", "n2"}));
  // Partition 1 was never n1's, and is not asked about at a node that is down and never had it.
  SayNone("n2", 1'000);
  nodes_["n3"].health.Refused();
  Look(1'010);
  SayNone("n2", 2'000);
  EXPECT_EQ(Look(2'010), "");
}

TEST_F(EmptyStartTest, NeverInAClusterThatWasMadeFromADatabase) {
  Meta past;
  int64_t offset = 0;
  const auto take = [&](const MetaRecord& record) {
    ASSERT_TRUE(past.Apply(offset++, EncodeMeta(record)).ok());
  };
  take(InitRecord{
      .uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f", .partitions = 1, .replicas = 1, .hash = 1});
  take(MemberRecord{.node = "n1", .url = "http://n1:1", .zone = "a"});
  take(PlacementRecord{-1, {{"n1"}}});
  EmptyStart start;
  start.Note("n1", 0, past, {});
  EXPECT_NE(start.Objection(past, 0).find("made from a database"), std::string::npos);
}

TEST_F(EmptyStartTest, MoreNodesThanAreRememberedIsAnObjection) {
  for (size_t i = 0; i <= kNamedMost; ++i) {
    const std::string node = "m" + std::to_string(i);
    Take(MemberRecord{.node = node, .url = "http://h:1", .zone = node});
    Take(PlacementRecord{meta_.placement().offset, {{"n1", node}, {"n3"}}});
    SayNone(node, 1'000);
  }
  SayNone("n2", 1'000);
  SayNone("n3", 1'000);
  EXPECT_EQ(meta_.EverNamed(0).size(), kNamedMost + 1);
  EXPECT_EQ(Look(1'010), "more nodes had it than are remembered");
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
