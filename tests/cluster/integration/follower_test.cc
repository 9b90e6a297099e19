// X.meta at librdkafka's own broker: records are written and followed; what stops a follower.

#include "cluster/follower.h"

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "cluster/meta_cache.h"
#include "ingest/integration/mock_cluster.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

constexpr int kWaitMs = 20'000;
constexpr char kUuid[] = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f";

InitRecord Init(const std::string& uuid = kUuid) {
  return {.uuid = uuid, .partitions = 1, .replicas = 1, .hash = 1};
}
MemberRecord Node(const std::string& node, const std::string& host = "h") {
  return {.node = node, .url = "http://" + host + ":7373", .zone = node};
}

class FollowerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/seendb-follower-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<MetaLog> Log() {
    auto log = MetaLog::Open({broker_.brokers(), {}}, "feed", {});
    EXPECT_TRUE(log.ok());
    EXPECT_TRUE((*log)->ReadToEnd(kWaitMs).ok());
    return std::move(log).value();
  }
  /// Appends bytes that no node writes.
  void AppendRaw(const std::string& bytes) {
    rd_kafka_t* const producer = broker_.producer();
    rd_kafka_topic_t* const topic = rd_kafka_topic_new(producer, "feed.meta", nullptr);
    EXPECT_EQ(rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>(bytes.data()),
                               bytes.size(), nullptr, 0, nullptr),
              0);
    EXPECT_EQ(rd_kafka_flush(producer, kWaitMs), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_destroy(topic);
  }
  FollowerOptions Options() {
    FollowerOptions options;
    options.access.brokers = broker_.brokers();
    options.cluster = "feed";
    options.cache_path = folder_ + "/" + kMetaCacheName;
    return options;
  }
  static std::unique_ptr<Follower> Start(FollowerOptions options, const std::string& node = "") {
    auto follower = Follower::Start(std::move(options));
    EXPECT_TRUE(follower.ok()) << follower.status().ToString();
    if (!node.empty()) (*follower)->RegisterAs(Node(node));
    return std::move(follower).value();
  }
  static void Eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + milliseconds(kWaitMs);
    while (!holds() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(holds());
  }
  static void ExpectProblem(const Follower& follower, const std::string& text) {
    Eventually([&] { return follower.problem().find(text) != std::string::npos; });
  }

  MockCluster broker_{"feed.meta"};
  std::string folder_;
};

TEST_F(FollowerTest, ACommitTellsWhetherItCounts) {
  const auto one = Log(), other = Log();
  ASSERT_TRUE(one->Commit(Init(), kWaitMs).ok());
  ASSERT_TRUE(one->Commit(Node("n1"), kWaitMs).ok());
  EXPECT_EQ(one->Commit(Init(), kWaitMs).code(), StatusCode::kIncompatible);
  // Both go by the placement that was in force; the first in the topic counts.
  ASSERT_TRUE(other->ReadToEnd(kWaitMs).ok());
  const PlacementRecord placement{-1, {{"n1"}}};
  EXPECT_TRUE(one->Commit(placement, kWaitMs).ok());
  const Status late = other->Commit(placement, kWaitMs);
  EXPECT_EQ(late.code(), StatusCode::kIncompatible);
  EXPECT_NE(late.message().find("in force"), std::string_view::npos) << late.ToString();
  EXPECT_EQ(other->meta().placement(), one->meta().placement());
}

TEST_F(FollowerTest, TheFoldIsKeptCurrentAndCopied) {
  const auto log = Log();
  ASSERT_TRUE(log->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options());
  Eventually([&] { return follower->is_current(); });
  ASSERT_TRUE(log->Commit(Node("n1"), kWaitMs).ok());
  ASSERT_TRUE(follower->WaitFor(log->meta().next_offset(), milliseconds(kWaitMs)));
  EXPECT_EQ(*follower->meta(), log->meta());
  EXPECT_EQ(ReadMetaCache(folder_ + "/" + kMetaCacheName), log->meta());
  EXPECT_FALSE(follower->WaitFor(log->meta().next_offset() + 1, milliseconds(1)));
  EXPECT_EQ(follower->problem(), "");
}

TEST_F(FollowerTest, WhatIsInTheTopicNowIsReadWhenAskedFor) {
  const auto log = Log();
  ASSERT_TRUE(log->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options());
  Eventually([&] { return follower->is_current(); });
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(log->Commit(Node("n" + std::to_string(i)), kWaitMs).ok());
    ASSERT_TRUE(follower->ReadToEnd(milliseconds(kWaitMs)));
    EXPECT_EQ(*follower->meta(), log->meta());
  }
  ASSERT_EQ(rd_kafka_mock_broker_set_down(broker_.mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_FALSE(follower->ReadToEnd(milliseconds(100)));
}

TEST_F(FollowerTest, ANodeIsAMemberOnceItFollows) {
  ASSERT_TRUE(Log()->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options(), "n1");
  Eventually([&] { return follower->is_registered(); });
  EXPECT_EQ(follower->meta()->members().at("n1").url, "http://h:7373");
  // Another start with the same settings writes nothing.
  const int64_t end = Log()->meta().next_offset();
  const auto again = Start(Options(), "n1");
  Eventually([&] { return again->is_registered(); });
  EXPECT_EQ(Log()->meta().next_offset(), end);
}

TEST_F(FollowerTest, OfTwoProcessesOfOneNameTheLaterOneStays) {
  ASSERT_TRUE(Log()->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options(), "n1");
  Eventually([&] { return follower->is_registered(); });
  const auto log = Log();
  ASSERT_TRUE(log->Commit(Node("n1", "elsewhere"), kWaitMs).ok());
  ExpectProblem(*follower, "n1 was registered by another process");
  ASSERT_TRUE(log->ReadToEnd(kWaitMs).ok());
  EXPECT_EQ(log->meta().members().at("n1").url, "http://elsewhere:7373");
  ASSERT_TRUE(log->Commit(LeaveRecord{"n1"}, kWaitMs).ok());
  ASSERT_TRUE(log->Commit(LeaveRecord{"n1"}, kWaitMs).ok());
  ExpectProblem(*follower, "n1 is no member any more");
}

TEST_F(FollowerTest, WithoutKafkaTheCopyIsTaken) {
  Meta meta;
  ASSERT_TRUE(meta.Apply(0, EncodeMeta(Init())).ok());
  ASSERT_TRUE(WriteMetaCache(folder_ + "/" + kMetaCacheName, meta).ok());
  FollowerOptions options = Options();
  options.access.brokers = "127.0.0.1:1";
  const auto follower = Start(std::move(options), "n1");
  ASSERT_NE(follower->meta(), nullptr);
  EXPECT_EQ(*follower->meta(), meta);
  EXPECT_FALSE(follower->is_current());
  ExpectProblem(*follower, "feed.meta");
  EXPECT_FALSE(follower->is_registered());
}

TEST_F(FollowerTest, AClusterThatIsMadeLaterIsFollowedThen) {
  const auto follower = Start(Options(), "n1");
  ExpectProblem(*follower, "was not made yet");
  EXPECT_EQ(follower->meta(), nullptr);
  ASSERT_TRUE(Log()->Commit(Init(), kWaitMs).ok());
  Eventually([&] { return follower->is_registered() && follower->problem().empty(); });
}

TEST_F(FollowerTest, ARecordThatIsNotKnownStopsIt) {
  const auto log = Log();
  ASSERT_TRUE(log->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options());
  Eventually([&] { return follower->is_current(); });
  AppendRaw(R"({"v":1,"kind":"lease"})");
  AppendRaw(EncodeMeta(Node("n1")));
  ExpectProblem(*follower, "offset 1: a record of X.meta of a kind");
  EXPECT_TRUE(follower->is_stuck());
  EXPECT_EQ(*follower->meta(), log->meta());
}

TEST_F(FollowerTest, WhatDoesNotCountIsTold) {
  ASSERT_TRUE(Log()->Commit(Init(), kWaitMs).ok());
  AppendRaw("rubbish");
  AppendRaw(EncodeMeta(Node("n1")));
  FollowerOptions options = Options();
  std::string told;  // on the follower's thread, before the fold is published
  options.log = [&](const char* event, const std::string& text) {
    told += std::string(event) + " " + text;
  };
  const auto follower = Start(std::move(options));
  ASSERT_TRUE(follower->WaitFor(3, milliseconds(kWaitMs)));
  EXPECT_EQ(told, "record_refused offset 1: no JSON object");
  EXPECT_TRUE(follower->meta()->members().contains("n1"));
}

TEST_F(FollowerTest, TheTopicOfAnotherClusterIsNotFollowed) {
  Meta ours;
  ASSERT_TRUE(ours.Apply(0, EncodeMeta(Init("3f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f"))).ok());
  ASSERT_TRUE(WriteMetaCache(folder_ + "/" + kMetaCacheName, ours).ok());
  ASSERT_TRUE(Log()->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options(), "n1");
  ExpectProblem(*follower, "this node of the cluster 3f0c6a0e");
  EXPECT_EQ(*follower->meta(), ours);
}

TEST_F(FollowerTest, ATopicThatLostItsEndIsNotFollowed) {
  Meta ours;
  ASSERT_TRUE(ours.Apply(0, EncodeMeta(Init())).ok());
  ASSERT_TRUE(ours.Apply(1, EncodeMeta(Node("n1"))).ok());
  ASSERT_TRUE(WriteMetaCache(folder_ + "/" + kMetaCacheName, ours).ok());
  ASSERT_TRUE(Log()->Commit(Init(), kWaitMs).ok());
  const auto follower = Start(Options());
  ExpectProblem(*follower, "ends at offset 1, before what this node has read of it (2)");
  EXPECT_EQ(*follower->meta(), ours);
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
