// tests/router/unit/small_cluster.h: nodes of a cluster in one process: each has its service, its
// listener and a fake engine; the log is a list in memory.

#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "api/routes.h"
#include "api/service.h"
#include "base/clock.h"
#include "cluster/meta.h"
#include "cluster/routing_table.h"
#include "http/listener.h"
#include "peers/peer_client.h"
#include "proof/proofs.h"
#include "replica/user_facts.h"
#include "router/router.h"
#include "support/fake_engine.h"

namespace seendb::test {

using Json = nlohmann::json;

inline constexpr uint32_t kPartitions = 4;
inline constexpr const char* kSecret = "a-secret-of-the-nodes";

/// An engine that lacks some shards. The partition of "u7" is 7 % kPartitions.
class PartEngine : public FakeEngine {
 public:
  uint32_t ShardOf(IdRef user) const override {
    const std::string text = user.ToString();
    return static_cast<uint32_t>(static_cast<unsigned char>(text.back())) % kPartitions;
  }
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    if (Status here = CheckHere(request.user); !here.ok()) return here;
    ++filters;
    return FakeEngine::Filter(request, response);
  }
  Result<UserReport> Inspect(IdRef user, std::string_view collection) override {
    if (Status here = CheckHere(user); !here.ok()) return here;
    return FakeEngine::Inspect(user, collection);
  }
  Result<Recording> GetRecording(IdRef user) override {
    if (Status here = CheckHere(user); !here.ok()) return here;
    return FakeEngine::GetRecording(user);
  }
  /// Promises the first of the items alone.
  Status Reserve(const ReserveRequest& request, Reserved* reserved) override {
    if (Status here = CheckHere(request.user); !here.ok()) return here;
    *reserved = {};
    for (uint32_t i = 0; i < request.items.size(); ++i) {
      (i == 0 || request.caps.empty() ? reserved->reserved : reserved->refused).push_back(i);
    }
    ++reservations;
    return {};
  }
  std::set<uint32_t> held;
  std::atomic<int> reservations{0};
  std::atomic<int> filters{0};

 private:
  Status CheckHere(const IdRef& user) const {
    if (held.contains(ShardOf(user))) return {};
    return Status::Unavailable("the shard is absent");
  }
};

/// A record of the log.
struct LogRow {
  cluster::LogKind kind;
  std::string key, value;
};

class SmallCluster;

/// One node. Its fake replicas apply what is in the log at once, unless they are held back.
class SmallNode {
 public:
  SmallNode(SmallCluster* of, std::string name);
  ~SmallNode() { Kill(); }

  /// The process ends: nobody listens.
  void Kill() {
    if (client_) client_->Stop();
    slow_appends_.clear();
    if (listener_) listener_->Stop();
    listener_.reset();
  }
  void Join();
  /// Applies the records of the partition that were not, and tells who waits.
  void Apply(uint32_t partition);
  void RenewTable();
  api::ApiService& service() { return *service_; }

  const std::string name;
  std::string url;
  PartEngine engine;
  bool lags = false;                          ///< applies nothing
  std::chrono::milliseconds append_takes{0};  ///< as Kafka does
  std::atomic<int> barriers{0}, served{0};
  std::atomic<int64_t> clock_ahead_ms{0};  ///< only forwards
  std::shared_ptr<proof::Proofs> proofs;
  std::map<std::string, cluster::NodeView> nodes;  // as seen from here
  std::unique_ptr<api::Context> context;
  std::unique_ptr<router::ClusterRouter> router;
  std::map<uint32_t, size_t> applied;

 private:
  struct Waiter {
    uint32_t partition;
    int64_t next_offset;
    replica::Time until;
    std::function<void(bool)> done;
  };
  router::RouterNode Functions();
  wire::Appended ApplyOne(const LogRow& row, int64_t offset);

  SmallCluster& of_;
  http::Limits limits_;
  ops::Health health_;
  ops::Metrics metrics_{api::RouteLabels()};
  std::unique_ptr<api::ApiService> service_;
  std::optional<http::Listener> listener_;
  std::optional<peers::PeerClient> client_;
  std::mutex table_mutex_;
  std::shared_ptr<const cluster::RoutingTable> table_;
  std::vector<std::jthread> slow_appends_;
};

/// Three nodes, two replicas of each partition: p of nodes p % 3 and (p + 1) % 3.
class SmallCluster : public ::testing::Test {
 public:
  std::vector<std::unique_ptr<SmallNode>> nodes;
  cluster::Meta meta;
  std::recursive_mutex mutex;  // of the log and the replicas
  std::map<uint32_t, std::vector<LogRow>> log;
  bool kafka_away = false;

 protected:
  void SetUp() override {
    int64_t offset = 0;
    const auto take = [&](const cluster::MetaRecord& record) {
      ASSERT_TRUE(meta.Apply(offset++, cluster::EncodeMeta(record)).ok());
    };
    take(cluster::InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                             .partitions = kPartitions,
                             .replicas = 2,
                             .hash = 1});
    for (const char* name : {"n1", "n2", "n3"}) {
      nodes.push_back(std::make_unique<SmallNode>(this, name));
      take(cluster::MemberRecord{.node = name,
                                 .url = nodes.back()->url,
                                 .zone = name,
                                 .log_version = cluster::kLogVersion});
    }
    cluster::PlacementRecord placement{-1, {}};
    for (uint32_t p = 0; p < kPartitions; ++p) {
      placement.assign.push_back({nodes[p % 3]->name, nodes[(p + 1) % 3]->name});
    }
    take(placement);
    for (const auto& node : nodes) {
      for (const auto& other : nodes) {
        cluster::NodeView& view = node->nodes[other->name];
        view.health.Answered();
        view.report.emplace().meta_offset = offset;
        for (uint32_t p = 0; p < kPartitions; ++p) {
          const auto& list = meta.placement().assign[p];
          if (std::find(list.begin(), list.end(), other->name) == list.end()) continue;
          view.report->replicas[p] = {cluster::ReplicaState::kServing, 0, 0};
          other->engine.held.insert(p);
        }
      }
    }
    for (const auto& node : nodes) node->Join();
  }
  void TearDown() override {
    for (const auto& node : nodes) node->Kill();
  }

  /// All nodes may write what the newest software knows.
  void FinishUpgrade() {
    const std::lock_guard lock(mutex);
    ASSERT_TRUE(meta.Apply(meta.next_offset(),
                           cluster::EncodeMeta(cluster::LogVersionRecord{cluster::kLogVersion}))
                    .ok());
  }

  /// What a client is answered.
  peers::PeerAnswer Ask(SmallNode& node, std::string method, std::string target,
                        std::string body = "", peers::Headers headers = {}) {
    const bool typed = std::any_of(headers.begin(), headers.end(),
                                   [](const auto& one) { return one.first == "Content-Type"; });
    if (!body.empty() && !typed) headers.emplace_back("Content-Type", "application/json");
    return AskBy(client_, node, std::move(method), std::move(target), std::move(body),
                 std::move(headers));
  }
  /// What a node is answered that is called `from`.
  peers::PeerAnswer AskAsNode(const std::string& from, SmallNode& node, std::string method,
                              std::string target, std::string body, peers::Headers headers) {
    const auto proofs = std::make_shared<proof::Proofs>(from);
    proofs->SetSecrets({kSecret});
    peers::PeerClient client(peers::PeerClientOptions{.proofs = proofs});
    headers.emplace_back("Content-Type", "application/json");
    return AskBy(client, node, std::move(method), std::move(target), std::move(body),
                 std::move(headers));
  }
  static Json Body(const peers::PeerAnswer& answer) {
    return Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  }
  /// A user of the partition.
  static std::string UserOf(uint32_t partition) {
    return std::string("u") + static_cast<char>('0' + partition);  // '0' is 48, a multiple of 4
  }
  static std::string FilterOf(const std::string& user, const std::string& more = "") {
    return R"({"user":")" + user + R"(","items":["a","b"])" + more + "}";
  }
  /// The node at a position of the partition's list.
  SmallNode& Replica(uint32_t partition, size_t at) { return *nodes[(partition + at) % 3]; }
  SmallNode& Stranger(uint32_t partition) { return *nodes[(partition + 2) % 3]; }

 private:
  static peers::PeerAnswer AskBy(peers::PeerClient& client, const SmallNode& node,
                                 std::string method, std::string target, std::string body,
                                 peers::Headers headers) {
    std::promise<peers::PeerAnswer> came;
    client.Ask({.node = node.name,
                .url = node.url,
                .method = std::move(method),
                .target = std::move(target),
                .headers = std::move(headers),
                .body = std::move(body),
                .timeout = std::chrono::milliseconds(20'000)},
               [&came](peers::PeerAnswer answer) { came.set_value(std::move(answer)); });
    return came.get_future().get();
  }

  peers::PeerClient client_{peers::PeerClientOptions{}};
};

inline SmallNode::SmallNode(SmallCluster* of, std::string the_name)
    : name(std::move(the_name)), of_(*of) {
  proofs = std::make_shared<proof::Proofs>(
      name, [this] { return SystemClock()->NowMs() + clock_ahead_ms; });
  proofs->SetSecrets({kSecret});
  context = std::make_unique<api::Context>(limits_, 100, &health_, &metrics_, nullptr);
  context->cluster =
      api::ClusterView{.report = [] { return Result<std::string>(std::string("{}")); },
                       .status = [] { return std::string("{}"); },
                       .proofs = proofs.get(),
                       .why_not_ready = "none"};
  service_ = std::make_unique<api::ApiService>(context.get());
  listener_.emplace(
      service_.get(),
      http::ListenerOptions{.limits = limits_, .threads = 1, .admission = &context->admission});
  EXPECT_EQ(listener_->Open("127.0.0.1", 0), std::nullopt);
  url = "http://" + listener_->address();
}

inline void SmallNode::Join() {
  client_.emplace(peers::PeerClientOptions{.proofs = proofs});
  RenewTable();
  router = std::make_unique<router::ClusterRouter>(context.get(), Functions(), &*client_);
  context->router = router.get();
  service_->EngineOpened(&engine);
  listener_->Start();
}

inline void SmallNode::RenewTable() {
  const std::lock_guard lock(table_mutex_);
  table_ = std::make_shared<cluster::RoutingTable>(name, of_.meta, nodes, table_.get());
}

inline wire::Appended SmallNode::ApplyOne(const LogRow& row, int64_t offset) {
  wire::Appended appended;
  appended.offset = offset;
  appended.applied = true;
  const Json json = Json::parse(row.value, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> texts;
  texts.reserve(10'000);
  const auto id = [&texts](const Json& value) {
    if (value.is_number()) return IdRef(value.get<uint64_t>());
    return IdRef(texts.emplace_back(value.get<std::string>()));
  };
  const auto at_of = [](const Json& from) {
    return from.contains("at") ? std::optional<int64_t>(from["at"].get<int64_t>()) : std::nullopt;
  };
  const auto keep = [&appended](Result<RecordResult> result) {
    appended.verdict = result.status();
    if (result.ok()) appended.recorded = *result;
  };
  simdjson::padded_string padded(row.value);
  const std::string_view value(padded);
  const std::string collection = json.is_object() ? json.value("collection", "default") : "";
  switch (row.kind) {
    case cluster::LogKind::kPlays:
    case cluster::LogKind::kPlaysGrouped: {
      std::vector<Play> plays;
      for (const Json& event : json["events"]) {
        plays.push_back({id(event["user"]), id(event["item"]), at_of(event)});
      }
      keep(engine.RecordPlays(plays, {collection}));
      break;
    }
    case cluster::LogKind::kImpressions:
    case cluster::LogKind::kImpressionsGrouped: {
      std::vector<Impression> served_now;
      const IdRef user = id(json["user"]);
      for (const Json& item : json["items"]) {
        served_now.push_back({user, id(item.is_object() ? item["id"] : item), at_of(json)});
      }
      keep(engine.RecordImpressions(served_now, {collection}));
      ++served;
      break;
    }
    case cluster::LogKind::kExposures: {
      std::vector<Exposure> exposures;
      for (const Json& event : json["events"]) {
        exposures.push_back({id(event["user"]), id(event["item"]), at_of(event)});
      }
      keep(engine.RecordExposures(exposures, {collection}));
      break;
    }
    case cluster::LogKind::kReserve: {
      wire::JsonDocument document;
      wire::ReserveCall promised;
      appended.verdict = wire::ParseReserve(value, 100, &document, &promised);
      if (appended.verdict.ok()) {
        appended.verdict = replica::Reserve(&engine, IdRef(row.key), promised);
      }
      break;
    }
    case cluster::LogKind::kMarks:
      appended.verdict = replica::PutMarks(&engine, IdRef(row.key), value, {}, &appended.recorded);
      break;
    case cluster::LogKind::kMarkDelete:
      appended.verdict =
          replica::DeleteMark(&engine, IdRef(row.key), value, {}, &appended.recorded);
      break;
    case cluster::LogKind::kUserSet:
      appended.verdict = replica::ChangeUserSet(&engine, IdRef(row.key), value, 5,
                                                &appended.user_set, &appended.recorded);
      break;
    case cluster::LogKind::kErase:
      appended.verdict = engine.EraseUser(IdRef(row.key), {.always = true}, &appended.erasure);
      break;
    case cluster::LogKind::kRecording:
      appended.verdict = engine.SetRecording(IdRef(row.key), json["paused"].get<bool>(), {});
      break;
    case cluster::LogKind::kHistoryClear:
      appended.verdict = engine.ClearHistory(IdRef(row.key), {});
      break;
    default:
      break;
  }
  return appended;
}

inline void SmallNode::Apply(uint32_t partition) {
  const std::lock_guard lock(of_.mutex);
  const auto& rows = of_.log[partition];
  while (!lags && applied[partition] < rows.size()) {
    const size_t at = applied[partition]++;
    static_cast<void>(ApplyOne(rows[at], static_cast<int64_t>(at)));
  }
}

inline router::RouterNode SmallNode::Functions() {
  router::RouterNode node;
  node.name = name;
  node.table = [this] {
    const std::lock_guard lock(table_mutex_);
    return table_;
  };
  node.note = [this](const std::string& other, router::Met met) {
    cluster::NodeHealth& health = nodes[other].health;
    if (met == router::Met::kServed) return health.Served();
    if (met == router::Met::kRefused) health.Refused();
    if (met == router::Met::kLost) health.Lost();
    RenewTable();
  };
  node.await = [this](uint32_t partition, int64_t next_offset, replica::Time until,
                      const std::function<void(bool)>& done) {
    while (true) {
      Apply(partition);
      {
        const std::lock_guard lock(of_.mutex);
        if (static_cast<int64_t>(applied[partition]) >= next_offset) break;
      }
      if (std::chrono::steady_clock::now() >= until) return done(false);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    done(true);
  };
  node.meta_offset = [this] { return of_.meta.next_offset(); };
  node.log_version = [this] {
    const std::lock_guard lock(of_.mutex);
    return of_.meta.log_version();
  };
  node.append = [this](const replica::NewRecord& record, replica::Time,
                       const std::function<void(Result<wire::Appended>)>& done) {
    Result<wire::Appended> result = Status::Unavailable("Kafka is away");
    {
      const std::lock_guard lock(of_.mutex);
      const Status may = cluster::CheckMayWrite(record.kind, of_.meta.log_version());
      if (!may.ok()) return done(may);
      if (!of_.kafka_away) {
        auto& rows = of_.log[record.partition];
        Apply(record.partition);
        rows.push_back({record.kind, std::string(record.key), std::string(record.value)});
        const auto offset = static_cast<int64_t>(rows.size()) - 1;
        if (lags) {
          result = wire::Appended();
          result->offset = offset;
        } else {
          result = ApplyOne(rows.back(), offset);
          ++applied[record.partition];
        }
      }
    }
    if (append_takes.count() == 0) return done(std::move(result));
    slow_appends_.emplace_back([takes = append_takes, done, result] {
      std::this_thread::sleep_for(takes);
      done(result);
    });
  };
  node.barrier = [this](uint32_t partition, replica::Time,
                        const std::function<void(Status)>& done) {
    ++barriers;
    if (of_.kafka_away) return done(Status::Unavailable("Kafka is away"));
    Apply(partition);
    done({});
  };
  node.commit = [](const cluster::MetaRecord&, std::chrono::milliseconds) {
    return Result<cluster::Meta>(Status::Unavailable("not in this test"));
  };
  return node;
}

}  // namespace seendb::test
