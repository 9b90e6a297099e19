// Two nodes of a cluster in one process, each with an engine; one of them answers over a real
// listener.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "api/routes.h"
#include "api/service.h"
#include "http/listener.h"
#include "proof/proofs.h"
#include "seams.h"
#include "seendb/engine.h"
#include "transfer/fetcher.h"
#include "transfer/snapshot_routes.h"
#include "transfer/snapshots.h"

namespace seendb::transfer {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

inline constexpr char kSecret[] = "a secret of the cluster";

/// Those of a node that knows the secret.
inline std::shared_ptr<proof::Proofs> ProofsOf(const std::string& node,
                                               const std::string& secret = kSecret) {
  auto proofs = std::make_shared<proof::Proofs>(node);
  proofs->SetSecrets({secret});
  return proofs;
}

/// A folder of its own for each test.
class TransferTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kShards = 3, kShard = 1;

  TransferTest() {
    std::string pattern = (fs::temp_directory_path() / "seendb-transfer-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    source_db_ = dir_ + "/source";
    target_db_ = dir_ + "/target";
    options_.background = false;
    options_.shards = kShards;
    options_.default_policy.history.enabled = true;  // then the log has the ids, which are long
  }
  ~TransferTest() override {
    source_.reset();
    target_.reset();
    fs::remove_all(dir_);
  }

  static std::unique_ptr<Engine> Open(const std::string& db, const Options& options) {
    Result<std::unique_ptr<Engine>> opened = Engine::Open(db, options);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? std::move(opened).value() : nullptr;
  }
  static std::string Item(uint32_t number) {
    return "item-" + std::to_string(number) + std::string(180, 'x');
  }
  /// A user of the shard that moves.
  std::string UserOf(uint32_t number) const {
    for (uint32_t i = 0;; ++i) {
      std::string user = "user-" + std::to_string(i);
      if (source_->ShardOf(IdRef(user)) == kShard && number-- == 0) return user;
    }
  }
  void Play(Engine* engine, const std::string& user, uint32_t from, uint32_t count) const {
    std::vector<std::string> items;
    std::vector<seendb::Play> plays;
    for (uint32_t i = 0; i < count; ++i) items.push_back(Item(from + i));
    for (const std::string& item : items) plays.push_back({IdRef(user), IdRef(item), {}});
    const auto result = engine->RecordPlays(plays);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
  }
  static size_t Unseen(Engine* engine, const std::string& user, uint32_t count) {
    std::vector<std::string> items;
    std::vector<IdRef> ids;
    for (uint32_t i = 0; i < count; ++i) items.push_back(Item(i));
    for (const std::string& item : items) ids.emplace_back(item);
    FilterRequest request;
    request.user = IdRef(user);
    request.items = ids;
    FilterResponse answer;
    const Status status = engine->Filter(request, &answer);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return answer.unseen.size();
  }
  /// The source has tables and a log of several pieces; the target lacks the shard.
  void OpenBoth() {
    source_ = Open(source_db_, options_);
    ASSERT_NE(source_, nullptr);
    const Result<CheckpointReport> copied = source_->Checkpoint(target_db_);
    ASSERT_TRUE(copied.ok()) << copied.status().ToString();
    target_ = Open(target_db_, options_);
    ASSERT_NE(target_, nullptr);
    ASSERT_TRUE(target_->DetachShard(kShard, Detached::kRemoved).ok());
    Fill(source_.get());
  }
  void Fill(Engine* engine) const {
    for (uint32_t user = 0; user < 5; ++user) Play(engine, UserOf(user), 0, 500);
    ASSERT_TRUE(engine->Drain().ok());
    ASSERT_TRUE(engine->Compact().ok());
    for (uint32_t user = 0; user < 20; ++user) Play(engine, UserOf(user), 500, 1'000);
  }
  CopyRequest RequestOf(const std::string& node) const {
    const Result<CopyKind> kind = ReadKind(source_db_);
    EXPECT_TRUE(kind.ok()) << kind.status().ToString();
    return {node, *kind};
  }
  /// What lies in the folder for copies that are on their way.
  static std::vector<std::string> InTransit(const std::string& db) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& one : fs::directory_iterator(db + "/" + kTransitName, none)) {
      names.push_back(one.path().filename().string());
    }
    return names;
  }
  static std::string Contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::map<std::string, std::string> Files(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& one : fs::directory_iterator(folder)) {
      files[one.path().filename().string()] = Contents(one.path());
    }
    return files;
  }

  std::string dir_, source_db_, target_db_;
  Options options_;
  std::unique_ptr<Engine> source_, target_;
};

/// The source's server.
class SourceServer {
 public:
  /// `port` 0: any.
  SourceServer(Engine* engine, SnapshotSettings settings, uint16_t port = 0)
      : context_(limits_, 100, &health_, &metrics_, nullptr),
        service_(&context_),
        snapshots_(std::move(settings)),
        listener_(&service_, {.limits = limits_}) {
    context_.cluster =
        api::ClusterView{.report = [] { return Result<std::string>(std::string("{}")); },
                         .status = [] { return std::string("{}"); },
                         .proofs = proofs_.get(),
                         .why_not_ready = "none",
                         .snapshots =
                             [this](api::Call& call) {
                               const bool piece = call.request.head.method == http::Method::kGet;
                               if (!piece || ++pieces_ <= allowed_) {
                                 return AnswerSnapshotCall(&snapshots_, call);
                               }
                               call.Refuse(Status::Unavailable("later"));
                               return http::Task<>();
                             }};
    service_.EngineOpened(engine);
    const Status started = snapshots_.Start(engine);
    EXPECT_TRUE(started.ok()) << started.ToString();
    const std::optional<std::string> failed = listener_.Open("127.0.0.1", port);
    EXPECT_FALSE(failed) << *failed;
    listener_.Start();
  }
  ~SourceServer() { Stop(); }

  void Stop() {
    snapshots_.Stop();
    listener_.BeginDrain();
    listener_.StopWorkers(10'000);
    listener_.Stop();
  }
  Snapshots& snapshots() { return snapshots_; }
  std::string url() const { return "http://" + listener_.address(); }
  Giver giver() const { return {"n1", url()}; }
  uint16_t port() const { return http::ParseHostPort(listener_.address())->second; }
  /// From now on no piece is given behind so many.
  void Allow(int pieces) { allowed_ = pieces; }
  /// Pieces that were asked for.
  int pieces() const { return pieces_; }
  void WaitForPieces(int count) const {
    while (pieces_ < count) std::this_thread::sleep_for(milliseconds(1));
  }

 private:
  const std::shared_ptr<proof::Proofs> proofs_ = ProofsOf("n1");
  http::Limits limits_;
  ops::Health health_;
  ops::Metrics metrics_{api::RouteLabels()};
  api::Context context_;
  api::ApiService service_;
  std::atomic<int> pieces_{0}, allowed_{1'000'000};
  Snapshots snapshots_;
  http::Listener listener_;
};

inline bool Never() { return false; }

}  // namespace seendb::transfer
