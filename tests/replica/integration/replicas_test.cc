// A node's replicas: shards by placement, the log applied to them, records appended and awaited.

#include "replica/integration/replicas_fixture.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using cluster::LogKind;
using cluster::ReplicaState;

TEST_F(ReplicasTest, ANodeHoldsWhatThePlacementSaysAndTicks) {
  StartAndServe();
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{0, 1, 2}));
  const int64_t before = NextOffset(0);
  Eventually([&] { return NextOffset(0) > before; });
  EXPECT_TRUE(replicas_->Problems().empty());
}

TEST_F(ReplicasTest, WhoeverAsksReplicasIsToldOnceTheyServe) {
  StartAndServe();
  Eventually([this] { return serving_when_told_ == 3; });
}

/// Here only the thread stands still that would notice it by itself.
TEST_F(ReplicasTest, WhoeverAsksFirstFindsOutThatTheProcessStoodStill) {
  std::promise<void> promise;
  const std::shared_future<void> goes_on = promise.get_future().share();
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<bool> stands_still{false}, told_here{false};
  states_changed_ = [&] {
    if (std::this_thread::get_id() == here) told_here = true;
    if (serving_when_told_ == 3 && !stands_still.exchange(true)) goes_on.wait();
  };
  StartAndServe();
  Eventually([&] { return stands_still.load(); });
  Eventually([&] {
    replicas_->Watch();
    return told_here.load();
  });
  EXPECT_EQ(CountServing(), 0U);
  EXPECT_EQ(replicas_->Report().at(0).state, ReplicaState::kBehind);
  promise.set_value();
  Eventually([this] { return CountServing() == 3; });
  Stop();  // before what states_changed_ refers to goes
}

TEST_F(ReplicasTest, WhatIsAppendedIsVisibleOnceItIsTold) {
  StartAndServe();
  const std::string user = UserOf(1);
  const Result<Appended> done = Append(LogKind::kPlays, user, PlayOf(user, "v"));
  ASSERT_TRUE(done.ok()) << done.status().ToString();
  ASSERT_TRUE(done->applied);
  EXPECT_TRUE(done->verdict.ok()) << done->verdict.ToString();
  EXPECT_EQ(done->recorded.accepted, 1U);
  EXPECT_TRUE(IsSeen(user, "v"));
  EXPECT_FALSE(IsSeen(user, "w"));
  EXPECT_GT(NextOffset(1), done->offset);
}

TEST_F(ReplicasTest, EachEventHasItsVerdict) {
  StartAndServe();
  const std::string user = UserOf(0);
  const Result<Appended> done =
      Append(LogKind::kPlays, user,
             R"({"events":[{"user":")" + user + R"(","item":"v","at":1},{"user":")" + user +
                 R"(","item":"w"}]})");
  ASSERT_TRUE(done.ok() && done->applied);
  EXPECT_EQ(done->recorded.accepted, 1U);
  EXPECT_EQ(done->recorded.refused, 1U);
  ASSERT_EQ(done->recorded.refusals.size(), 1U);
  EXPECT_EQ(done->recorded.refusals[0].index, 0U);
  EXPECT_EQ(done->recorded.refusals[0].reason, RefusalReason::kTooOld);
  const Result<Appended> none =
      Append(LogKind::kPlays, user, R"({"events":[{"user":"u","item":"v"}],"collection":"video"})");
  ASSERT_TRUE(none.ok() && none->applied);
  EXPECT_EQ(none->verdict.code(), StatusCode::kNotFound);
  const Result<Appended> strange = Append(LogKind::kPlays, user, PlayOf(UserOf(1), "v"));
  ASSERT_TRUE(strange.ok() && strange->applied);
  EXPECT_EQ(strange->verdict.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(replicas_->Problems().empty());
}

TEST_F(ReplicasTest, CommandsGoByTheirArrival) {
  StartAndServe();
  const std::string user = UserOf(2);
  for (const char* item : {"v", "w"}) {
    ASSERT_TRUE(Append(LogKind::kPlays, user, PlayOf(user, item))->applied);
  }
  ASSERT_TRUE(Append(LogKind::kHistoryDelete, user, R"({"items":["v"]})")->verdict.ok());
  HistoryPage page;
  ASSERT_TRUE(engine_->ReadHistory({.user = IdRef(user)}, &page).ok());
  EXPECT_EQ(page.entries.size(), 1U);
  ASSERT_TRUE(Append(LogKind::kHistoryClear, user, R"({"filter":true})")->verdict.ok());
  EXPECT_FALSE(IsSeen(user, "w"));
  ASSERT_TRUE(Append(LogKind::kRecording, user, R"({"paused":true})")->verdict.ok());
  EXPECT_TRUE(engine_->GetRecording(IdRef(user))->paused);
  ASSERT_TRUE(Append(LogKind::kPlays, user, PlayOf(user, "x"))->applied);
  const int64_t before_ms = NowMs();
  const Result<Appended> erased = Append(LogKind::kErase, user, "");
  ASSERT_TRUE(erased.ok() && erased->applied);
  EXPECT_TRUE(erased->erasure.written);
  EXPECT_GE(erased->erasure.until_ms, before_ms);
  EXPECT_FALSE(IsSeen(user, "x"));
  // It arrived before the erasure, and comes behind it in the log.
  WritePlay(user, "late", before_ms);
  ASSERT_TRUE(Append(LogKind::kTick, user, "")->applied);
  EXPECT_FALSE(IsSeen(user, "late"));
}

TEST_F(ReplicasTest, WhatOthersWroteIsThereAfterARestartToo) {
  StartAndServe();
  const std::string user = UserOf(0);
  WritePlay(user, "v", NowMs());
  Eventually([&] { return IsSeen(user, "v"); });
  Stop();
  Start();
  EXPECT_TRUE(IsSeen(user, "v"));
  EXPECT_NE(replicas_->Report().at(0).state, ReplicaState::kServing);
  WritePlay(user, "w", NowMs());
  Eventually([&] { return CountServing() == 3; });
  Eventually([&] { return IsSeen(user, "w"); });
  uint64_t accepted = 0;
  for (const SourceInfo& source : engine_->Sources()) accepted += source.counts.plays_accepted;
  EXPECT_EQ(accepted, 2U);
}

TEST_F(ReplicasTest, APlainMessageIsAnEvent) {
  StartAndServe();
  const std::string user = UserOf(0);
  Write(0, nullptr, user, R"({"user":")" + user + R"(","item":"v"})");
  Eventually([&] { return IsSeen(user, "v"); });
  Write(0, nullptr, user, "no event");
  ASSERT_TRUE(Append(LogKind::kTick, user, "")->applied);
}

// It may be an erasure: nothing behind it is applied, and other partitions go on.
TEST_F(ReplicasTest, AnUnknownRecordStopsItsShardAlone) {
  StartAndServe();
  const std::string user = UserOf(0), other = UserOf(1);
  std::string header = cluster::EncodeLogHeader({LogKind::kTick, NowMs(), 5});
  header[1] = 99;
  Write(0, &header, "", "");
  Eventually([&] { return replicas_->Report().at(0).state == ReplicaState::kBehind; });
  const int64_t stopped = NextOffset(0);
  WritePlay(user, "v", NowMs());
  const Result<Appended> behind = Append(LogKind::kPlays, user, PlayOf(user, "w"));
  ASSERT_TRUE(behind.ok());
  EXPECT_FALSE(behind->applied);
  EXPECT_TRUE(Append(LogKind::kPlays, other, PlayOf(other, "v"))->applied);
  EXPECT_FALSE(IsSeen(user, "v"));
  EXPECT_EQ(NextOffset(0), stopped);
  ASSERT_EQ(replicas_->Problems().size(), 1U);
  EXPECT_NE(replicas_->Problems()[0].find("partition 0"), std::string::npos);
  EXPECT_NE(replicas_->Problems()[0].find("kind 99"), std::string::npos);
}

TEST_F(ReplicasTest, CollectionsFollowTheirRecords) {
  StartAndServe();
  const std::string user = UserOf(0);
  const std::string body =
      R"({"events":[{"user":")" + user + R"(","item":"v"}],"collection":"video"})";
  Meta(R"({"v":1,"kind":"collection","name":"video","patch":{"window":3},"at_ms":)" +
       std::to_string(NowMs() - 1) + "}");
  ASSERT_TRUE(Append(LogKind::kPlays, user, body)->verdict.ok());
  EXPECT_TRUE(IsSeen(user, "v", "video"));
  Meta(R"({"v":1,"kind":"collection_gone","name":"video","at_ms":2})");
  Eventually([&] { return engine_->Collections().size() == 1; });
  Meta(R"({"v":1,"kind":"collection","name":"video","patch":{"window":4},"at_ms":)" +
       std::to_string(NowMs() + 3'600'000) + "}");
  Eventually([&] { return engine_->Collections().size() == 2; });
  EXPECT_EQ(engine_->Collections()[1].making, 6U);
  // It arrived before that one was made.
  EXPECT_EQ(Append(LogKind::kPlays, user, body)->verdict.code(), StatusCode::kNotFound);
  EXPECT_FALSE(IsSeen(user, "v", "video"));
}

// The clock of the node that made it was an hour ahead. Until all nodes can read it, records say
// nothing but when they arrived.
TEST_F(ReplicasTest, WhatWasWrittenBehindTheMakingCountsWhateverClocksSay) {
  StartAndServe();
  const std::string user = UserOf(0);
  const std::string body =
      R"({"events":[{"user":")" + user + R"(","item":"v"}],"collection":"video"})";
  Meta(R"({"v":1,"kind":"collection","name":"video","patch":{},"at_ms":)" +
       std::to_string(NowMs() + 3'600'000) + "}");
  EXPECT_EQ(Append(LogKind::kPlays, user, body)->verdict.code(), StatusCode::kNotFound);
  for (const std::string node : {"n1", "n2"}) {
    Meta(R"({"v":1,"kind":"member","node":")" + node + R"(","url":"http://h:1","zone":")" + node +
         R"(","weight":1,"build":"2","log_version":2})");
  }
  Meta(R"({"v":1,"kind":"log_version","version":2})");
  ASSERT_TRUE(Append(LogKind::kPlays, user, body)->verdict.ok());
  EXPECT_TRUE(IsSeen(user, "v", "video"));
  // Written before a later one of that name was made.
  const int64_t before = meta_.load()->next_offset();
  Meta(R"({"v":1,"kind":"collection_gone","name":"video","at_ms":2})");
  Meta(R"({"v":1,"kind":"collection","name":"video","patch":{},"at_ms":3})");
  const std::string header = cluster::EncodeLogHeader({LogKind::kPlays, NowMs(), nonce_++, before});
  Write(0, &header, user, body);
  ASSERT_TRUE(Append(LogKind::kTick, user, "")->applied);
  EXPECT_FALSE(IsSeen(user, "v", "video"));
}

// Records of X.meta that were not read yet may make it.
TEST_F(ReplicasTest, APlayOfACollectionThatMayBeMadeWaits) {
  StartAndServe();
  meta_known_ = false;
  const std::string user = UserOf(0);
  const std::string body =
      R"({"events":[{"user":")" + user + R"(","item":"v"}],"collection":"video"})";
  const Result<Appended> done = Append(LogKind::kPlays, user, body);
  ASSERT_TRUE(done.ok());
  EXPECT_FALSE(done->applied);
  Meta(R"({"v":1,"kind":"collection","name":"video","patch":{},"at_ms":2})");
  meta_known_ = true;
  Eventually([&] { return NextOffset(0) > done->offset; });
  EXPECT_TRUE(IsSeen(user, "v", "video"));
}

// What was written while a collection was there, and is applied after it has gone.
TEST_F(ReplicasTest, ACollectionThatIsGoneIsAskedAboutOnce) {
  StartAndServe();
  std::vector<std::string> users;
  for (uint32_t p = 0; p < 3; ++p) users.push_back(UserOf(p));
  Stop();
  const auto body = [](const std::string& user) {
    return R"({"collection":"video","events":[{"user":")" + user + R"(","item":"v"}]})";
  };
  const auto write = [&](uint32_t partition, const std::string& value) {
    const std::string header = cluster::EncodeLogHeader({LogKind::kPlays, NowMs(), nonce_++});
    Produce(partition, &header, users[partition], value);
  };
  for (int i = 0; i < 60; ++i) {
    for (uint32_t p = 0; p < 3; ++p) write(p, body(users[p]));
  }
  Flush();
  std::atomic<int> asked{0};
  std::atomic<bool> make{false};
  read_meta_to_end_ = [&] {
    ++asked;
    if (make.exchange(false)) {
      Meta(R"({"v":1,"kind":"collection","name":"video","patch":{},"at_ms":2})");
    }
    return true;
  };
  StartAndServe();
  // Once for what was in the log when it was asked, and for what came with the first answers.
  EXPECT_LE(asked, 6);
  EXPECT_GE(asked, 1);
  // What is written later may be of a collection that was made meanwhile: that is asked again.
  make = true;
  write(1, body(users[1]));
  Flush();
  Eventually([&] { return engine_->Collections().size() == 2 && IsSeen(users[1], "v", "video"); });
}

// One partition's record can't be applied: others go on. It goes on with that record, and has lost
// none of those behind it, whether they were kept or are read again.
TEST_F(ReplicasTest, APartitionThatWaitsKeepsNoOtherWaiting) {
  for (const int behind : {20, static_cast<int>(Backlog::kRecordsMost) + 50}) {
    SCOPED_TRACE(behind);
    StartAndServe();
    meta_known_ = false;
    const std::string user = UserOf(0), other = UserOf(1);
    const std::string name = "video" + std::to_string(behind);
    const std::string header = cluster::EncodeLogHeader({LogKind::kPlays, NowMs(), nonce_++});
    Write(0, &header, user,
          R"({"events":[{"user":")" + user + R"(","item":"v"}],"collection":")" + name + "\"}");
    for (int i = 0; i < behind; ++i) ProducePlay(user, name + std::to_string(i), NowMs());
    Flush();
    const Result<Appended> done = Append(LogKind::kPlays, other, PlayOf(other, name));
    ASSERT_TRUE(done.ok()) << done.status().ToString();
    EXPECT_TRUE(done->applied);
    EXPECT_TRUE(IsSeen(other, name));
    Eventually([&] { return replicas_->Report().at(0).state == ReplicaState::kBehind; });
    EXPECT_EQ(replicas_->Report().at(1).state, ReplicaState::kServing);
    EXPECT_FALSE(IsSeen(user, name + "0"));
    EXPECT_EQ(replicas_->Problems().size(), 1U);
    Meta(R"({"v":1,"kind":"collection","name":")" + name + R"(","patch":{},"at_ms":2})");
    meta_known_ = true;
    Eventually([&] { return IsSeen(user, name + std::to_string(behind - 1)); });
    EXPECT_TRUE(IsSeen(user, "v", name));
    for (int i = 0; i < behind; ++i) ASSERT_TRUE(IsSeen(user, name + std::to_string(i))) << i;
    Eventually([&] { return CountServing() == 3 && replicas_->Problems().empty(); });
    Stop();
  }
}

TEST_F(ReplicasTest, WhoeverAwaitsAnOffsetIsToldOnceItIsApplied) {
  StartAndServe();
  const std::string user = UserOf(0);
  const auto soon = std::chrono::steady_clock::now() + kPatience;
  std::promise<bool> there;
  const int64_t next = NextOffset(0) + 1;
  replicas_->Await(0, next, soon, [&](bool done) { there.set_value(done); });
  EXPECT_TRUE(there.get_future().get());
  std::promise<bool> late;
  replicas_->Await(0, next + 1'000'000,
                   std::chrono::steady_clock::now() + std::chrono::milliseconds(20),
                   [&](bool done) { late.set_value(done); });
  EXPECT_FALSE(late.get_future().get());
  std::promise<Status> barrier;
  WritePlay(user, "v", NowMs());
  replicas_->Barrier(0, soon, [&](Status done) { barrier.set_value(std::move(done)); });
  EXPECT_TRUE(barrier.get_future().get().ok());
  EXPECT_TRUE(IsSeen(user, "v"));
}

TEST_F(ReplicasTest, WithoutKafkaWritesAreRefusedAtOnceAndReadsGoOn) {
  limits_.delivery = std::chrono::milliseconds(500);
  StartAndServe();
  const std::string user = UserOf(0);
  ASSERT_TRUE(Append(LogKind::kPlays, user, PlayOf(user, "v"))->applied);
  ASSERT_EQ(rd_kafka_mock_broker_set_down(mock_->mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  Eventually([&] {
    const auto begun = std::chrono::steady_clock::now();
    const Result<Appended> refused = Append(LogKind::kPlays, user, PlayOf(user, "w"));
    const auto took = std::chrono::steady_clock::now() - begun;
    return refused.status().code() == StatusCode::kUnavailable &&
           took < std::chrono::milliseconds(100);
  });
  EXPECT_TRUE(IsSeen(user, "v"));
  EXPECT_TRUE(replicas_->Report().at(0).cut_off);
  Eventually([&] { return replicas_->AppendFailures() > 0; });
  Eventually([&] {
    return std::ranges::any_of(replicas_->Problems(), [](const std::string& one) {
      return one.starts_with("there is no way to the log of partitions 0, 1, 2, ");
    });
  });
  Eventually([&] { return replicas_->Report().at(0).state == ReplicaState::kBehind; });
  ASSERT_EQ(rd_kafka_mock_broker_set_up(mock_->mock(), 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  Eventually([&] {
    const Result<Appended> again = Append(LogKind::kPlays, user, PlayOf(user, "x"));
    return again.ok() && again->applied;
  });
  EXPECT_TRUE(IsSeen(user, "x"));
  Eventually([&] { return CountServing() == 3 && replicas_->Problems().empty(); });
  EXPECT_FALSE(replicas_->Report().at(0).cut_off);
}

// Records of other nodes show that they can append, not that this one can.
TEST_F(ReplicasTest, ALogThatTookNoRecordIsTriedAgainWhileOthersWrite) {
  StartAndServe();
  const std::string user = UserOf(0);
  Eventually([&] {
    rd_kafka_mock_push_request_errors(mock_->mock(), /*Produce*/ 0, 1,
                                      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    const Result<Appended> refused = Append(LogKind::kPlays, user, PlayOf(user, "v"));
    return !refused.ok();
  });
  rd_kafka_mock_clear_request_errors(mock_->mock(), 0);
  int written = 0;
  Eventually([&] {
    WritePlay(user, "w" + std::to_string(written++), NowMs());
    const Result<Appended> done = Append(LogKind::kPlays, user, PlayOf(user, "x"));
    return done.ok() && done->applied;
  });
}

TEST_F(ReplicasTest, AFatalErrorOfAProducerIsSurvived) {
  StartAndServe();
  const std::string user = UserOf(0);
  rd_kafka_mock_push_request_errors(mock_->mock(), /*Produce*/ 0, 1,
                                    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
  Eventually([&] {
    const Result<Appended> done = Append(LogKind::kPlays, user, PlayOf(user, "v"));
    return done.ok() && done->applied;
  });
  EXPECT_TRUE(IsSeen(user, "v"));
}

TEST_F(ReplicasTest, ACopyIsTakenWhereANodeHasOne) {
  StartAndServe();
  const std::string user = UserOf(3);
  ASSERT_TRUE(engine_->AttachShard(3, "").ok());
  const Play play{IdRef(user), IdRef("v")};
  ASSERT_TRUE(engine_->RecordPlays({&play, 1}).ok());
  ASSERT_TRUE(engine_->CheckpointShard(3, folder_ + "/copy").ok());
  ASSERT_TRUE(engine_->DetachShard(3, Detached::kRemoved).ok());
  Stop();
  std::atomic<int> asked{0};
  fetch_ = [&](uint32_t partition, int64_t least, const auto&) -> Result<std::string> {
    EXPECT_EQ(std::pair(partition, least), std::pair(3U, int64_t{0}));
    if (asked++ == 0) return Status::Unavailable("the other node is away");
    return folder_ + "/copy";
  };
  Meta(R"({"v":1,"kind":"placement","base":3,"assign":[["n1"],["n1"],["n1"],["n1"]]})");
  Start();
  Eventually([&] { return CountServing() == 4; });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(IsSeen(user, "v"));
}

// A node that goes by what it had read would delete the collection, and what the copy has of it.
TEST_F(ReplicasTest, ACopyOfANodeThatHasReadMoreKeepsItsCollections) {
  StartAndServe();
  const std::string user = UserOf(3);
  Stop();
  {
    const auto options = Replicas::EngineOptions(*meta_.load()->init(), {});
    ASSERT_TRUE(options.ok());
    auto other = Engine::Open(folder_ + "/other", *options);
    ASSERT_TRUE(other.ok()) << other.status().ToString();
    ASSERT_TRUE((*other)->AttachShard(3, "").ok());
    ASSERT_TRUE((*other)->PutCollection("late", {}, 5).ok());
    const Play play{IdRef(user), IdRef("v")};
    ASSERT_TRUE((*other)->RecordPlays({&play, 1}, {.collection = "late"}).ok());
    ASSERT_TRUE((*other)->CheckpointShard(3, folder_ + "/copy").ok());
  }
  fetch_ = [&](uint32_t, int64_t, const auto&) -> Result<std::string> { return folder_ + "/copy"; };
  Meta(R"({"v":1,"kind":"placement","base":3,"assign":[["n1"],["n1"],["n1"],["n1"]]})");
  std::atomic<int> asked{0};
  read_meta_to_end_ = [&] {
    if (asked++ == 0) return false;
    if (asked == 2) Meta(R"({"v":1,"kind":"collection","name":"late","patch":{},"at_ms":1})");
    return true;
  };
  Start();
  Eventually([&] { return CountServing() == 4; });
  EXPECT_GE(asked, 2);
  EXPECT_TRUE(IsSeen(user, "v", "late"));
}

// The topic was deleted and made again: its records are others, whatever their offsets.
TEST_F(ReplicasTest, ALogMadeAnewIsNotReadOn) {
  StartAndServe();
  const std::string user = UserOf(0);
  for (int i = 0; i < 5; ++i) WritePlay(user, "v" + std::to_string(i), NowMs());
  Eventually([&] { return IsSeen(user, "v4"); });
  Stop();
  mock_.emplace("feed.log", kPartitions);
  Start();
  const auto is_behind = [&](const char* why) {
    const std::vector<std::string> problems = replicas_->Problems();
    const bool said = std::ranges::any_of(problems, [&](const std::string& one) {
      return one.starts_with("partition 0: ") && one.find(why) != std::string::npos;
    });
    return said && replicas_->Report().at(0).state == ReplicaState::kBehind;
  };
  Eventually([&] { return is_behind("it lost records, or was made anew"); });
  EXPECT_TRUE(IsSeen(user, "v0"));
  // It has grown beyond what was applied.
  for (int i = 0; i < 200; ++i) WritePlay(user, "w" + std::to_string(i), NowMs());
  Eventually([&] { return is_behind("is not the one that was applied"); });
  WritePlay(user, "x", NowMs());
  Stop();
  Start();
  Eventually([&] { return is_behind("is not the one that was applied"); });
  EXPECT_FALSE(IsSeen(user, "w199"));
  EXPECT_FALSE(IsSeen(user, "x"));
  EXPECT_TRUE(IsSeen(user, "v4"));
}

TEST_F(ReplicasTest, WhatIsNotHeldIsRefused) {
  StartAndServe();
  const std::string user = UserOf(3);
  EXPECT_EQ(Append(LogKind::kPlays, user, PlayOf(user, "v")).status().code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(Append(LogKind::kPlays, UserOf(0), std::string(600'000, ' ')).status().code(),
            StatusCode::kInvalidArgument);
  std::promise<Status> barrier;
  replicas_->Barrier(3, Time::max(), [&](Status done) { barrier.set_value(std::move(done)); });
  EXPECT_EQ(barrier.get_future().get().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
