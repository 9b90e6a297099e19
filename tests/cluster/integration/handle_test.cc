// What is asked of a broker ends in its time, also where the broker is gone.

#include "kafka/handle.h"

#include <chrono>

#include <gtest/gtest.h>

#include "ingest/integration/mock_cluster.h"

namespace seendb::kafka::SEENDB_TEST_FILE {
namespace {

constexpr char kTopic[] = "asked";
constexpr int kWaitMs = 20'000, kShortMs = 300;

class KafkaHandleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KafkaConf conf(rd_kafka_conf_new());
    ASSERT_TRUE(SetProperty(conf.get(), "bootstrap.servers", cluster_.brokers()).ok());
    Result<KafkaHandle> made = NewHandle(RD_KAFKA_CONSUMER, std::move(conf));
    ASSERT_TRUE(made.ok());
    handle_ = std::move(made).value();
  }
  void Produce(int count) {
    rd_kafka_topic_t* const topic = rd_kafka_topic_new(cluster_.producer(), kTopic, nullptr);
    for (int i = 0; i < count; ++i) {
      char value = 'v';
      EXPECT_EQ(rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, &value, 1, nullptr, 0, nullptr), 0);
    }
    EXPECT_EQ(rd_kafka_flush(cluster_.producer(), kWaitMs), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_destroy(topic);
  }

  MockCluster cluster_{kTopic};
  KafkaHandle handle_;
};

TEST_F(KafkaHandleTest, TheEndsOfAPartitionAreTold) {
  const auto empty = Watermarks(handle_.get(), kTopic, 0, kWaitMs);
  ASSERT_TRUE(empty.ok()) << empty.status().ToString();
  EXPECT_EQ(*empty, std::pair(int64_t{0}, int64_t{0}));
  Produce(3);
  EXPECT_EQ(*Watermarks(handle_.get(), kTopic, 0, kWaitMs), std::pair(int64_t{0}, int64_t{3}));
}

// rd_kafka_query_watermark_offsets of librdkafka 2.0.2 waits for ever here.
TEST_F(KafkaHandleTest, ABrokerThatIsGoneIsNotWaitedFor) {
  ASSERT_TRUE(Watermarks(handle_.get(), kTopic, 0, kWaitMs).ok());
  ASSERT_EQ(rd_kafka_mock_broker_set_down(cluster_.mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  for (int i = 0; i < 3; ++i) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(Watermarks(handle_.get(), kTopic, 0, kShortMs).status().code(),
              StatusCode::kUnavailable);
    // No measure of speed: what fails here does not come back at all.
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  }
  ASSERT_EQ(rd_kafka_mock_broker_set_up(cluster_.mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_TRUE(Watermarks(handle_.get(), kTopic, 0, kWaitMs).ok());
}

}  // namespace
}  // namespace seendb::kafka::SEENDB_TEST_FILE
