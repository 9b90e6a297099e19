// A node's replicas at librdkafka's own broker, whose log other nodes write too.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/log_record.h"
#include "cluster/meta.h"
#include "ingest/integration/mock_cluster.h"
#include "replica/backlog.h"
#include "replica/replicas.h"

namespace seendb::replica {

class ReplicasTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kPartitions = 4;
  static constexpr std::chrono::seconds kPatience{30};

  ReplicasTest() {
    char name[] = "/tmp/seendb-replicas-XXXXXX";
    folder_ = mkdtemp(name);
    Meta(R"({"v":1,"kind":"init","uuid":"2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f","partitions":4,)"
         R"("replicas":1,"hash":2,"key":"000102030405060708090a0b0c0d0e0f","at_ms":1,)"
         R"("default_policy":{"history":{"enabled":true}}})");
    for (const std::string node : {"n1", "n2"}) {
      Meta(R"({"v":1,"kind":"member","node":")" + node + R"(","url":"http://h:1","zone":")" + node +
           R"(","weight":1,"build":"1"})");
    }
    Meta(R"({"v":1,"kind":"placement","base":-1,"assign":[["n1"],["n1"],["n1"],["n2"]]})");
  }
  ~ReplicasTest() override {
    Stop();
    std::filesystem::remove_all(folder_);
  }

  /// A record of `X.meta`.
  void Meta(const std::string& record) {
    auto meta = std::make_shared<cluster::Meta>(*meta_.load());
    const Status taken = meta->Apply(meta->next_offset(), record);
    EXPECT_TRUE(taken.ok()) << taken.ToString();
    meta_.store(std::move(meta));
  }
  void Start() {
    const auto options = Replicas::EngineOptions(*meta_.load()->init(), {});
    ASSERT_TRUE(options.ok());
    auto opened = Engine::Open(folder_ + "/db", *options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    engine_ = std::move(opened).value();
    ReplicasOptions given;
    given.access.brokers = mock_->brokers();
    given.cluster = "feed";
    given.node = "n1";
    given.limits = limits_;
    given.meta = [this] { return meta_.load(); };
    given.read_meta_to_end = [this](auto) { return read_meta_to_end_(); };
    given.views = [] { return std::map<std::string, cluster::NodeView>(); };
    given.states_changed = [this] {
      serving_when_told_ = CountServing();
      states_changed_();
    };
    given.collections_changed = [] {};
    given.fetch = fetch_;
    replicas_ = std::make_unique<Replicas>(std::move(given));
    const Status started = replicas_->Start(engine_.get());
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  void Stop() {
    if (replicas_) replicas_->Stop();
    replicas_.reset();
    engine_.reset();
  }
  void StartAndServe() {
    Start();
    Eventually([this] { return CountServing() == 3; });
  }
  size_t CountServing() const {
    size_t serving = 0;
    for (const auto& [partition, report] : replicas_->Report()) {
      serving += report.state == cluster::ReplicaState::kServing ? 1 : 0;
    }
    return serving;
  }
  static void Eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(holds());
  }

  static int64_t NowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  /// A user of a partition.
  std::string UserOf(uint32_t partition, int from = 0) const {
    for (int i = from;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == partition) return user;
    }
  }
  static std::string PlayOf(const std::string& user, const std::string& item) {
    return R"({"events":[{"user":")" + user + R"(","item":")" + item + R"("}]})";
  }
  Result<Appended> Append(cluster::LogKind kind, const std::string& user, const std::string& value,
                          std::chrono::milliseconds most = kPatience) {
    std::promise<Result<Appended>> promise;
    replicas_->Append({.partition = engine_->ShardOf(IdRef(user)),
                       .kind = kind,
                       .key = user,
                       .value = value,
                       .arrival_ms = NowMs()},
                      std::chrono::steady_clock::now() + most,
                      [&](Result<Appended> done) { promise.set_value(std::move(done)); });
    return promise.get_future().get();
  }
  /// What another node writes. Null: a plain message.
  void Write(uint32_t partition, const std::string* header, const std::string& key,
             const std::string& value) {
    Produce(partition, header, key, value);
    Flush();
  }
  void Flush() { EXPECT_EQ(rd_kafka_flush(mock_->producer(), 20'000), RD_KAFKA_RESP_ERR_NO_ERROR); }
  void Produce(uint32_t partition, const std::string* header, const std::string& key,
               const std::string& value) {
    rd_kafka_headers_t* const headers = rd_kafka_headers_new(1);
    if (header != nullptr) {
      rd_kafka_header_add(headers, cluster::kLogHeaderName, -1, header->data(),
                          static_cast<ssize_t>(header->size()));
    }
    EXPECT_EQ(rd_kafka_producev(mock_->producer(), RD_KAFKA_V_TOPIC("feed.log"),
                                RD_KAFKA_V_PARTITION(static_cast<int32_t>(partition)),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                RD_KAFKA_V_KEY(key.data(), key.size()),
                                RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                                RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void WritePlay(const std::string& user, const std::string& item, int64_t arrival_ms) {
    ProducePlay(user, item, arrival_ms);
    Flush();
  }
  void ProducePlay(const std::string& user, const std::string& item, int64_t arrival_ms) {
    const std::string header =
        cluster::EncodeLogHeader({cluster::LogKind::kPlays, arrival_ms, nonce_++});
    Produce(engine_->ShardOf(IdRef(user)), &header, user, PlayOf(user, item));
  }
  bool IsSeen(const std::string& user, const std::string& item,
              const std::string& collection = "default") const {
    const IdRef items[] = {IdRef(item)};
    FilterResponse answer;
    const Status asked =
        engine_->Filter({.collection = collection, .user = IdRef(user), .items = items}, &answer);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    return answer.unseen.empty();
  }
  int64_t NextOffset(uint32_t partition) const {
    return replicas_->Report().at(partition).next_offset;
  }

  std::string folder_;
  std::optional<MockCluster> mock_{std::in_place, "feed.log", kPartitions};
  std::atomic<std::shared_ptr<const cluster::Meta>> meta_{std::make_shared<cluster::Meta>()};
  std::atomic<bool> meta_known_{true};
  std::function<bool()> read_meta_to_end_ = [this] { return meta_known_.load(); };
  std::atomic<size_t> serving_when_told_{0};
  std::function<void()> states_changed_ = [] {};
  AppendLimits limits_;
  FetchShard fetch_;
  uint64_t nonce_ = 1;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Replicas> replicas_;
};

}  // namespace seendb::replica
