// A bare librdkafka consumer that only counts: what consuming costs before anything is done with a
// message. It reads as the server does: assign() of every partition, batches of the consumer queue.
//
//   count_consumer BROKERS TOPIC MESSAGES      prints {"messages":N,"seconds":S}

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

namespace {

constexpr size_t kBatch = 20'000;
constexpr int kWaitMs = 50, kAskMs = 10'000;

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "count_consumer: %s\n", what);
  std::exit(1);
}

rd_kafka_t* MakeConsumer(const char* brokers) {
  const std::vector<std::pair<const char*, const char*>> settings = {
      {"bootstrap.servers", brokers},          {"group.id", "count"},
      {"enable.auto.commit", "false"},         {"queued.min.messages", "1000000"},
      {"queued.max.messages.kbytes", "65536"}, {"fetch.wait.max.ms", "100"}};
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  char text[512] = "";
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name, value, text, sizeof(text)) != RD_KAFKA_CONF_OK) Fail(text);
  }
  rd_kafka_t* const consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
  if (consumer == nullptr) Fail(text);
  rd_kafka_poll_set_consumer(consumer);
  return consumer;
}

void AssignAll(rd_kafka_t* consumer, const char* topic) {
  rd_kafka_topic_t* const asked = rd_kafka_topic_new(consumer, topic, nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(consumer, 0, asked, &metadata, kAskMs) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    Fail("no metadata");
  }
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(16);
  for (int i = 0; i < metadata->topics[0].partition_cnt; ++i) {
    rd_kafka_topic_partition_list_add(list, topic, metadata->topics[0].partitions[i].id)->offset =
        RD_KAFKA_OFFSET_BEGINNING;
  }
  if (rd_kafka_assign(consumer, list) != RD_KAFKA_RESP_ERR_NO_ERROR) Fail("not assigned");
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_metadata_destroy(metadata);
  rd_kafka_topic_destroy(asked);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Fail("BROKERS TOPIC MESSAGES");
  const unsigned long long wanted = std::strtoull(argv[3], nullptr, 10);
  const auto begin = std::chrono::steady_clock::now();
  rd_kafka_t* const consumer = MakeConsumer(argv[1]);
  AssignAll(consumer, argv[2]);
  rd_kafka_queue_t* const queue = rd_kafka_queue_get_consumer(consumer);
  std::vector<rd_kafka_message_t*> batch(kBatch);
  unsigned long long messages = 0;
  while (messages < wanted) {
    const ssize_t count = rd_kafka_consume_batch_queue(queue, kWaitMs, batch.data(), kBatch);
    for (ssize_t i = 0; i < count; ++i) {
      rd_kafka_message_t* const message = batch[static_cast<size_t>(i)];
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++messages;
      rd_kafka_message_destroy(message);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"messages\":%llu,\"seconds\":%.3f}\n", messages, took.count());
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy(consumer);
  return 0;
}
