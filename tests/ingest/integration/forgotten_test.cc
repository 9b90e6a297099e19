// A shard that lost a part of its log, and with it how far topics were read, while it heals under a
// running consumer or by a repair: what the log has is read again, from its beginning.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "ingest/consumer.h"
#include "ingest/integration/mock_cluster.h"
#include "seams.h"
#include "seendb/repair.h"
#include "support/engine_fixture.h"
#include "support/heal_damaged.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{60};
constexpr int kBefore = 200;  // plays before the loss

class ForgottenTest : public EngineTest {
 protected:
  void SetUp() override {
    ops::KafkaTopic topic;
    topic.topic = "plays";
    topic.at = {"at"};
    config_.brokers = cluster_.brokers();
    config_.topics = {topic};
    config_.refresh_ms = 200;
    config_.properties = {{"reconnect.backoff.ms", "20"}, {"reconnect.backoff.max.ms", "100"}};
    options_.shards = 1;
  }
  void TearDown() override {
    consumer_.reset();
    engine_.reset();
  }

  // Plays of user "u", of the items i<from>, ..., one a message.
  void Produce(int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string payload = R"({"user":"u","item":"i)" + std::to_string(i) + R"(","at":)" +
                                  std::to_string(kStartMs) + "}";
      const rd_kafka_resp_err_t sent =
          rd_kafka_producev(cluster_.producer(), RD_KAFKA_V_TOPIC("plays"), RD_KAFKA_V_PARTITION(0),
                            RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      ASSERT_EQ(sent, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(sent);
    }
    ASSERT_EQ(rd_kafka_flush(cluster_.producer(), 60'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void Start() {
    consumer_ = std::make_unique<ingest::Consumer>(config_);
    const Status ready = consumer_->Prepare();
    ASSERT_TRUE(ready.ok()) << ready.ToString();
    consumer_->Start(engine_.get());
  }
  bool Reached(const std::function<bool()>& reached) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!reached()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
  }
  bool IsRead(int64_t next_offset) {
    const std::vector<SourceInfo> all = engine_->Sources();
    return !all.empty() && all[0].next_offset == next_offset;
  }
  // All of the topic is seen, what was read before the loss too.
  void ExpectAllSeen(int count) {
    Items items;
    for (int i = 0; i < count; ++i) items.push_back("i" + std::to_string(i));
    EXPECT_TRUE(Reached([&] { return IsRead(count) && Unseen("u", items).empty(); }))
        << Unseen("u", items).size() << " of " << count << " are lost; "
        << ops::IngestStateToJson(consumer_->State());
  }
  // A shard that opens with `open_damaged` has read kBefore plays, then loses them as it heals.
  void ReadAndLose(ops::KafkaStart start) {
    env_ = disk_.env();
    options_.open_damaged = true;
    config_.start = start;
    config_.batch_messages = 10;
    Open();
    Start();
    // Where only what comes is read, it must not come before the partition's beginning is stored.
    ASSERT_TRUE(Reached([&] { return IsRead(0); }));
    ASSERT_NO_FATAL_FAILURE(Produce(0, kBefore));
    ASSERT_TRUE(Reached([&] { return IsRead(kBefore); }));
    Drain();
    ASSERT_TRUE(engine_->Sync().ok());
    ASSERT_NO_FATAL_FAILURE(FailAndHealDamaged(&disk_, engine_.get()));
  }

  MemDisk disk_;
  MockCluster cluster_{"plays"};
  ops::KafkaConfig config_;
  std::unique_ptr<ingest::Consumer> consumer_;
};

TEST_F(ForgottenTest, WhatAShardLostIsReadAgain) {
  ASSERT_NO_FATAL_FAILURE(ReadAndLose(ops::KafkaStart::kEarliest));
  ASSERT_NO_FATAL_FAILURE(Produce(kBefore, kBefore + 10));
  ExpectAllSeen(kBefore + 10);
}

TEST_F(ForgottenTest, ThoughNothingNewComes) {
  ASSERT_NO_FATAL_FAILURE(ReadAndLose(ops::KafkaStart::kEarliest));
  ExpectAllSeen(kBefore);
}

// The setting is for topics of which nothing was ever read.
TEST_F(ForgottenTest, ThoughTheSettingsSayTheEnd) {
  ASSERT_NO_FATAL_FAILURE(ReadAndLose(ops::KafkaStart::kLatest));
  ASSERT_NO_FATAL_FAILURE(Produce(kBefore, kBefore + 10));
  ExpectAllSeen(kBefore + 10);
}

TEST_F(ForgottenTest, ARepairOfTheOnlyShardReadsWhatCameMeanwhile) {
  config_.start = ops::KafkaStart::kLatest;
  Open();
  Start();
  ASSERT_TRUE(Reached([&] { return IsRead(0); }));
  ASSERT_NO_FATAL_FAILURE(Produce(0, kBefore));
  ASSERT_TRUE(Reached([&] { return IsRead(kBefore); }));
  consumer_.reset();
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  for (const auto& file : fs::directory_iterator(Path() + "/shard-0000")) {
    if (!file.path().filename().string().starts_with("MANIFEST-")) continue;
    fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
  }
  Seams seams;
  seams.clock = &clock_;
  const Result<RepairReport> repaired = Repair(Path(), {}, seams);
  ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
  ASSERT_NO_FATAL_FAILURE(Produce(kBefore, kBefore + 10));  // while it was down
  Open();
  Start();
  ExpectAllSeen(kBefore + 10);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
