// Brokers that fail, move, are slow or away, on librdkafka's mock cluster: whatever they do, the
// consumer goes on, and each message counts once.

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "ingest/consumer.h"
#include "ingest/crash_mark.h"
#include "ingest/integration/wait_for.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

constexpr int kBrokers = 3;
constexpr int kPartitions = 4;
constexpr int16_t kFetch = 1, kListOffsets = 2, kMetadata = 3;  // Kafka's numbers of requests
constexpr std::chrono::seconds kPatience{120};

class IngestMockTest : public EngineTest {
 protected:
  void SetUp() override {
    Open();
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    Set(conf, "test.mock.num.brokers", std::to_string(kBrokers));
    Set(conf, "client.id", "producer");
    char text[512] = "";
    producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    ASSERT_NE(producer_, nullptr) << text;
    cluster_ = rd_kafka_handle_mock_cluster(producer_);
    ASSERT_EQ(rd_kafka_mock_topic_create(cluster_, "plays", kPartitions, kBrokers),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    ops::KafkaTopic topic;
    topic.topic = "plays";
    topic.at = {"at"};
    config_.brokers = rd_kafka_mock_cluster_bootstraps(cluster_);
    config_.start = ops::KafkaStart::kEarliest;
    config_.topics = {topic};
    config_.batch_messages = 100;
    config_.refresh_ms = 200;
    config_.properties = {{"reconnect.backoff.ms", "20"}, {"reconnect.backoff.max.ms", "100"}};
  }
  void TearDown() override {
    consumer_.reset();
    rd_kafka_destroy(producer_);
  }

  static void Set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
    char text[512] = "";
    ASSERT_EQ(rd_kafka_conf_set(conf, name, value.c_str(), text, sizeof(text)), RD_KAFKA_CONF_OK)
        << text;
  }

  void StartConsumer() {
    consumer_ = std::make_unique<ingest::Consumer>(config_);
    const Status ready = consumer_->Prepare();
    ASSERT_TRUE(ready.ok()) << ready.ToString();
    consumer_->Start(engine_.get());
  }

  // `count` more plays, of 100 users, each of an item of its own.
  void Produce(int count) {
    for (int i = 0; i < count; ++i, ++produced_) {
      const std::string user = "u" + std::to_string(produced_ % 100);
      const std::string payload = "{\"user\":\"" + user + "\",\"item\":\"i" +
                                  std::to_string(produced_) +
                                  "\",\"at\":" + std::to_string(kStartMs) +
                                  ",\"player\":{\"at\":" + std::to_string(produced_) +
                                  ",\"on\":\"tv\"},\"more\":{\"n\":1}}";
      const rd_kafka_resp_err_t sent = rd_kafka_producev(
          producer_, RD_KAFKA_V_TOPIC("plays"), RD_KAFKA_V_PARTITION(produced_ % kPartitions),
          RD_KAFKA_V_KEY(user.data(), user.size()),
          RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      ASSERT_EQ(sent, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(sent);
    }
    ASSERT_EQ(rd_kafka_flush(producer_, 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }

  // One message of any bytes, at the end of a partition.
  void ProduceOne(const std::string& payload) {
    const rd_kafka_resp_err_t sent =
        rd_kafka_producev(producer_, RD_KAFKA_V_TOPIC("plays"), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    ASSERT_EQ(sent, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(sent);
    ASSERT_EQ(rd_kafka_flush(producer_, 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }

  void WaitFor(const std::function<bool()>& reached, const char* what) {
    test::WaitFor(*consumer_, reached, what, kPatience);
  }
  uint64_t Counted() { return engine_->Stats().ingested.plays_accepted; }
  void WaitUntilAllCounted() {
    WaitFor([&] { return Counted() >= static_cast<uint64_t>(produced_); }, "not all has come");
  }
  // Nothing twice, all of it, no alarm; and the broker's end was reached.
  void CheckAll() {
    WaitUntilAllCounted();
    consumer_->Stop();
    EXPECT_EQ(Counted(), static_cast<uint64_t>(produced_));
    for (int i = 0; i < produced_; i += 7) {
      EXPECT_EQ(Unseen("u" + std::to_string(i % 100), {"i" + std::to_string(i)}), Items{});
    }
    int64_t offsets = 0;
    for (const SourceInfo& source : engine_->Sources()) offsets += source.next_offset.value_or(0);
    EXPECT_EQ(offsets, produced_);
    const ops::IngestState state = consumer_->State();
    for (const ops::IngestPartition& one : state.topics.at(0).partitions) {
      EXPECT_EQ(one.alarms, std::vector<std::string>{}) << one.partition;
      EXPECT_EQ(one.lost, 0u);
    }
  }

  rd_kafka_t* producer_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;  // the producer's
  ops::KafkaConfig config_;
  std::unique_ptr<ingest::Consumer> consumer_;
  int produced_ = 0;
};

TEST_F(IngestMockTest, AnswersThatAreErrors) {
  Produce(400);
  rd_kafka_mock_push_request_errors(cluster_, kMetadata, 1, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT);
  rd_kafka_mock_push_request_errors(cluster_, kListOffsets, 3, RD_KAFKA_RESP_ERR__TRANSPORT,
                                    RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                    RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
  rd_kafka_mock_push_request_errors(
      cluster_, kFetch, 8, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR__TRANSPORT,
      RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_UNKNOWN,
      RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR__TIMED_OUT,
      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  StartConsumer();
  Produce(400);
  CheckAll();
}

// What no consumer takes is passed over, and told: a message that is too large, and one on which
// two processes have died.
TEST_F(IngestMockTest, MessagesThatHarmAreDeadLetters) {
  config_.message_bytes = 1'024;
  config_.dead_letter_file = Path() + ".dead";
  const std::string mark = Path() + ".mark";
  Produce(20);
  const std::string large(2'000, 'x');
  for (const char* const what : {large.c_str(), R"({"user":"u","item":"deadly"})"}) {
    ASSERT_EQ(rd_kafka_producev(producer_, RD_KAFKA_V_TOPIC("plays"), RD_KAFKA_V_PARTITION(0),
                                RD_KAFKA_V_VALUE(const_cast<char*>(what), std::strlen(what)),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  ASSERT_EQ(rd_kafka_flush(producer_, 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  const int64_t deadly = 20 / kPartitions + (20 % kPartitions > 0 ? 1 : 0) + 1;
  for (int death = 0; death < 2; ++death) {
    EXPECT_TRUE(ingest::CrashMark::Open(mark).value()->Enter("plays", 0, deadly));
  }
  Produce(20);
  consumer_ = std::make_unique<ingest::Consumer>(config_, mark);
  ASSERT_TRUE(consumer_->Prepare().ok());
  consumer_->Start(engine_.get());
  WaitUntilAllCounted();
  WaitFor([&] { return engine_->Stats().ingested.dead_letters == 2; }, "no dead letters");
  consumer_->Stop();
  EXPECT_EQ(Unseen("u", {"deadly"}), Items{"deadly"});
  std::ifstream file(config_.dead_letter_file);
  const std::string told((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(told.find("has 2000 bytes, more than message_bytes"), std::string::npos) << told;
  EXPECT_NE(told.find("\"offset\":" + std::to_string(deadly) +
                      ",\"reason\":\"the process died on it 2 times\""),
            std::string::npos)
      << told;
}

TEST_F(IngestMockTest, RefusedEventsAreCountedByReason) {
  ASSERT_TRUE(engine_->EraseUser(IdRef("u5"), {.always = true}).ok());
  Produce(300);
  StartConsumer();
  const auto refused_by = [&](RefusalReason reason) {
    return consumer_->State().topics.at(0).refused_by[static_cast<size_t>(reason)];
  };
  WaitFor([&] { return refused_by(RefusalReason::kErased) == 3; }, "no refusal is shown");
  EXPECT_EQ(refused_by(RefusalReason::kTooOld), 0u);
  WaitFor([&] { return Counted() == 297; }, "not all others have come");
}

TEST_F(IngestMockTest, AMessageDoesNotWaitForABatchToFill) {
  config_.batch_ms = 10'000;
  StartConsumer();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    Produce(1);
    WaitUntilAllCounted();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(config_.batch_ms));
  Produce(static_cast<int>(config_.batch_messages) *
          3);  // nor is a full one exceeded, or anything left behind
  CheckAll();
}

TEST_F(IngestMockTest, WhatPlayersSayEntersTheHistory) {
  PolicyPatch patch;
  patch.history.enabled = true;
  ASSERT_TRUE(engine_->PutCollection("default", patch).ok());
  config_.topics[0].progress_s = {"player", "at"};
  config_.topics[0].device = {"player", "on"};
  config_.topics[0].fields = {"more"};
  StartConsumer();
  Produce(1'000);
  CheckAll();
  for (int user = 0; user < 100; user += 9) {
    HistoryPage page;
    const std::string name = "u" + std::to_string(user);
    ASSERT_TRUE(engine_->ReadHistory({.user = IdRef(name)}, &page).ok());
    ASSERT_EQ(page.entries.size(), 10u) << user;
    for (const HistoryEntry& entry : page.entries) {
      EXPECT_EQ(entry.item, "i" + std::to_string(entry.progress_s));
      EXPECT_EQ(entry.progress_s % 100, user);
      EXPECT_EQ(entry.at_ms, kStartMs);
      EXPECT_EQ(entry.device, "tv");
      EXPECT_EQ(entry.fields, "{\"n\":1}");
    }
  }
}

TEST_F(IngestMockTest, ExposuresEnterTheirList) {
  config_.topics[0].fact = Fact::kExposed;
  config_.topics[0].surface = {"player", "on"};
  StartConsumer();
  Produce(1'000);
  const auto counted = [&] { return engine_->Stats().ingested.exposures_accepted; };
  WaitFor([&] { return counted() >= 1'000; }, "not all has come");
  consumer_->Stop();
  EXPECT_EQ(counted(), 1'000u);
  const NotEntry entries[] = {{.fact = Fact::kExposed, .surface = "tv", .within_ms = kDayMs}};
  const Question question{.no = entries};
  for (int i = 0; i < 1'000; i += 7) {
    const std::string user = "u" + std::to_string(i % 100), item = "i" + std::to_string(i);
    const IdRef items[] = {IdRef(item), IdRef("other")};
    FilterRequest request;
    request.user = IdRef(user);
    request.items = items;
    request.question = &question;
    FilterResponse response;
    ASSERT_TRUE(engine_->Filter(request, &response).ok());
    EXPECT_EQ(response.unseen, std::vector<uint32_t>{1}) << item;
  }
}

TEST_F(IngestMockTest, MarksArePutAndTheRefusedAreDeadLetters) {
  ASSERT_TRUE(engine_->EraseUser(IdRef("u5"), {.always = true}).ok());
  ops::KafkaTopic& topic = config_.topics[0];
  topic.marks = true;
  topic.item.clear();
  topic.group = {"item"};
  topic.until = {"player", "at"};
  StartConsumer();
  Produce(300);
  ProduceOne(R"([{"user":"u1","item":"early","at":1,"player":{"at":9}},)"
             R"({"user":"u1","item":"late","at":)" +
             std::to_string(kStartMs + 2 * kDayMs) + R"(,"player":{"at":9}}])");
  const auto dead = [&] {
    uint64_t letters = 0;
    const ops::IngestState state = consumer_->State();
    for (const ops::IngestPartition& one : state.topics.at(0).partitions) {
      letters += one.dead_letters;
    }
    return letters;
  };
  WaitFor([&] { return dead() == 1; }, "no dead letter is shown");
  const auto put = [&] { return engine_->Stats().marks_accepted; };
  WaitFor([&] { return put() >= 298; }, "not all has come");
  consumer_->Stop();
  EXPECT_EQ(put(), 298u);
  const auto refused_by = consumer_->State().topics.at(0).refused_by;
  EXPECT_EQ(refused_by[static_cast<size_t>(RefusalReason::kErased)], 3u);
  MarksPage page;
  ASSERT_TRUE(engine_->ReadMarks({.user = IdRef("u1")}, &page).ok());
  ASSERT_EQ(page.marks.size(), 4u);
  EXPECT_EQ(page.marks[0].group, "early");
  EXPECT_EQ(page.marks[0].said_ms, 1);
  EXPECT_EQ(page.marks[1].group, "i1");
  EXPECT_EQ(page.marks[1].until_ms, 1);
  EXPECT_EQ(page.marks[1].said_ms, kStartMs);
}

TEST_F(IngestMockTest, LeadersMove) {
  StartConsumer();
  for (int round = 0; round < 12; ++round) {
    Produce(100);
    for (int partition = 0; partition < kPartitions; ++partition) {
      rd_kafka_mock_partition_set_leader(cluster_, "plays", partition,
                                         1 + (round + partition) % kBrokers);
    }
  }
  CheckAll();
}

TEST_F(IngestMockTest, APartitionWithoutLeaderHoldsUpNoOther) {
  Produce(400);
  rd_kafka_mock_partition_set_leader(cluster_, "plays", 2, -1);
  StartConsumer();
  WaitFor([&] { return Counted() >= 300; }, "the others have not come");
  rd_kafka_mock_partition_set_leader(cluster_, "plays", 2, 1);
  CheckAll();
}

TEST_F(IngestMockTest, SlowBrokers) {
  for (int broker = 1; broker <= kBrokers; ++broker) {
    rd_kafka_mock_broker_set_rtt(cluster_, broker, 150);
  }
  StartConsumer();
  Produce(400);
  CheckAll();
}

TEST_F(IngestMockTest, BrokersGoAndComeBack) {
  StartConsumer();
  Produce(200);
  WaitUntilAllCounted();
  for (int round = 0; round < 3; ++round) {
    for (int broker = 1; broker <= kBrokers; ++broker) {
      rd_kafka_mock_broker_set_down(cluster_, broker);
    }
    const uint64_t errors = consumer_->State().errors;
    WaitFor([&] { return consumer_->State().errors > errors; }, "their absence is not noticed");
    for (int broker = 1; broker <= kBrokers; ++broker) {
      rd_kafka_mock_broker_set_up(cluster_, broker);
    }
    Produce(200);
  }
  CheckAll();
}

TEST_F(IngestMockTest, StopsWhileNobodyAnswers) {
  for (int broker = 1; broker <= kBrokers; ++broker) {
    rd_kafka_mock_broker_set_down(cluster_, broker);
  }
  StartConsumer();
  WaitFor([&] { return consumer_->State().errors > 0; }, "their absence is not noticed");
  consumer_->Stop();
  EXPECT_EQ(Counted(), 0u);
}

TEST_F(IngestMockTest, ABusyEngineIsWaitedFor) {
  options_.ring_slots = 2;
  options_.slot_bytes_max = 1;
  Reopen();
  config_.batch_messages = 20;  // so many batches that a slot is looked at often enough
  StartConsumer();
  Produce(6'000);
  std::atomic<bool> stop{false};
  WaitFor([&] { return consumer_->State().put_off > 0; }, "the ring was never full");
  EXPECT_LT(Counted(), 6'000u);
  std::thread drains([&] {
    while (!stop) {
      const Status drained = engine_->Drain();
      EXPECT_TRUE(drained.ok()) << drained.ToString();
    }
  });
  WaitUntilAllCounted();
  stop = true;
  drains.join();
  CheckAll();
}

TEST_F(IngestMockTest, PropertiesThatLibrdkafkaDoesNotTakeAreNamed) {
  config_.properties["no.such.property"] = "1";
  const Status refused = ingest::Consumer(config_).Prepare();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.field(), "/kafka/properties/no.such.property");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
