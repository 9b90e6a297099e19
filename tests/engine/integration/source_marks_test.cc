// The mark by which a source's log is known again, and the hold of a source: kept beside its
// offset, in a key that older versions do not read.

#include <string>
#include <utility>
#include <vector>

#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class SourceMarksTest : public EngineTest {
 protected:
  void SetUp() override { Open(); }

  Status Step(int64_t next_offset, std::optional<SourceMark> last, bool held = false) {
    const SourceStep step{.topic = "plays", .next_offset = next_offset, .last = last, .held = held};
    return engine_->Ingest({.sources = {&step, 1}}).status();
  }
  SourceInfo Source() {
    const std::vector<SourceInfo> all = engine_->Sources();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? SourceInfo{} : all[0];
  }
  std::vector<std::string> Stored(const std::string& prefix) {
    std::vector<std::string> values;
    const Status scanned = engine_->Scan("default", [&](const ScanRow& row) {
      if (row.key.starts_with(prefix)) values.emplace_back(row.value);
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return values;
  }
};

TEST_F(SourceMarksTest, GoWithTheOffset) {
  ASSERT_TRUE(Step(10, SourceMark{8, 1'000}).ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Source().last, (SourceMark{8, 1'000}));
    EXPECT_FALSE(Source().held);
    EXPECT_EQ(Stored("topic/plays/0"),
              std::vector<std::string>(2, R"({"next_offset":10,"offset":8,"time_ms":1000})"));
    EXPECT_EQ(Stored("source/plays/0")[0],
              R"({"next_offset":10,"plays_accepted":0,"plays_refused":0,)"
              R"("impressions_accepted":0,"impressions_refused":0,"dead_letters":0})")
        << "older versions take any other member for damage";
    Reopen();
  }
  ASSERT_TRUE(Step(20, {}).ok());
  Reopen();
  EXPECT_EQ(Source().last, (SourceMark{8, 1'000})) << "the newest that is known";
  ASSERT_TRUE(Step(15, SourceMark{14, 7}).ok());
  EXPECT_EQ(Source().last, (SourceMark{8, 1'000})) << "a repeat says nothing";
  ASSERT_TRUE(Step(21, SourceMark{20, 0}).ok());
  EXPECT_EQ(Source().last, (SourceMark{20, 0}));
  EXPECT_EQ(Step(22, SourceMark{22, 0}).field(), "/sources/0/last");
  EXPECT_EQ(Step(22, SourceMark{21, -1}).field(), "/sources/0/last");
  EXPECT_TRUE(engine_->Stats().problems.empty());
}

TEST_F(SourceMarksTest, AHoldLastsUntilTheTopicIsForgotten) {
  ASSERT_TRUE(Step(10, SourceMark{9, 1'000}).ok());
  ASSERT_TRUE(Step(10, {}, true).ok());
  ASSERT_TRUE(Step(10, {}, true).ok()) << "again";
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(Source().held);
    EXPECT_EQ(Source().next_offset, 10);
    EXPECT_EQ(Source().last, (SourceMark{9, 1'000}));
    Reopen();
  }
  const seendb::Play play{IdRef("u"), IdRef("i")};
  const Origin origin{0, 3};
  const SourceStep step{.topic = "plays", .next_offset = 10, .held = true};
  EXPECT_EQ(engine_->Ingest({.sources = {&step, 1}, .plays = {&play, 1}, .origins = {&origin, 1}})
                .status()
                .field(),
            "/origins/0");
  ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  EXPECT_TRUE(engine_->Sources().empty());
  EXPECT_EQ(Stored("topic/"), std::vector<std::string>{});
  EXPECT_EQ(Stored("source/"), std::vector<std::string>{});
  ASSERT_TRUE(Step(10, {}).ok());
  EXPECT_FALSE(Source().held);
  EXPECT_EQ(Source().last, std::nullopt);
}

TEST_F(SourceMarksTest, AnUnknownSourceIsNotHeld) {
  ASSERT_TRUE(Step(10, {}, true).ok());
  EXPECT_TRUE(engine_->Sources().empty());
}

// What the batch goes on from: all shards must have it.
TEST_F(SourceMarksTest, AStepMayNotLeaveAnythingOut) {
  const auto step = [&](int64_t from, int64_t next_offset) {
    const SourceStep one{.topic = "plays", .next_offset = next_offset, .from = from};
    return engine_->Ingest({.sources = {&one, 1}}).status();
  };
  EXPECT_EQ(step(-1, 10).field(), "/sources/0/from");
  EXPECT_EQ(step(11, 10).code(), StatusCode::kInvalidArgument);
  const Status unknown = step(5, 10);
  EXPECT_EQ(unknown.code(), StatusCode::kIncompatible);
  EXPECT_NE(unknown.message().find("no offset of topic \"plays\", partition 0"), std::string::npos);
  ASSERT_TRUE(Step(10, {}).ok()) << "reading begins here";
  EXPECT_TRUE(step(10, 20).ok());
  EXPECT_TRUE(step(12, 25).ok()) << "less than is stored: a repeat";
  const Status gap = step(26, 30);
  EXPECT_EQ(gap.code(), StatusCode::kIncompatible);
  EXPECT_NE(gap.message().find("stored offset 25 of"), std::string::npos) << gap.message();
  EXPECT_NE(gap.message().find("from offset 26"), std::string::npos) << gap.message();
  EXPECT_EQ(Source().next_offset, 25);
  // One shard of two has less: nothing is written in either.
  engine_.reset();
  RawShard(Path(), 1).Put("default", "source/plays/0",
                          R"({"next_offset":22,"plays_accepted":0,"plays_refused":0,)"
                          R"("impressions_accepted":0,"impressions_refused":0,"dead_letters":0})");
  Open();
  EXPECT_EQ(step(25, 30).code(), StatusCode::kIncompatible);
  Reopen();
  EXPECT_TRUE(step(22, 28).ok());
  EXPECT_EQ(Source().next_offset, 28) << "the first shard was not taken to 30";
}

// A partition whose offset a loss took: known, without an offset, until it is read or forgotten.
TEST_F(SourceMarksTest, ALostOffsetIsRemembered) {
  engine_.reset();
  for (uint32_t shard = 0; shard < 2; ++shard) {
    RawShard(Path(), shard).Put("default", "topic/plays/0", R"({"forgotten":true})");
    RawShard(Path(), shard).Put("default", "topic/other/0", R"({"forgotten":false})");
    RawShard(Path(), shard).Put("default", "source/damaged/0", "{");
  }
  for (int round = 0; round < 2; ++round) {
    Reopen();
    const std::vector<SourceInfo> all = engine_->Sources();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].topic, "damaged");
    EXPECT_EQ(all[1].topic, "plays");
    for (const SourceInfo& one : all) EXPECT_EQ(one.next_offset, std::nullopt);
  }
  ASSERT_TRUE(engine_->ForgetTopic("damaged").ok());
  ASSERT_TRUE(Step(10, {}).ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Source().topic, "plays");
    EXPECT_EQ(Source().next_offset, 10);
    Reopen();
  }
  ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  Reopen();
  EXPECT_TRUE(engine_->Sources().empty());
}

// An older version reads on, or forgets, without touching the marks.
TEST_F(SourceMarksTest, OfAnotherOffsetSayNothing) {
  ASSERT_TRUE(Step(10, SourceMark{9, 1'000}).ok());
  ASSERT_TRUE(Step(10, {}, true).ok());
  engine_.reset();
  const std::string json = R"({"next_offset":11,"plays_accepted":0,"plays_refused":0,)"
                           R"("impressions_accepted":0,"impressions_refused":0,"dead_letters":0})";
  for (uint32_t shard = 0; shard < 2; ++shard) {
    RawShard(Path(), shard).Put("default", "source/plays/0", json);
  }
  Open();
  EXPECT_EQ(Source().next_offset, 11);
  EXPECT_EQ(Source().last, std::nullopt);
  EXPECT_FALSE(Source().held);
  engine_.reset();
  for (uint32_t shard = 0; shard < 2; ++shard) {
    RawShard(Path(), shard).Put("default", "topic/plays/0", "{\"next_offset\":");
    RawShard(Path(), shard).Put("default", "topic/other/0", "{\"next_offset\":1,\"held\":true}");
  }
  Open();
  EXPECT_EQ(Source().next_offset, 11) << "a damaged mark costs no offset";
  EXPECT_TRUE(engine_->Stats().problems.empty());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
