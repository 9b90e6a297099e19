// Events out of a log: each counts once, whatever is repeated; every shard knows how far it is.

#include "seendb/ingest.h"

#include <utility>

#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Message {
  std::string user, item;
  int64_t offset = 0;
  std::optional<int64_t> at_ms = {};
};

class IngestTest : public EngineTest {
 protected:
  void SetUp() override { Open(); }

  Result<IngestResult> Ingest(const std::vector<Message>& messages, int64_t next_offset,
                              const std::vector<int64_t>& dead = {}, uint32_t partition = 0,
                              Fact fact = Fact::kPlayed) {
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    for (const Message& one : messages) {
      plays.push_back({IdRef(one.user), IdRef(one.item), one.at_ms});
      origins.push_back({0, one.offset});
    }
    const SourceStep step{"plays", partition, next_offset, dead};
    IngestBatch batch;
    batch.fact = fact;
    batch.sources = {&step, 1};
    batch.plays = plays;
    batch.origins = origins;
    return engine_->Ingest(batch);
  }
  std::vector<Message> Messages(int64_t from, int64_t to) {
    std::vector<Message> messages;
    for (int64_t i = from; i < to; ++i) {
      messages.push_back({"u" + std::to_string(i % 20), "i" + std::to_string(i), i});
    }
    return messages;
  }
  SourceInfo Source(uint32_t partition = 0) {
    for (const SourceInfo& info : engine_->Sources()) {
      if (info.topic == "plays" && info.partition == partition) return info;
    }
    ADD_FAILURE() << "no such source";
    return {};
  }
  // The record of one shard, as it is stored.
  std::string Stored(uint32_t shard) {
    std::string value;
    const Status scanned = engine_->Scan("default", [&](const ScanRow& row) {
      if (row.shard == shard && row.key == "source/plays/0") value = row.value;
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return value;
  }
};

// They are counted beside plays, in a record that is as before where there are none.
TEST_F(IngestTest, ExposuresAreKeptAndCountedOnce) {
  const std::string plain = [&] {
    EXPECT_TRUE(Ingest(Messages(0, 4), 4).ok());
    return Stored(0);
  }();
  EXPECT_EQ(plain.find("exposures"), std::string::npos) << plain;
  const std::string_view surfaces[] = {"home", ""};
  const seendb::Play shown[] = {{IdRef("u1"), IdRef("e1"), kStartMs},
                                {IdRef("u1"), IdRef("e2"), kStartMs}};
  const Origin origins[] = {{0, 4}, {0, 5}};
  const SourceStep step{"plays", 0, 6, {}};
  IngestBatch batch{.fact = Fact::kExposed,
                    .sources = {&step, 1},
                    .plays = shown,
                    .origins = origins,
                    .surfaces = surfaces};
  for (const uint64_t repeated : {0u, 2u}) {
    const auto done = engine_->Ingest(batch);
    ASSERT_TRUE(done.ok()) << done.status().ToString();
    EXPECT_EQ(done->accepted + repeated, 2u);
    EXPECT_EQ(done->repeated, repeated);
  }
  EXPECT_EQ(Source().counts.exposures_accepted, 2u);
  EXPECT_EQ(engine_->Stats().ingested.exposures_accepted, 2u);
  EXPECT_EQ(engine_->Stats().exposures_accepted, 2u);
  Reopen();
  EXPECT_EQ(Source().counts.exposures_accepted, 2u);
  const NotEntry home[] = {{.fact = Fact::kExposed, .surface = "home", .within_ms = kDayMs}};
  const NotEntry all[] = {{.fact = Fact::kExposed, .within_ms = kDayMs}};
  const auto unseen = [&](std::span<const NotEntry> entries) {
    const Question question{.no = entries};
    const IdRef items[] = {IdRef("e1"), IdRef("e2"), IdRef("e3")};
    FilterRequest request;
    request.user = IdRef("u1");
    request.items = items;
    request.question = &question;
    FilterResponse response;
    EXPECT_TRUE(engine_->Filter(request, &response).ok());
    return response.unseen;
  };
  EXPECT_EQ(unseen(home), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(unseen(all), (std::vector<uint32_t>{2}));

  const std::string long_name(kMaxSurfaceBytes + 1, 'x');
  const std::string_view too_long[] = {"home", long_name};
  batch.surfaces = too_long;
  EXPECT_EQ(engine_->Ingest(batch).status().field(), "/surfaces/1");
  batch.surfaces = std::span(surfaces).first(1);
  EXPECT_EQ(engine_->Ingest(batch).status().field(), "/surfaces");
  batch.surfaces = surfaces;
  batch.fact = Fact::kPlayed;
  EXPECT_EQ(engine_->Ingest(batch).status().field(), "/surfaces");
}

TEST_F(IngestTest, PlaysAreSeenAndCounted) {
  const auto done = Ingest(Messages(0, 100), 100);
  ASSERT_TRUE(done.ok()) << done.status().ToString();
  EXPECT_EQ(done->accepted, 100u);
  EXPECT_EQ(Unseen("u3", {"i3", "i4", "i23"}), Items{"i4"});
  EXPECT_EQ(Source().next_offset, 100);
  EXPECT_EQ(Source().counts.plays_accepted, 100u);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 100u);
  EXPECT_EQ(engine_->Stats().plays_accepted, 100u);
}

TEST_F(IngestTest, ARepeatCountsNothing) {
  ASSERT_TRUE(Ingest(Messages(0, 100), 100).ok());
  const auto again = Ingest(Messages(0, 150), 150);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->accepted, 50u);
  EXPECT_EQ(again->repeated, 100u);
  const auto older = Ingest(Messages(20, 50), 50);
  ASSERT_TRUE(older.ok());
  EXPECT_EQ(older->repeated, 30u);
  EXPECT_EQ(Source().next_offset, 150) << "an offset went back";
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 150u);
  EXPECT_EQ(engine_->Stats().ingest_repeated, 130u);
}

TEST_F(IngestTest, CountsAndOffsetsOutliveTheProcess) {
  ASSERT_TRUE(Ingest(Messages(0, 100), 120, {100, 101, 119}).ok());
  Reopen();
  EXPECT_EQ(Source().next_offset, 120);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 100u);
  EXPECT_EQ(engine_->Stats().ingested.dead_letters, 3u);
  ASSERT_TRUE(Ingest(Messages(90, 130), 130, {100, 101, 119}).ok());
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 110u);
  EXPECT_EQ(engine_->Stats().ingested.dead_letters, 3u) << "counted twice";
  EXPECT_EQ(Unseen("u5", {"i105", "i125"}), Items{"i105"}) << "offsets 100-119 held no play";
}

TEST_F(IngestTest, EveryShardStepsWithoutEventsToo) {
  const IdRef user("u1");
  const uint32_t other = 1 - engine_->ShardOf(user);
  ASSERT_TRUE(Ingest({{"u1", "i1", 41}}, 42).ok());
  EXPECT_NE(Stored(other).find("\"next_offset\":42"), std::string::npos) << Stored(other);
  EXPECT_NE(Stored(other).find("\"plays_accepted\":0"), std::string::npos) << Stored(other);
  EXPECT_NE(Stored(1 - other).find("\"plays_accepted\":1"), std::string::npos);
}

TEST_F(IngestTest, ShardsThatAreApartMeetAgain) {
  ASSERT_TRUE(Ingest(Messages(0, 60), 60).ok());
  // What a crash between two shards leaves: one of them as it was.
  const std::vector<Message> rest = Messages(60, 100);
  options_.shards = 0;
  ASSERT_TRUE(engine_->Close().ok());
  std::filesystem::copy(Path() + "/shard-0001", dir_ + "/older",
                        std::filesystem::copy_options::recursive);
  Reopen();
  ASSERT_TRUE(Ingest(rest, 100).ok());
  ASSERT_TRUE(engine_->Close().ok());
  std::filesystem::remove_all(Path() + "/shard-0001");
  std::filesystem::rename(dir_ + "/older", Path() + "/shard-0001");
  Reopen();
  EXPECT_EQ(Source().next_offset, 60) << "the lowest of the shards";
  const auto done = Ingest(rest, 100);
  ASSERT_TRUE(done.ok());
  EXPECT_GT(done->accepted, 0u);
  EXPECT_GT(done->repeated, 0u);
  EXPECT_EQ(done->accepted + done->repeated, 40u);
  EXPECT_EQ(Source().next_offset, 100);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 100u);
}

TEST_F(IngestTest, RefusalsAreCountedOnce) {
  std::vector<Message> messages = Messages(0, 10);
  messages[3].at_ms = kStartMs - 400 * kDayMs;
  messages[4].at_ms = kStartMs + 3 * kDayMs;
  ASSERT_TRUE(engine_->EraseUser(IdRef("u5"), {.always = true}).ok());
  messages[5].at_ms = kStartMs - kHourMs;
  for (int round = 0; round < 2; ++round) {
    const auto done = Ingest(messages, 10);
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->refused, round == 0 ? 3u : 0u);
    for (const RefusalReason reason :
         {RefusalReason::kTooOld, RefusalReason::kInFuture, RefusalReason::kErased}) {
      EXPECT_EQ(done->refused_by[static_cast<size_t>(reason)], round == 0 ? 1u : 0u)
          << RefusalReasonName(reason);
    }
    EXPECT_EQ(done->accepted, round == 0 ? 7u : 0u);
  }
  EXPECT_EQ(engine_->Stats().ingested.plays_refused, 3u);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 7u);
}

TEST_F(IngestTest, ImpressionsAreServedNotWatched) {
  ASSERT_TRUE(Ingest({{"u1", "i1", 0}, {"u1", "i2", 1}}, 2, {}, 3, Fact::kServed).ok());
  EXPECT_EQ(Unseen("u1", {"i1", "i2", "i3"}, "default", kFactImpressions), Items{"i3"});
  EXPECT_EQ(Unseen("u1", {"i1"}, "default", kFactPlays), Items{"i1"});
  EXPECT_EQ(Source(3).counts.impressions_accepted, 2u);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 0u);
}

TEST_F(IngestTest, SeveralSourcesInOneBatch) {
  const SourceStep steps[] = {{"plays", 0, 5}, {"plays", 7, 9}};
  const seendb::Play plays[] = {{IdRef("u1"), IdRef("a")}, {IdRef("u1"), IdRef("b")}};
  const Origin origins[] = {{0, 4}, {1, 8}};
  const IngestBatch batch{.sources = steps, .plays = plays, .origins = origins};
  ASSERT_TRUE(engine_->Ingest(batch).ok());
  EXPECT_EQ(Source(0).next_offset, 5);
  EXPECT_EQ(Source(7).next_offset, 9);
  EXPECT_EQ(Source(7).counts.plays_accepted, 1u);
}

TEST_F(IngestTest, AFullRingChangesNothing) {
  options_.ring_slots = 2;
  options_.slot_bytes_max = 1;
  Reopen();
  Status busy;
  int64_t offset = 0;
  while (busy.ok()) {
    ASSERT_LT(offset, 100'000);
    busy = Ingest(Messages(offset, offset + 1'000), offset + 1'000).status();
    if (busy.ok()) offset += 1'000;
  }
  EXPECT_EQ(busy.code(), StatusCode::kBusy);
  EXPECT_EQ(Source().next_offset, offset);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, static_cast<uint64_t>(offset));
  EXPECT_TRUE(Ingest({}, offset + 1).ok()) << "a step without plays needs no slot";
  Drain();
  EXPECT_TRUE(Ingest(Messages(offset, offset + 1'000), offset + 1'000).ok());
}

TEST_F(IngestTest, MalformedBatchesAreRefusedAndChangeNothing) {
  const auto field = [&](const IngestBatch& batch) {
    const auto done = engine_->Ingest(batch);
    EXPECT_EQ(done.status().code(), StatusCode::kInvalidArgument) << done.status().ToString();
    return std::string(done.status().field());
  };
  const seendb::Play play{IdRef("u"), IdRef("i")};
  const seendb::Play nobody{IdRef(), IdRef("i")};
  const SourceStep step{"plays", 0, 5};
  const Origin origin{0, 4}, beyond{0, 5}, nowhere{1, 4};
  EXPECT_EQ(field({.sources = {&step, 1}, .plays = {&play, 1}}), "/origins");
  EXPECT_EQ(field({.sources = {&step, 1}, .plays = {&play, 1}, .origins = {&beyond, 1}}),
            "/origins/0");
  EXPECT_EQ(field({.sources = {&step, 1}, .plays = {&play, 1}, .origins = {&nowhere, 1}}),
            "/origins/0");
  EXPECT_EQ(field({.sources = {&step, 1}, .plays = {&nobody, 1}, .origins = {&origin, 1}}),
            "/0/user");
  const SourceStep unnamed{"", 0, 5}, slashed{"a/b", 0, 5}, negative{"a", 0, -1};
  EXPECT_EQ(field({.sources = {&unnamed, 1}}), "/sources/0/topic");
  EXPECT_EQ(field({.sources = {&slashed, 1}}), "/sources/0/topic");
  EXPECT_EQ(field({.sources = {&negative, 1}}), "/sources/0/next_offset");
  const SourceStep twice[] = {step, step};
  EXPECT_EQ(field({.sources = twice}), "/sources/1");
  const int64_t dead[] = {5};
  const SourceStep late{"plays", 0, 5, dead};
  EXPECT_EQ(field({.sources = {&late, 1}}), "/sources/0/dead_letters");
  EXPECT_EQ(engine_->Ingest({.collection = "none"}).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(engine_->Sources().empty());
}

TEST_F(IngestTest, AForgottenTopicIsReadAgain) {
  ASSERT_TRUE(Ingest(Messages(0, 10), 10).ok());
  ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  EXPECT_TRUE(engine_->Sources().empty());
  Reopen();
  EXPECT_TRUE(engine_->Sources().empty());
  EXPECT_EQ(engine_->ForgetTopic("plays").code(), StatusCode::kNotFound);
  ASSERT_TRUE(Ingest(Messages(0, 10), 10).ok());
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 10u);
}

TEST_F(IngestTest, CheckpointsHaveOffsetsAndPlaysTogether) {
  ASSERT_TRUE(Ingest(Messages(0, 100), 100).ok());
  ASSERT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
  ASSERT_TRUE(Ingest(Messages(100, 200), 200).ok());
  engine_.reset();
  std::filesystem::remove_all(Path());
  std::filesystem::rename(dir_ + "/copy", Path());
  Open();
  EXPECT_EQ(Source().next_offset, 100);
  ASSERT_TRUE(Ingest(Messages(100, 200), 200).ok());
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 200u);
  EXPECT_EQ(Unseen("u1", {"i81", "i181"}), Items{});
}

TEST_F(IngestTest, ADamagedOffsetIsNamedAndUnknown) {
  ASSERT_TRUE(Ingest(Messages(0, 100), 100).ok());
  engine_.reset();
  RawShard(Path(), 1).Put("default", "source/plays/0", "{\"next_offset\":");
  Open();
  EXPECT_EQ(Source().next_offset, std::nullopt) << "of one shard it is not known";
  const EngineStats stats = engine_->Stats();
  ASSERT_EQ(stats.problems.size(), 1u);
  EXPECT_NE(stats.problems[0].find("plays/0"), std::string::npos) << stats.problems[0];
  ASSERT_TRUE(Ingest(Messages(0, 100), 100).ok());
  EXPECT_EQ(Source().next_offset, 100);
  EXPECT_EQ(engine_->Stats().ingested.plays_accepted, 100u);
}

TEST_F(IngestTest, AReadOnlyOpeningShowsSources) {
  ASSERT_TRUE(Ingest(Messages(0, 100), 100).ok());
  options_.read_only = true;
  Reopen();
  EXPECT_EQ(Source().next_offset, 100);
  EXPECT_EQ(Ingest({}, 101).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->ForgetTopic("plays").code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
