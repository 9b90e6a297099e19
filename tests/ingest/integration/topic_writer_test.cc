// What is written to a topic arrives, also behind an error after which librdkafka's producer takes
// nothing more.

#include "ingest/topic_writer.h"

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ingest/integration/mock_cluster.h"

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

constexpr int16_t kProduce = 0;  // Kafka's number of the request
constexpr std::chrono::seconds kPatience{60};

class TopicWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_.brokers = cluster_.brokers();
    config_.properties = {{"reconnect.backoff.ms", "20"}, {"reconnect.backoff.max.ms", "100"}};
  }

  static std::vector<OutMessage> Messages(int from, int to) {
    std::vector<OutMessage> messages;
    for (int i = from; i < to; ++i) messages.push_back({"k", std::to_string(i), {}});
    return messages;
  }
  // Reads the topic until `count` different payloads have come.
  std::set<std::string> Read(size_t count) {
    char text[512] = "";
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    for (const auto& [name, value] :
         {std::pair{"bootstrap.servers", config_.brokers.c_str()}, {"group.id", "reader"}}) {
      EXPECT_EQ(rd_kafka_conf_set(conf, name, value, text, sizeof(text)), RD_KAFKA_CONF_OK);
    }
    rd_kafka_t* const reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    EXPECT_NE(reader, nullptr) << text;
    rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(all, "out", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    EXPECT_EQ(rd_kafka_assign(reader, all), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(all);
    std::set<std::string> payloads;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (payloads.size() < count && std::chrono::steady_clock::now() < until) {
      rd_kafka_message_t* const message = rd_kafka_consumer_poll(reader, 100);
      if (message == nullptr) continue;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        payloads.emplace(static_cast<const char*>(message->payload), message->len);
      }
      rd_kafka_message_destroy(message);
    }
    rd_kafka_destroy(reader);
    return payloads;
  }

  const MockCluster cluster_{"out"};
  ops::KafkaConfig config_;
};

TEST_F(TopicWriterTest, AFatalErrorCostsAProducerAndNoMessage) {
  Result<std::unique_ptr<TopicWriter>> made = TopicWriter::New(config_);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  TopicWriter& writer = **made;
  ASSERT_TRUE(writer.Write("out", Messages(0, 5)).ok());
  // The broker has lost the producer's place in the log, as after an unclean return.
  int written = 5;
  for (int round = 0; round < 3; ++round, written += 5) {
    rd_kafka_mock_push_request_errors(cluster_.mock(), kProduce, 1,
                                      RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    Status last;
    bool delivered = false;
    for (int tries = 0; tries < 3 && !delivered; ++tries) {  // as its callers do
      last = writer.Write("out", Messages(written, written + 5));
      delivered = last.ok();
    }
    ASSERT_TRUE(delivered) << round << ": " << last.ToString();
  }
  EXPECT_EQ(Read(20).size(), 20u);
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
