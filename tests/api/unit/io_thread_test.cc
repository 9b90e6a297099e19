// Requests that leave the I/O thread: for a disk, and filters for their user's turn.

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "api/unit/service_fixture.h"
#include "http/wait.h"
#include "wire/unit/padded.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

using test::Method;
using test::ServiceTest;

/// A wait whose end the test says.
class SaidWait final : public http::Waiting {
 public:
  std::function<void(std::shared_ptr<void>)> Resume() override {
    return [](const std::shared_ptr<void>&) {};
  }
  Came Take() override { return {}; }
};

class IoThreadTest : public ServiceTest {
 protected:
  /// Hands `POST /filter` to the service on a thread of `executor`; whether it asks for a turn on
  /// a worker, which it gets.
  bool Moves(std::string_view body, http::Executor executor, std::string_view content_type = "") {
    http::RequestHead head;
    head.method = Method::kPost;
    head.target = content_type.empty() ? "/filter" : "/filter?user=u&ids=u64";
    head.content_type = content_type;
    head.content_length = body.size();
    http::Plan plan = service_->Begin(head);
    EXPECT_EQ(plan.executor, http::Executor::kInline);
    plan.executor = executor;
    const test::Padded padded(body);
    const http::Request request{head, padded.view()};
    http::Response response;
    http::TaskRun run(nullptr);
    run.Begin(service_->Handle(plan, request, &response));
    run.GoOn();
    const bool moves = static_cast<bool>(run);
    if (moves) {
      EXPECT_TRUE(response.body.empty());
      ExpectTurn(run, http::Executor::kEngine);
      run.GoOn();
    }
    EXPECT_FALSE(run);
    EXPECT_EQ(response.status, 200u) << response.body;
    EXPECT_FALSE(response.body.empty());
    return moves;
  }

  static void ExpectTurn(const http::TaskRun& run, http::Executor executor) {
    ASSERT_NE(run.wait(), nullptr);
    EXPECT_EQ(run.wait()->what, http::Wait::For::kTurn);
    EXPECT_EQ(run.wait()->executor, executor);
  }
};

TEST_F(IoThreadTest, RecordingToASyncedCollectionLeavesTheIoThread) {
  ASSERT_EQ(Ask(Method::kPut, "/collections/s", R"({"durability":"sync"})").status, 200u);
  const char* const record = R"({"user":"u","items":[1],"collection":"s","record":true})";
  EXPECT_TRUE(Moves(record, http::Executor::kInline));
  EXPECT_FALSE(Moves(record, http::Executor::kEngine));
  EXPECT_FALSE(Moves(R"({"user":"u","items":[1],"collection":"s"})", http::Executor::kInline));
  EXPECT_FALSE(Moves(R"({"user":"u","items":[1],"record":true})", http::Executor::kInline));
}

TEST_F(IoThreadTest, WhatMemoryCanNotAnswerLeavesTheIoThread) {
  engine_.cold = true;
  const std::string_view json = R"({"user":"u","items":[1]})";
  const std::string_view recording = R"({"user":"u","items":[1],"record":true})";
  const std::string_view binary("\1\0\0\0\0\0\0\0", 8);
  for (const http::Executor executor : {http::Executor::kInline, http::Executor::kEngine}) {
    const bool on_io_thread = executor == http::Executor::kInline;
    EXPECT_EQ(Moves(json, executor), on_io_thread);
    EXPECT_EQ(Moves(recording, executor), on_io_thread);
    EXPECT_EQ(Moves(binary, executor, "application/octet-stream"), on_io_thread);
  }
}

TEST_F(IoThreadTest, ARequestThatMovesKeepsItsTurn) {
  engine_.cold = engine_.turn_taken = true;
  const std::string_view recording = R"({"user":"u","items":[1],"record":true})";
  http::RequestHead head;
  head.method = Method::kPost;
  head.target = "/filter";
  head.content_length = recording.size();
  const http::Plan plan = service_->Begin(head);
  const test::Padded padded(recording);
  SaidWait waiting;
  const http::Request request{head, padded.view(), &waiting};
  http::Response response;
  http::TaskRun run(&waiting);
  run.Begin(service_->Handle(plan, request, &response));
  run.GoOn();
  ASSERT_NE(run.wait(), nullptr);
  EXPECT_EQ(run.wait()->what, http::Wait::For::kGiven);
  const auto turn = std::make_shared<int>();
  run.wait()->came = {turn, 700};
  run.GoOn();
  ExpectTurn(run, http::Executor::kInline);
  run.GoOn();
  ExpectTurn(run, http::Executor::kEngine);
  run.GoOn();
  EXPECT_FALSE(run);
  EXPECT_EQ(engine_.turn_used, turn);
  EXPECT_EQ(response.status, 200u) << response.body;
}

// Where a user's record is not in memory.
TEST_F(IoThreadTest, PlaysAndImpressionsThatNeedTheDiskLeaveTheIoThread) {
  engine_.cold = true;
  for (const auto& [target, body] : {std::pair("/plays", R"({"events":[{"user":"u","item":1}]})"),
                                     std::pair("/impressions", R"({"user":"u","items":[1]})")}) {
    http::RequestHead head;
    head.method = Method::kPost;
    head.target = target;
    head.content_length = std::string_view(body).size();
    const http::Plan plan = service_->Begin(head);
    ASSERT_EQ(plan.executor, http::Executor::kInline);
    const test::Padded padded(body);
    const http::Request request{head, padded.view()};
    http::Response response;
    http::TaskRun run(nullptr);
    run.Begin(service_->Handle(plan, request, &response));
    run.GoOn();
    ExpectTurn(run, http::Executor::kEngine);
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(engine_.batches, 0u);
    run.GoOn();
    EXPECT_FALSE(run);
    EXPECT_EQ(response.status, 200u) << response.body;
    EXPECT_EQ(std::exchange(engine_.batches, 0), 1u);
  }
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
