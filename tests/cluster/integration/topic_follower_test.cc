// A topic of one partition at librdkafka's own broker is read into a store that keeps how far it
// is: from there on, anew where the topic is another one, and to its end before the store has all.

#include "cluster/topic_follower.h"

#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "cluster/topic_writer.h"
#include "ingest/integration/mock_cluster.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

constexpr int kWaitMs = 20'000;
constexpr char kTopic[] = "feed.sets";
constexpr int16_t kFetch = 1;  // of Kafka's protocol

/// Keeps what comes.
class MapSink final : public TopicSink {
 public:
  int64_t next_offset() const override { return next_offset_; }
  Status Take(std::span<const TopicRecord> records, int64_t next_offset) override {
    if (failures_ > 0) {
      --failures_;
      ++failed_;
      return Status::IOError("the disk is full");
    }
    const MutexLock lock(mutex_);
    for (const TopicRecord& record : records) {
      if (record.value == "newer") return Status::Incompatible("a newer record");
      if (record.offset < next_offset_) continue;
      rows_[std::string(record.key)] = std::string(record.value.value_or("none"));
      next_offset_ = record.offset + 1;
    }
    next_offset_ = next_offset;
    return {};
  }
  Status BeginAnew() override {
    const MutexLock lock(mutex_);
    rows_.clear();
    next_offset_ = 0;
    ++begun_anew_;
    return {};
  }
  void SetCurrent(bool current) override { current_ = current; }

  std::map<std::string, std::string> rows() const {
    const MutexLock lock(mutex_);
    return rows_;
  }

  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, std::string> rows_;
  std::atomic<int64_t> next_offset_{0};
  std::atomic<int> failures_{0}, failed_{0}, begun_anew_{0};
  std::atomic<bool> current_{false};
};

class TopicFollowerTest : public ::testing::Test {
 protected:
  using Rows = std::map<std::string, std::string>;

  int64_t Append(const std::vector<std::pair<std::string, std::optional<std::string>>>& records) {
    std::vector<NewTopicRecord> written;
    for (const auto& [key, value] : records) {
      std::optional<std::string_view> view;
      if (value) view = *value;
      written.push_back({key, view});
    }
    const auto last = AppendInOrder({broker_.brokers(), {}}, kTopic, written, kWaitMs);
    EXPECT_TRUE(last.ok()) << last.status().ToString();
    return last.ok() ? *last : -1;
  }
  void Start(const std::string& topic = kTopic) {
    auto started = TopicFollower::Start({.access = {broker_.brokers(), {}},
                                         .topic = topic,
                                         .client = "test",
                                         .sink = &sink_,
                                         .limits = limits_,
                                         .may_lack = [this] { return may_lack_.load(); },
                                         .log = {}});
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    follower_ = std::move(started).value();
  }
  static void Eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + milliseconds(kWaitMs);
    while (!holds() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(holds());
  }

  MockCluster broker_{kTopic};
  MapSink sink_;
  TopicFollowerLimits limits_;
  std::atomic<bool> may_lack_{true};
  std::unique_ptr<TopicFollower> follower_;
};

TEST_F(TopicFollowerTest, ReadsAllAndGoesOn) {
  EXPECT_EQ(Append({{"a", "1"}, {"b", "2"}, {"a", {}}}), 2);
  Start();
  ASSERT_TRUE(follower_->WaitFor(3, milliseconds(kWaitMs)));
  EXPECT_EQ(sink_.rows(), (Rows{{"a", "none"}, {"b", "2"}}));
  Eventually([this] { return sink_.current_.load(); });
  const int64_t last = Append({{"c", "3"}});
  ASSERT_TRUE(follower_->WaitFor(last + 1, milliseconds(kWaitMs)));
  EXPECT_EQ(sink_.rows()["c"], "3");
  EXPECT_EQ(follower_->problem(), "");
  EXPECT_FALSE(follower_->WaitFor(last + 2, milliseconds(1)));
  follower_->Stop();
  EXPECT_FALSE(follower_->WaitFor(last + 2, milliseconds(kWaitMs))) << "it has stopped";
}

TEST_F(TopicFollowerTest, OfManyRecordsTheOrderIsThatOfTheWriter) {
  std::vector<std::pair<std::string, std::optional<std::string>>> records;
  for (int i = 0; i < 3'000; ++i) records.emplace_back("k", std::to_string(i));
  EXPECT_EQ(Append(records), 2'999);
  Start();
  ASSERT_TRUE(follower_->WaitFor(3'000, milliseconds(kWaitMs)));
  EXPECT_EQ(sink_.rows(), (Rows{{"k", "2999"}}));
}

TEST_F(TopicFollowerTest, GoesOnWhereItsStoreIs) {
  Append({{"a", "1"}, {"b", "2"}});
  sink_.next_offset_ = 1;
  Start();
  ASSERT_TRUE(follower_->WaitFor(2, milliseconds(kWaitMs)));
  EXPECT_EQ(sink_.rows(), (Rows{{"b", "2"}})) << "the first one is not read again";
  EXPECT_EQ(sink_.begun_anew_, 0);
}

TEST_F(TopicFollowerTest, ATopicThatEndsBeforeIsReadAnew) {
  Append({{"a", "1"}});
  sink_.next_offset_ = 5;
  sink_.rows_ = {{"former", "x"}};
  Start();
  Eventually([this] { return sink_.current_.load(); });
  EXPECT_EQ(sink_.begun_anew_, 1);
  EXPECT_EQ(sink_.rows(), (Rows{{"a", "1"}}));
}

// The broker keeps 5 MB.
TEST_F(TopicFollowerTest, ATopicThatLostItsBeginningIsAProblem) {
  for (int i = 0; i < 8; ++i) Append({{std::to_string(i), std::string(900'000, 'x')}});
  Start();
  ASSERT_TRUE(follower_->WaitFor(8, milliseconds(kWaitMs)));
  Eventually([this] { return follower_->problem().find("lost") != std::string::npos; });
  EXPECT_FALSE(sink_.rows().contains("0"));
  follower_.reset();
  Start();  // behind what is gone
  Eventually([this] { return sink_.current_.load(); });
  EXPECT_EQ(follower_->problem(), "");
}

TEST_F(TopicFollowerTest, AStoreThatFailsIsGivenItAgain) {
  Append({{"a", "1"}});
  sink_.failures_ = 1;
  Start();
  ASSERT_TRUE(follower_->WaitFor(1, milliseconds(kWaitMs)));
  EXPECT_EQ(sink_.rows(), (Rows{{"a", "1"}}));
  Eventually([this] { return follower_->problem().empty(); });
}

TEST_F(TopicFollowerTest, AStoreThatGoesOnFailingIsNotCurrent) {
  Append({{"a", "1"}});
  Start();
  Eventually([this] { return sink_.current_.load(); });
  sink_.failures_ = 1'000'000;
  Append({{"b", "2"}});
  Eventually([this] { return !sink_.current_; });
  Eventually([this] { return sink_.failed_ > 2; });
  EXPECT_FALSE(sink_.current_) << "an end that was known before is not this one";
  EXPECT_NE(follower_->problem(), "");
  sink_.failures_ = 0;
  Eventually([this] { return sink_.current_ && sink_.rows() == Rows{{"a", "1"}, {"b", "2"}}; });
}

TEST_F(TopicFollowerTest, WithoutBrokersItIsNotCurrent) {
  limits_ = {.quiet = milliseconds(100), .silent = milliseconds(500), .failing = milliseconds(100)};
  Append({{"a", "1"}});
  Start();
  Eventually([this] { return sink_.current_.load(); });
  std::this_thread::sleep_for(milliseconds(1'000));
  EXPECT_TRUE(sink_.current_) << "nothing came, and nothing is there";
  rd_kafka_mock_broker_set_down(broker_.mock(), 1);
  Eventually([this] { return !sink_.current_; });
  Eventually([this] { return !follower_->problem().empty(); });
  rd_kafka_mock_broker_set_up(broker_.mock(), 1);
  Eventually([this] { return sink_.current_.load(); });
  Eventually([this] { return follower_->problem().empty(); });
}

TEST_F(TopicFollowerTest, WhatDoesNotComeIsMissed) {
  limits_ = {.quiet = milliseconds(100), .silent = milliseconds(500), .failing = milliseconds(100)};
  Append({{"a", "1"}});
  Start();
  Eventually([this] { return sink_.current_.load(); });
  // The broker answers all but questions for records, of which the consumer tells nobody.
  const std::vector<rd_kafka_resp_err_t> errors(12, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR);
  rd_kafka_mock_push_request_errors_array(broker_.mock(), kFetch, errors.size(), errors.data());
  Append({{"b", "2"}});
  Eventually([this] { return !sink_.current_; });
  Eventually([this] { return sink_.current_ && sink_.rows().contains("b"); });
}

TEST_F(TopicFollowerTest, ATopicThatIsNotThereHasNothingIfItMayLack) {
  constexpr char kLater[] = "feed.later";
  rd_kafka_mock_topic_set_error(broker_.mock(), kLater, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  Start(kLater);
  Eventually([this] { return sink_.current_.load(); });
  EXPECT_EQ(follower_->problem(), "");
  follower_.reset();
  sink_.current_ = false;
  may_lack_ = false;
  Start(kLater);
  Eventually([this] { return !follower_->problem().empty(); });
  EXPECT_FALSE(sink_.current_);
  rd_kafka_mock_topic_set_error(broker_.mock(), kLater, RD_KAFKA_RESP_ERR_NO_ERROR);
  Eventually([this] { return sink_.current_ && follower_->problem().empty(); });
}

TEST_F(TopicFollowerTest, WhatIsNewerStopsIt) {
  Append({{"a", "1"}});
  Start();
  Eventually([this] { return sink_.current_.load(); });
  Append({{"a", "newer"}});
  Eventually([this] { return !follower_->problem().empty(); });
  EXPECT_NE(follower_->problem().find("newer"), std::string::npos);
  Eventually([this] { return !sink_.current_; });
}

TEST_F(TopicFollowerTest, AWriterGivesUpWhenItIsTold) {
  const std::string value = "x";
  const NewTopicRecord record{.key = "k", .value = value};
  std::atomic<bool> give_up{false};
  rd_kafka_mock_broker_set_down(broker_.mock(), 1);
  std::thread teller([&] {
    std::this_thread::sleep_for(milliseconds(300));
    give_up = true;
  });
  const auto begun = std::chrono::steady_clock::now();
  const auto refused =
      AppendInOrder({broker_.brokers(), {}}, kTopic, {&record, 1}, kWaitMs, &give_up);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable) << refused.status().ToString();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(kWaitMs) / 2);
  teller.join();
}

TEST_F(TopicFollowerTest, WhatTheBrokersDoNotAcknowledgeIsUnavailable) {
  const std::string value = "x";
  const NewTopicRecord record{.key = "k", .value = value};
  rd_kafka_mock_topic_set_error(broker_.mock(), kTopic,
                                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  const auto refused = AppendInOrder({broker_.brokers(), {}}, kTopic, {&record, 1}, 2'000);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable) << refused.status().ToString();
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
