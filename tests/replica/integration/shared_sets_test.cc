// Sets for all users at two nodes, over librdkafka's own broker: what is put at one is at the
// other, and what a set had before goes out of the topic.

#include "replica/shared_sets.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "cluster/topic_writer.h"
#include "ingest/integration/mock_cluster.h"
#include "sets/piece_codec.h"
#include "support/hold.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

constexpr int kWaitMs = 30'000;
constexpr char kUuid[] = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f";

/// The keys that have a value in the end.
class LiveKeys final : public cluster::TopicSink {
 public:
  int64_t next_offset() const override { return next_offset_; }
  Status Take(std::span<const cluster::TopicRecord> records, int64_t next_offset) override {
    const MutexLock lock(mutex_);
    for (const cluster::TopicRecord& record : records) {
      if (record.value) {
        keys_.insert(std::string(record.key));
      } else {
        keys_.erase(std::string(record.key));
      }
    }
    next_offset_ = next_offset;
    return {};
  }
  Status BeginAnew() override { return {}; }
  void SetCurrent(bool) override {}
  size_t count() const { return keys().size(); }
  std::set<std::string> keys() const {
    const MutexLock lock(mutex_);
    return keys_;
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::set<std::string> keys_;
  std::atomic<int64_t> next_offset_{0};
};

class SharedSetsTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  SharedSetsTest() {
    char name[] = "/tmp/seendb-shared-sets-XXXXXX";
    folder_ = mkdtemp(name);
    auto watched = cluster::TopicFollower::Start({.access = {broker_.brokers(), {}},
                                                  .topic = "feed.sets",
                                                  .client = "test",
                                                  .sink = &live_,
                                                  .log = {}});
    EXPECT_TRUE(watched.ok());
    watching_ = std::move(watched).value();
  }
  ~SharedSetsTest() override {
    watching_.reset();
    for (auto& [name, node] : nodes_) Close(&node);
    std::filesystem::remove_all(folder_);
  }

  static void Close(std::unique_ptr<SharedSets>* node) {
    if (*node == nullptr) return;
    (*node)->Stop();
    EXPECT_TRUE((*node)->store()->Close().ok());
    node->reset();
  }
  /// Opens a node, or opens it again.
  SetStore& Node(const std::string& name) {
    Close(&nodes_[name]);
    SharedSetsOptions options;
    options.access.brokers = broker_.brokers();
    options.cluster = "feed";
    options.folder = folder_ + "/" + name;
    options.limits = limits_;
    options.log_version = [this] { return log_version_.load(); };
    options.cleans = [name, this] { return name == cleans_; };
    nodes_[name] = std::make_unique<SharedSets>(std::move(options));
    const Status started = nodes_[name]->Start(kUuid);
    EXPECT_TRUE(started.ok()) << started.ToString();
    SetStore& store = *nodes_[name]->store();
    Eventually([&] { return store.Ready().ok(); });
    return store;
  }
  static Result<SetInfo> Put(SetStore* store, std::string_view name, const Texts& items) {
    return store->Put(name, std::vector<IdRef>(items.begin(), items.end()));
  }
  static Texts Ids(const SetStore& store, std::string_view name) {
    const auto page = store.Read(name, "", kMaxSetPage);
    return page.ok() ? page->items : Texts{"none"};
  }
  static Texts Many(const std::string& prefix) {
    Texts texts;
    for (size_t i = 0; i < 9'000; ++i) texts.push_back(prefix + std::to_string(100'000 + i));
    return texts;
  }
  /// Pieces of a version as another node writes them, until it is killed.
  void Append(std::string_view name, const sets::Version& version, const Texts& texts, size_t begin,
              size_t end) {
    const std::vector<std::string_view> ids(texts.begin(), texts.end());
    const auto pieces = sets::CutPieces(name, version, ids);
    for (size_t i = begin; i < std::min(end, pieces.size()); ++i) {
      const std::string key = sets::KeyOf(pieces[i]), value = sets::EncodePiece(pieces[i]);
      const cluster::NewTopicRecord record{.key = key, .value = value};
      const auto last =
          cluster::AppendInOrder({broker_.brokers(), {}}, "feed.sets", {&record, 1}, kWaitMs);
      EXPECT_TRUE(last.ok()) << last.status().ToString();
    }
  }
  static void Eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + milliseconds(kWaitMs);
    while (!holds() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(holds());
  }

  MockCluster broker_{"feed.sets"};
  std::string folder_;
  std::atomic<uint32_t> log_version_{3};
  std::string cleans_;
  SharedSetsLimits limits_{.clean_every = milliseconds(200)};
  std::map<std::string, std::unique_ptr<SharedSets>> nodes_;
  LiveKeys live_;
  std::unique_ptr<cluster::TopicFollower> watching_;
};

TEST_F(SharedSetsTest, WhatIsPutAtOneNodeIsAtTheOther) {
  SetStore& a = Node("a");
  SetStore& b = Node("b");
  const auto put = Put(&a, "blocked:eu", Many("v"));
  ASSERT_TRUE(put.ok()) << put.status().ToString();
  EXPECT_EQ(put->count, 9'000u);
  EXPECT_EQ(Ids(a, "blocked:eu"), Many("v")) << "at once";
  Eventually([&] { return Ids(b, "blocked:eu") == Many("v"); });
  Eventually([&] { return live_.count() == 3; });
  ASSERT_TRUE(Put(&b, "blocked:eu", {"x"}).ok());
  Eventually([&] { return Ids(a, "blocked:eu") == Texts{"x"}; });
  Eventually([&] { return live_.count() == 1; });
  const auto before = live_.keys();
  ASSERT_TRUE(a.Delete("blocked:eu").ok());
  EXPECT_EQ(a.Find("blocked:eu"), nullptr);
  Eventually([&] { return b.Find("blocked:eu") == nullptr; });
  Eventually([&] { return live_.count() == 1 && live_.keys() != before; });  // the deletion
  EXPECT_EQ(a.Delete("blocked:eu").code(), StatusCode::kNotFound);
  SetStore& c = Node("c");
  EXPECT_EQ(c.Find("blocked:eu"), nullptr);
}

TEST_F(SharedSetsTest, ANodeThatWasAwayReadsOn) {
  SetStore& a = Node("a");
  ASSERT_TRUE(Put(&Node("b"), "s", {"former"}).ok());
  Eventually([&] { return Ids(a, "s") == Texts{"former"}; });
  Close(&nodes_["b"]);
  ASSERT_TRUE(Put(&a, "s", Many("v")).ok());
  ASSERT_TRUE(Put(&a, "t", {"t"}).ok());
  SetStore& b = Node("b");
  EXPECT_EQ(Ids(b, "s"), Many("v"));
  EXPECT_EQ(Ids(b, "t"), Texts{"t"});
}

TEST_F(SharedSetsTest, NothingIsWrittenBeforeTheUpgradeIsFinished) {
  log_version_ = 2;
  SetStore& a = Node("a");
  const auto refused = Put(&a, "s", {"x"});
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.status().message().find("upgrade --finish"), std::string_view::npos);
  EXPECT_FALSE(watching_->WaitFor(1, milliseconds(500)));
  log_version_ = 3;
  EXPECT_TRUE(Put(&a, "s", {"x"}).ok());
}

TEST_F(SharedSetsTest, WhatIsBeingPutEndsWithTheNode) {
  SetStore& a = Node("a");
  rd_kafka_mock_broker_set_down(broker_.mock(), 1);
  const auto begun = std::chrono::steady_clock::now();
  Status put;
  std::thread writer([&] { put = Put(&a, "s", {"x"}).status(); });
  std::this_thread::sleep_for(milliseconds(300));
  nodes_["a"]->Stop();
  writer.join();
  EXPECT_EQ(put.code(), StatusCode::kUnavailable) << put.ToString();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, limits_.append / 2);
}

// A writer was killed before it took the former pieces away, and another one between two pieces.
TEST_F(SharedSetsTest, WhatNobodyFinishesIsTakenAwayByOneNode) {
  limits_.clean_every = milliseconds(50);
  limits_.old = milliseconds(300);
  cleans_ = "b";
  SetStore& a = Node("a");
  Append("s", {1, 1}, {"former"}, 0, 1);
  Append("s", {1, 2}, {"x"}, 0, 1);
  Append("s", {1, 3}, Many("y"), 0, 1);
  Eventually([&] { return live_.count() == 3; });
  SetStore& b = Node("b");
  Eventually([&] { return live_.count() == 1; });
  Eventually([&] { return Ids(a, "s") == Texts{"x"}; });
  EXPECT_EQ(Ids(b, "s"), Texts{"x"});
}

// The node stands still between two pieces of a set that all others have.
TEST_F(SharedSetsTest, ANodeThatIsBehindTakesNothingAway) {
  SEENDB_NEEDS_PAUSE_POINTS();
  limits_.clean_every = milliseconds(50);
  limits_.old = limits_.apply = milliseconds(300);
  cleans_ = "b";
  SetStore& b = Node("b");
  Append("s", {1, 1}, Many("y"), 0, 1);
  Eventually([&] { return dynamic_cast<SetLog&>(b).next_offset() == 1; });
  Hold hold("sets: entries came");
  Append("s", {1, 1}, Many("y"), 1, 3);
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_FALSE(watching_->WaitFor(4, milliseconds(1'500)))
      << "nothing is written behind its pieces";
  hold.Release();
  Eventually([&] { return Ids(b, "s") == Many("y"); });
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
