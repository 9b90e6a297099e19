// tests/ingest/integration/mock_cluster.h: librdkafka's mock cluster of one broker, in this
// process.

#pragma once

#include <string>

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

namespace seendb {

/// A cluster with one topic, and the producer that hosts it.
class MockCluster {
 public:
  explicit MockCluster(const char* topic, int partitions = 1) {
    char text[512] = "";
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    EXPECT_EQ(rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", text, sizeof(text)),
              RD_KAFKA_CONF_OK);
    producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    EXPECT_NE(producer_, nullptr) << text;
    mock_ = rd_kafka_handle_mock_cluster(producer_);
    EXPECT_EQ(rd_kafka_mock_topic_create(mock_, topic, partitions, 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;
  ~MockCluster() { rd_kafka_destroy(producer_); }

  rd_kafka_t* producer() const { return producer_; }
  rd_kafka_mock_cluster_t* mock() const { return mock_; }
  std::string brokers() const { return rd_kafka_mock_cluster_bootstraps(mock_); }

 private:
  rd_kafka_t* producer_ = nullptr;
  rd_kafka_mock_cluster_t* mock_ = nullptr;  // the producer's
};

}  // namespace seendb
