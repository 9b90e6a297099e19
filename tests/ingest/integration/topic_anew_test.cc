// A topic that is made anew under its old name: another mock cluster with a topic of that name.
// Its messages begin at offset 0 again, and none of them may be passed over without a word.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "ingest/consumer.h"
#include "ingest/integration/mock_cluster.h"
#include "ingest/integration/wait_for.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{60};
constexpr milliseconds kAWhile{1'500};  // held partitions are looked at every second

class Cluster : public MockCluster {
 public:
  Cluster() : MockCluster("plays") {}

  // `count` plays of user "u", of the items <name>0, <name>1, ...; each at a time of its own.
  void Produce(const std::string& name, int from, int to, int64_t first_ms) {
    for (int i = from; i < to; ++i) {
      const std::string payload = R"({"user":"u","item":")" + name + std::to_string(i) +
                                  R"(","at":)" + std::to_string(kStartMs) + "}";
      const rd_kafka_resp_err_t sent =
          rd_kafka_producev(producer(), RD_KAFKA_V_TOPIC("plays"), RD_KAFKA_V_PARTITION(0),
                            RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                            RD_KAFKA_V_TIMESTAMP(first_ms + i),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      ASSERT_EQ(sent, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(sent);
    }
    ASSERT_EQ(rd_kafka_flush(producer(), 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
};

class TopicAnewTest : public EngineTest {
 protected:
  void SetUp() override {
    Open();
    ops::KafkaTopic topic;
    topic.topic = "plays";
    topic.at = {"at"};
    config_.start = ops::KafkaStart::kEarliest;
    config_.topics = {topic};
    config_.refresh_ms = 200;
    config_.properties = {{"reconnect.backoff.ms", "20"}, {"reconnect.backoff.max.ms", "100"}};
  }
  void TearDown() override { consumer_.reset(); }

  void Start(const Cluster& cluster) {
    consumer_.reset();
    config_.brokers = cluster.brokers();
    consumer_ = std::make_unique<ingest::Consumer>(config_);
    const Status ready = consumer_->Prepare();
    ASSERT_TRUE(ready.ok()) << ready.ToString();
    consumer_->Start(engine_.get());
  }
  void WaitFor(const std::function<bool()>& reached, const char* what) {
    test::WaitFor(*consumer_, reached, what, kPatience);
  }
  void WaitUntilRead(int64_t next_offset) {
    WaitFor(
        [&] {
          const std::vector<SourceInfo> all = engine_->Sources();
          return !all.empty() && all[0].next_offset == next_offset;
        },
        "not all was read");
  }
  // Held with the alarm, and that for a while.
  void ExpectHeld(int64_t stored) {
    const auto held = [&] {
      const ops::IngestState state = consumer_->State();
      if (state.topics.empty() || state.topics[0].partitions.empty()) return false;
      const ops::IngestPartition& one = state.topics[0].partitions[0];
      return !one.held.empty() && one.alarms == std::vector<std::string>{"beyond_end"};
    };
    WaitFor(held, "it is not held");
    std::this_thread::sleep_for(kAWhile);
    EXPECT_TRUE(held()) << ops::IngestStateToJson(consumer_->State());
    EXPECT_EQ(engine_->Sources().at(0).next_offset, stored);
  }
  // What the operator does, between two runs of the server.
  void Forget() {
    consumer_.reset();
    ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  }

  ops::KafkaConfig config_;
  std::unique_ptr<ingest::Consumer> consumer_;
};

TEST_F(TopicAnewTest, AShorterLogIsHeldThoughItGrows) {
  Cluster old_log, new_log;
  old_log.Produce("old", 0, 100, kStartMs);
  Start(old_log);
  WaitUntilRead(100);
  new_log.Produce("new", 0, 50, kStartMs + kHourMs);
  Start(new_log);
  ExpectHeld(100);
  new_log.Produce("new", 50, 150, kStartMs + kHourMs);
  ExpectHeld(100);
  consumer_.reset();
  Reopen();
  Start(new_log);
  ExpectHeld(100);
  EXPECT_EQ(Unseen("u", {"new0", "new120"}), (Items{"new0", "new120"}));
  Forget();
  Start(new_log);
  WaitUntilRead(150);
  EXPECT_EQ(Unseen("u", {"old0", "new0", "new120", "other"}), Items{"other"});
}

TEST_F(TopicAnewTest, ALongerLogIsKnownByTheTimeOfTheMessageBefore) {
  Cluster old_log, new_log;
  old_log.Produce("old", 0, 100, kStartMs);
  Start(old_log);
  WaitUntilRead(100);
  new_log.Produce("new", 0, 150, kStartMs + kHourMs);
  for (int start = 0; start < 2; ++start) {
    Start(new_log);
    ExpectHeld(100);
    consumer_.reset();
    Reopen();
  }
  Start(old_log);
  ExpectHeld(100);  // until told, whatever comes
  Forget();
  Start(new_log);
  WaitUntilRead(150);
  EXPECT_EQ(Unseen("u", {"old0", "new0", "new120", "other"}), Items{"other"});
}

TEST_F(TopicAnewTest, TheSameLogIsReadOn) {
  Cluster log;
  for (int start = 0; start < 3; ++start) {
    log.Produce("i", start * 100, start * 100 + 100, kStartMs);
    Start(log);
    WaitUntilRead(start * 100 + 100);
    consumer_.reset();
    Reopen();
  }
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 300u);
  EXPECT_EQ(Unseen("u", {"i0", "i99", "i100", "i299", "other"}), Items{"other"});
}

// As a database has it in which an older version stored the offset.
TEST_F(TopicAnewTest, WithoutAMarkTheOffsetCounts) {
  Cluster log;
  log.Produce("i", 0, 150, kStartMs);
  const SourceStep step{.topic = "plays", .next_offset = 100};
  ASSERT_TRUE(engine_->Ingest({.sources = {&step, 1}}).ok());
  Start(log);
  WaitUntilRead(150);
  EXPECT_EQ(consumer_->State().topics.at(0).partitions.at(0).alarms, std::vector<std::string>{});
  EXPECT_EQ(Unseen("u", {"i99", "i100", "i149"}), Items{"i99"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
