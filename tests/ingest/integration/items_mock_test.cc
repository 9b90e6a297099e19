// Updates of items from librdkafka's mock cluster into a store that the test plays: it may have no
// schema yet, fail for a while, and hears how new it is.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "ingest/consumer.h"
#include "ingest/integration/mock_cluster.h"
#include "ingest/integration/wait_for.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr std::chrono::seconds kPatience{60};

/// Counts what comes; a note is kept in the same call.
class PlayedStore {
 public:
  ingest::ItemSink Sink() {
    return {
        .types = [this] { return schema ? std::make_shared<const wire::ItemTypes>() : nullptr; },
        .sources =
            [this] {
              const MutexLock lock(mutex_);
              return Result<std::vector<ItemSource>>(notes_);
            },
        .apply = [this](auto updates, auto sources) { return Apply(updates, sources); },
        .current = [this](int64_t ms) { current_ms = ms; }};
  }
  std::map<std::string, int> counts() const {
    const MutexLock lock(mutex_);
    return counts_;
  }
  int64_t next_offset() const {
    const MutexLock lock(mutex_);
    return notes_.empty() ? -1 : notes_[0].next_offset;
  }
  void Note(int64_t next_offset, int64_t last_ms) {
    const MutexLock lock(mutex_);
    notes_ = {{"items", 0, next_offset, last_ms}};
  }

  std::atomic<bool> schema{true}, fails{false};
  std::atomic<int64_t> current_ms{-1};
  std::atomic<int> failures{0};

 private:
  Result<ItemReport> Apply(std::span<const ItemUpdate> updates,
                           std::span<const ItemSource> sources) {
    const MutexLock lock(mutex_);
    if (fails) {
      ++failures;
      return Status::IOError("the disk");
    }
    for (const ItemUpdate& one : updates) ++counts_[one.id.ToString()];
    if (!sources.empty()) notes_ = {sources.begin(), sources.end()};
    ItemReport report;
    report.applied = updates.size();
    return report;
  }

  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, int> counts_ GUARDED_BY(mutex_);
  std::vector<ItemSource> notes_ GUARDED_BY(mutex_);
};

class ItemsMockTest : public EngineTest {
 protected:
  void SetUp() override {
    Open();
    ops::KafkaTopic topic;
    topic.topic = "items";
    topic.items = true;
    topic.collection.clear();
    config_.brokers = cluster_.brokers();
    config_.start = ops::KafkaStart::kEarliest;
    config_.topics = {topic};
    config_.refresh_ms = 200;
    config_.properties = {{"reconnect.backoff.ms", "20"}, {"reconnect.backoff.max.ms", "100"}};
  }
  void TearDown() override { consumer_.reset(); }

  void Start() {
    consumer_ = std::make_unique<ingest::Consumer>(config_);
    const Status ready = consumer_->Prepare();
    ASSERT_TRUE(ready.ok()) << ready.ToString();
    consumer_->Start(engine_.get(), nullptr, {}, store_.Sink());
  }
  // One update each, of the items <name>0, <name>1, ...
  void Produce(const std::string& name, int count, int64_t first_ms) {
    for (int i = 0; i < count; ++i) {
      const std::string payload = R"({"id":")" + name + std::to_string(i) + R"(","version":1})";
      const rd_kafka_resp_err_t sent =
          rd_kafka_producev(cluster_.producer(), RD_KAFKA_V_TOPIC("items"), RD_KAFKA_V_PARTITION(0),
                            RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                            RD_KAFKA_V_TIMESTAMP(first_ms + i),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      ASSERT_EQ(sent, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(sent);
    }
    ASSERT_EQ(rd_kafka_flush(cluster_.producer(), 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void WaitFor(const std::function<bool()>& reached, const char* what) {
    test::WaitFor(*consumer_, reached, what, kPatience);
  }
  std::vector<std::string> Alarms() const {
    const ops::IngestState state = consumer_->State();
    const auto& partitions = state.topics.at(0).partitions;
    return partitions.empty() ? std::vector<std::string>() : partitions[0].alarms;
  }

  MockCluster cluster_{"items"};
  PlayedStore store_;
  ops::KafkaConfig config_;
  std::unique_ptr<ingest::Consumer> consumer_;
};

TEST_F(ItemsMockTest, AStoreThatFailsIsAskedAgainAndNothingIsLost) {
  Produce("v", 20, kStartMs);
  store_.fails = true;
  Start();
  WaitFor([&] { return store_.failures >= 3; }, "nothing was tried");
  EXPECT_EQ(store_.next_offset(), -1);
  EXPECT_LE(store_.current_ms, 0) << "nothing is known to be new";
  store_.fails = false;
  WaitFor([&] { return store_.next_offset() == 20; }, "not all was read");
  consumer_->Stop();
  const auto counts = store_.counts();
  EXPECT_EQ(counts.size(), 20u);
  for (const auto& [id, count] : counts) EXPECT_EQ(count, 1) << id;
}

TEST_F(ItemsMockTest, WithoutASchemaTheTopicWaits) {
  Produce("v", 3, kStartMs);
  store_.schema = false;
  Start();
  WaitFor([&] { return Alarms() == std::vector<std::string>{"no_schema"}; }, "no alarm");
  EXPECT_EQ(store_.next_offset(), -1);
  store_.schema = true;
  WaitFor([&] { return store_.next_offset() == 3; }, "not all was read");
}

TEST_F(ItemsMockTest, ReadingGoesOnWhereTheStoreIs) {
  Produce("v", 10, kStartMs);
  store_.Note(7, kStartMs + 6);
  Start();
  WaitFor([&] { return store_.next_offset() == 10; }, "not all was read");
  EXPECT_EQ(store_.counts().size(), 3u);
  EXPECT_EQ(Alarms(), std::vector<std::string>());
}

TEST_F(ItemsMockTest, AnotherLogIsReadFromItsBeginning) {
  Produce("v", 10, kStartMs);
  store_.Note(7, kStartMs + 1'000);
  Start();
  WaitFor([&] { return store_.next_offset() == 10; }, "not all was read");
  EXPECT_EQ(store_.counts().size(), 10u);
  EXPECT_EQ(Alarms(), std::vector<std::string>{"beyond_end"});
}

TEST_F(ItemsMockTest, AtItsEndTheStoreIsAsNewAsTheClock) {
  Produce("v", 2, kStartMs - kDayMs);
  Start();
  WaitFor([&] { return store_.current_ms == kStartMs; }, "it is not new");
  clock_.Advance(5'000);
  WaitFor([&] { return store_.current_ms == kStartMs + 5'000; }, "it is not new");
  // While the brokers are away, nobody knows the end.
  ASSERT_EQ(rd_kafka_mock_broker_set_down(cluster_.mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  clock_.Advance(60'000);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_EQ(store_.current_ms, kStartMs + 5'000);
  ASSERT_EQ(rd_kafka_mock_broker_set_up(cluster_.mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  WaitFor([&] { return store_.current_ms == kStartMs + 65'000; }, "it is not new again");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
