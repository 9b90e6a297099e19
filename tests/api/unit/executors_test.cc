// The routes behind a listener: which of them still answer when others hold all their workers.

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/service.h"
#include "http/unit/listener_fixture.h"
#include "support/fake_engine.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using http::Peer;

/// Inspections, compactions and checkpoints wait until released.
class StuckEngine final : public test::FakeEngine {
 public:
  Result<UserReport> Inspect(IdRef, std::string_view) override {
    Wait();
    return UserReport();
  }
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    if (request.verify && request.memory_only) {  // as the engine does
      response->needs_disk = true;
      return Status(StatusCode::kIncomplete, "memory does not tell");
    }
    if (request.verify) Wait();
    return FakeEngine::Filter(request, response);
  }
  Status Compact() override {
    Wait();
    return Status::Ok();
  }
  Result<CheckpointReport> Checkpoint(const std::string& dir, const CheckpointAlso& also) override {
    Wait();
    return FakeEngine::Checkpoint(dir, also);
  }

  void Release() { release_.set_value(); }
  std::atomic<int> waiting{0};

 private:
  void Wait() {
    ++waiting;
    released_.wait();
  }

  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
};

class ExecutorsTest : public testing::Test {
 protected:
  void Start(http::Limits limits = {}) {
    context_.emplace(limits, 100, &health_, &metrics_, nullptr);
    context_->checkpoints = testing::TempDir() + "no_such_folder";
    service_.emplace(&*context_);
    service_->EngineOpened(&engine_);
    listener_.emplace(
        &*service_,
        http::ListenerOptions{.limits = limits, .workers = {.engine = 3, .slow = 2, .probe = 1}});
    ASSERT_EQ(listener_->Open("127.0.0.1", 0), std::nullopt);
    listener_->Start();
  }
  // Sends a request that waits, whose answer is read later.
  void Send(const std::string& request) {
    const int64_t before = listener_->counters().in_flight;
    peers_.push_back(std::make_unique<Peer>(listener_->address()));
    peers_.back()->Send(request);
    while (listener_->counters().in_flight == before) std::this_thread::yield();
  }
  void SendCheckpoint(const std::string& name) {
    Send(http::Post("/admin/checkpoint", "{\"name\":\"" + name + "\"}"));
  }
  std::string Answer(const std::string& request) {
    Peer peer(listener_->address());
    peer.Send(request);
    return peer.ReadUntil("\r\n\r\n", std::chrono::milliseconds(5'000));
  }
  std::string AnswerOf(size_t sent) { return peers_[sent]->ReadUntil("\r\n\r\n"); }
  void Await(int waiting) {
    while (engine_.waiting < waiting) std::this_thread::yield();
  }

  StuckEngine engine_;
  ops::Health health_;
  ops::Metrics metrics_{RouteLabels()};
  std::optional<Context> context_;
  std::optional<ApiService> service_;
  std::optional<http::Listener> listener_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

TEST_F(ExecutorsTest, ProbesAreAnsweredWhileAllOtherWorkersAreStuck) {
  Start();
  for (int i = 0; i < 6; ++i) Send(http::Get("/users/u"));
  for (int i = 0; i < 4; ++i) Send(http::Post("/admin/compact", "{}"));
  Await(5);
  for (int i = 0; i < 5; ++i) {
    for (const char* path : {"/", "/readyz", "/metrics", "/healthz", "/openapi.json"}) {
      EXPECT_NE(Answer(http::Get(path)).find("200 OK"), std::string::npos) << path;
    }
  }
  EXPECT_EQ(engine_.waiting, 5);
  engine_.Release();
  for (size_t i = 0; i < peers_.size(); ++i) {
    EXPECT_NE(AnswerOf(i).find("200 OK"), std::string::npos);
  }
}

// A hundred thousand hits to be looked up took the I/O thread a third of a second.
TEST_F(ExecutorsTest, AFilterThatVerifiesHoldsNoIoThread) {
  Start();
  Send(http::Post("/filter", R"({"user":"u","items":[1,2],"verify":true})"));
  Await(1);
  EXPECT_NE(Answer(http::Get("/healthz")).find("200 OK"), std::string::npos);
  EXPECT_NE(Answer(http::Post("/filter", R"({"user":"u","items":[1,2]})")).find("200 OK"),
            std::string::npos);
  engine_.Release();
  EXPECT_NE(AnswerOf(0).find("200 OK"), std::string::npos);
}

TEST_F(ExecutorsTest, AScrapeIsAnsweredWhileASampleHangs) {
  Start();
  context_->samples_in_background = true;
  for (int i = 0; i < 256; ++i) context_->sampler.Mention("default", IdRef("u"));
  std::thread sampling([&] { context_->sampler.Sample(&engine_); });
  Await(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(Answer(http::Get("/metrics")).find("200 OK"), std::string::npos);
  }
  engine_.Release();
  sampling.join();
  Peer peer(listener_->address());
  peer.Send(http::Get("/metrics", "Connection: close\r\n"));
  EXPECT_NE(peer.ReadToEnd().find("seendb_filter_fpr_estimate{collection=\"default\"} 0\n"),
            std::string::npos);
}

TEST_F(ExecutorsTest, CheckpointsThatWaitHoldNoWorker) {
  Start();
  for (int i = 0; i < 5; ++i) SendCheckpoint("c" + std::to_string(i));
  Await(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(Answer(http::Get("/collections")).find("200 OK"), std::string::npos);
  }
  EXPECT_EQ(engine_.waiting, 1);
  engine_.Release();
  for (size_t i = 0; i < 5; ++i) EXPECT_NE(AnswerOf(i).find("200 OK"), std::string::npos) << i;
  ASSERT_EQ(engine_.checkpoints.size(), 5u);
  EXPECT_TRUE(listener_->WaitIdle(10'000));
  EXPECT_NE(Answer(http::Post("/admin/checkpoint", "{\"name\":\"more\"}")).find("200 OK"),
            std::string::npos);
}

TEST_F(ExecutorsTest, TooManyCheckpointsThatWaitAreRefused) {
  Start({.queue = 1});
  SendCheckpoint("first");
  Await(1);
  SendCheckpoint("second");  // it waits; one worker takes both, in their order
  EXPECT_NE(Answer(http::Post("/admin/checkpoint", "{\"name\":\"third\"}")).find("503"),
            std::string::npos);
  engine_.Release();
  EXPECT_NE(AnswerOf(0).find("200 OK"), std::string::npos);
  EXPECT_NE(AnswerOf(1).find("200 OK"), std::string::npos);
}

TEST_F(ExecutorsTest, CheckpointsThatWaitAreRefusedOnceTheWorkersStop) {
  Start();
  SendCheckpoint("first");
  Await(1);
  SendCheckpoint("second");
  SendCheckpoint("third");
  ASSERT_NE(Answer(http::Post("/admin/drop-expired", "{}")).find("200 OK"), std::string::npos)
      << "the other worker of kSlow has seen those before";
  EXPECT_FALSE(listener_->StopWorkers(0));
  engine_.Release();
  EXPECT_NE(AnswerOf(0).find("200 OK"), std::string::npos);
  EXPECT_NE(AnswerOf(1).find("503"), std::string::npos);
  EXPECT_NE(AnswerOf(2).find("503"), std::string::npos);
  EXPECT_TRUE(listener_->StopWorkers(10'000));
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
