// First plays of the day out of a log are told to a topic, at least once each, whatever the brokers
// do; plays do not wait for that.

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "ingest/consumer.h"
#include "ingest/integration/mock_cluster.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int16_t kProduce = 0;  // Kafka's number of the request
constexpr std::chrono::seconds kPatience{120};

// The facts told to a topic, by user.
class FactsOfTopic {
 public:
  FactsOfTopic(const std::string& brokers, const std::string& topic) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    char text[512] = "";
    for (const auto& [name, value] :
         {std::pair{"bootstrap.servers", brokers.c_str()}, {"group.id", "facts"}}) {
      EXPECT_EQ(rd_kafka_conf_set(conf, name, value, text, sizeof(text)), RD_KAFKA_CONF_OK);
    }
    handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    EXPECT_NE(handle_, nullptr) << text;
    rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(all, topic.c_str(), 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    EXPECT_EQ(rd_kafka_assign(handle_, all), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(all);
  }
  ~FactsOfTopic() { rd_kafka_destroy(handle_); }

  // Until so many users are known, and so many messages were read.
  void ReadUntil(size_t users, int messages = 0) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while ((by_user_.size() < users || messages_ < messages) &&
           std::chrono::steady_clock::now() < until) {
      rd_kafka_message_t* const message = rd_kafka_consumer_poll(handle_, 100);
      if (message == nullptr) continue;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const std::string key(static_cast<const char*>(message->key), message->key_len);
        by_user_[key].insert({static_cast<const char*>(message->payload), message->len});
        ++messages_;
      }
      rd_kafka_message_destroy(message);
    }
  }
  const std::map<std::string, std::set<std::string>>& by_user() const { return by_user_; }
  int messages() const { return messages_; }

 private:
  int messages_ = 0;
  rd_kafka_t* handle_ = nullptr;
  std::map<std::string, std::set<std::string>> by_user_;
};

class PublisherTest : public EngineTest {
 protected:
  void SetUp() override {
    Open();
    PolicyPatch patch;
    patch.first_of_day = true;
    Put("default", patch);
    ops::KafkaTopic topic;
    topic.topic = "plays";
    topic.first_of_day_topic = "firsts";
    config_.brokers = cluster_.brokers();
    config_.topics = {topic};
    config_.properties = {{"reconnect.backoff.ms", "20"}, {"reconnect.backoff.max.ms", "100"}};
  }
  void TearDown() override { publisher_.reset(); }

  void Start() {
    publisher_ = std::make_unique<ingest::Publisher>(config_);
    const Status ready = publisher_->Prepare();
    ASSERT_TRUE(ready.ok()) << ready.ToString();
    publisher_->Start(engine_.get());
  }
  // Plays of users "u<from>" and on, a message each, as the consumer has them ingested.
  void Ingest(int from, int to, const std::string& topic = "plays") {
    for (int i = from; i < to; ++i) {
      const std::string user = "u" + std::to_string(i);
      const seendb::Play play{IdRef(user), IdRef(1)};
      const Origin origin{0, i};
      const SourceStep step{topic, 0, i + 1};
      IngestBatch batch;
      batch.sources = {&step, 1};
      batch.plays = {&play, 1};
      batch.origins = {&origin, 1};
      batch.outbox_first_plays = true;
      const auto done = engine_->Ingest(batch);
      ASSERT_TRUE(done.ok()) << done.status().ToString();
    }
  }
  void SetBrokerUp(bool up) {
    ASSERT_EQ(up ? rd_kafka_mock_broker_set_up(cluster_.mock(), 1)
                 : rd_kafka_mock_broker_set_down(cluster_.mock(), 1),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  uint64_t Waiting() { return engine_->Stats().outbox_rows; }
  void WaitFor(const std::function<bool()>& reached, const char* what) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!reached()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << what << "; " << publisher_->problem();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void ExpectTold(const FactsOfTopic& facts, size_t users) {
    EXPECT_EQ(facts.by_user().size(), users);
    for (const auto& [user, told] : facts.by_user()) {
      EXPECT_EQ(told,
                std::set<std::string>{"{\"user\":\"" + user +
                                      "\",\"collection\":\"default\",\"day\":\"2026-03-10\"}"});
    }
  }

  const MockCluster cluster_{"firsts"};
  ops::KafkaConfig config_;
  std::unique_ptr<ingest::Publisher> publisher_;
};

TEST_F(PublisherTest, TellsWhatIsThereAndWhatComes) {
  Ingest(0, 30);
  rd_kafka_mock_push_request_errors(
      cluster_.mock(), kProduce, 4, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
      RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
  Start();
  Ingest(30, 60);
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  WaitFor([&] { return !publisher_->oldest_ms(); }, "their age stays");
  EXPECT_EQ(publisher_->problem(), "");
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(60);
  ExpectTold(facts, 60);
}

TEST_F(PublisherTest, PlaysGoOnWhileTheBrokersAreAway) {
  SetBrokerUp(false);
  Start();
  Ingest(0, 10);
  EXPECT_EQ(Play("elsewhere", {"i1"}), 1u);
  WaitFor([&] { return publisher_->oldest_ms() == kStartMs; }, "no age is shown");
  WaitFor([&] { return !publisher_->problem().empty(); }, "no problem is named");
  Ingest(10, 20);
  EXPECT_EQ(Waiting(), 20u);
  SetBrokerUp(true);
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  WaitFor([&] { return publisher_->problem().empty(); }, "the problem stays");
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(20);
  ExpectTold(facts, 20);
}

// As after a kill between delivery and deletion.
TEST_F(PublisherTest, RowsThatAreStillThereAreToldAgain) {
  Ingest(0, 5);
  std::vector<OutboxRow> rows;
  std::vector<ingest::OutMessage> messages;
  for (const OutboxSource& source : engine_->OutboxSources()) {
    ASSERT_TRUE(engine_->ReadOutbox(source, -1, 1'000, &rows).ok());
    for (const OutboxRow& row : rows) {
      const std::string& user = row.first_plays.at(0).user;
      messages.push_back(
          {user,
           "{\"user\":\"" + user + "\",\"collection\":\"default\",\"day\":\"2026-03-10\"}",
           {}});
    }
  }
  ASSERT_EQ(messages.size(), 5u);
  auto writer = ingest::TopicWriter::New(config_);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Write("firsts", messages).ok());
  Reopen();
  Start();
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(5, 10);
  ExpectTold(facts, 5);
  EXPECT_GE(facts.messages(), 10);
}

TEST_F(PublisherTest, GoesOnAfterARestart) {
  Start();
  Ingest(0, 5);
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  publisher_.reset();
  Ingest(5, 10);
  Reopen();
  Start();
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(10);
  ExpectTold(facts, 10);
}

// Rows below those that were told are found.
TEST_F(PublisherTest, ATopicThatWasForgottenIsToldAgain) {
  Start();
  Ingest(0, 5);
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(engine_->EraseUser(IdRef("u" + std::to_string(i))).ok());
  }
  clock_.Advance(1);
  Ingest(0, 5);
  WaitFor([&] { return Waiting() == 0; }, "rows wait");
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(5, 10);
  EXPECT_GE(facts.messages(), 10);
}

TEST_F(PublisherTest, RowsOfATopicThatTellsNobodyWait) {
  config_.topics[0].topic = "others";
  Ingest(0, 5, "plays");
  Start();
  Ingest(5, 8, "others");
  WaitFor([&] { return Waiting() == 5; }, "rows wait");
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(3);
  ExpectTold(facts, 3);
  WaitFor([&] { return !publisher_->oldest_ms(); }, "what is told to nobody has an age");
  EXPECT_EQ(Waiting(), 5u);
}

// From the log of plays to the log of first plays.
TEST_F(PublisherTest, AConsumerTellsOfItsTopics) {
  ASSERT_EQ(rd_kafka_mock_topic_create(cluster_.mock(), "plays", 1, 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_EQ(Play("u7", {"elsewhere"}), 1u);  // told in an answer
  for (int i = 0; i < 30; ++i) {
    const std::string payload =
        "{\"user\":\"u" + std::to_string(i % 10) + "\",\"item\":\"i" + std::to_string(i) + "\"}";
    ASSERT_EQ(
        rd_kafka_producev(cluster_.producer(), RD_KAFKA_V_TOPIC("plays"), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                          RD_KAFKA_V_TIMESTAMP(kStartMs), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  ASSERT_EQ(rd_kafka_flush(cluster_.producer(), 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  config_.start = ops::KafkaStart::kEarliest;
  ingest::Consumer consumer(config_);
  ASSERT_TRUE(consumer.Prepare().ok());
  consumer.Start(engine_.get());
  FactsOfTopic facts(config_.brokers, "firsts");
  facts.ReadUntil(9);
  consumer.Stop();
  ExpectTold(facts, 9);
  EXPECT_FALSE(facts.by_user().contains("u7"));
  EXPECT_TRUE(consumer.Problems().empty());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
