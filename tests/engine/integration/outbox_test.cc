// The outbox: the first plays of the day out of a log wait there until they were told, each in the
// write that holds its play, and leave with their users.

#include <algorithm>
#include <deque>
#include <utility>

#include "format/day_key.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "tables/meta_keys.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr char kToday[] = "2026-03-10";

class OutboxTest : public EngineTest {
 protected:
  // "video" tells of first plays.
  void Begin(uint32_t shards = 1) {
    options_.shards = shards;
    Open();
    PolicyPatch patch;
    patch.first_of_day = true;
    Put("video", patch);
  }

  // Messages at offsets `from`, ...; each has plays of some users.
  Status Ingest(const std::vector<Items>& messages, int64_t from, bool outbox = true,
                const std::string& topic = "plays") {
    std::deque<std::string> texts;
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    for (size_t i = 0; i < messages.size(); ++i) {
      for (const std::string& user : messages[i]) {
        texts.push_back(user);
        plays.push_back({IdRef(texts.back()), IdRef(plays.size())});
        origins.push_back({0, from + static_cast<int64_t>(i)});
      }
    }
    const SourceStep step{topic, 0, from + static_cast<int64_t>(messages.size())};
    IngestBatch batch;
    batch.collection = "video";
    batch.sources = {&step, 1};
    batch.plays = plays;
    batch.origins = origins;
    batch.outbox_first_plays = outbox;
    return engine_->Ingest(batch).status();
  }
  std::vector<OutboxRow> Rows() {
    std::vector<OutboxRow> all, rows;
    uint64_t counted = 0;
    for (const OutboxSource& source : engine_->OutboxSources()) {
      EXPECT_TRUE(engine_->ReadOutbox(source, -1, SIZE_MAX, &rows).ok());
      EXPECT_EQ(rows.size(), source.rows) << source.topic;
      counted += source.rows;
      all.insert(all.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(engine_->Stats().outbox_rows, counted);
    return all;
  }
  // "offset:user,user", ascending.
  Items Waiting() {
    Items told;
    for (const OutboxRow& row : Rows()) {
      std::string text = std::to_string(row.offset) + ":";
      Items users;
      for (const FirstOfDay& first : row.first_plays) {
        EXPECT_EQ(first.collection, "video");
        EXPECT_EQ(first.day, kToday);
        users.push_back(first.user);
      }
      std::sort(users.begin(), users.end());
      for (const std::string& user : users) text += (text.back() == ':' ? "" : ",") + user;
      told.push_back(std::move(text));
    }
    std::sort(told.begin(), told.end());
    return told;
  }
  // The keys of the rows as they are stored.
  Items Stored() {
    Items keys;
    EXPECT_TRUE(engine_
                    ->Scan("default",
                           [&](const ScanRow& row) {
                             if (row.key.starts_with(kOutboxPrefix)) keys.push_back(row.key);
                             return true;
                           })
                    .ok());
    return keys;
  }
  bool IsFirst(const std::string& user) {
    const seendb::Play play{IdRef(user), IdRef(1'000)};
    const auto recorded = engine_->RecordPlays({&play, 1}, {.collection = "video"});
    EXPECT_TRUE(recorded.ok()) << recorded.status().ToString();
    return recorded.ok() && recorded->first_today.size() == 1;
  }
};

TEST_F(OutboxTest, FirstPlaysWaitUntilTheyAreDeleted) {
  Begin(/*shards=*/2);
  EXPECT_TRUE(IsFirst("u1"));
  ASSERT_TRUE(Ingest({{"u1"}, {"u2"}, {"u3", "u2"}}, 7).ok());
  EXPECT_EQ(Waiting(), (Items{"8:u2", "9:u3"})) << "u1 was told in an answer";
  EXPECT_FALSE(IsFirst("u2"));
  Reopen();
  EXPECT_EQ(Waiting(), (Items{"8:u2", "9:u3"}));
  const std::vector<OutboxRow> rows = Rows();
  EXPECT_EQ(rows[0].at_ms, kStartMs);
  ASSERT_TRUE(engine_->DeleteOutbox({rows.data(), 1}).ok());
  ASSERT_TRUE(engine_->DeleteOutbox({rows.data(), 1}).ok()) << "it is gone";
  EXPECT_EQ(Rows().size(), 1u);
  ASSERT_TRUE(engine_->DeleteOutbox(rows).ok());
  EXPECT_EQ(Waiting(), Items{});
  EXPECT_TRUE(engine_->OutboxSources().empty());
  EXPECT_EQ(Stored(), Items{});
}

TEST_F(OutboxTest, RowsHaveTheirFormat) {
  Begin();
  ASSERT_TRUE(Ingest({{"u1"}}, 7).ok());
  Items values;
  ASSERT_TRUE(engine_
                  ->Scan("default",
                         [&](const ScanRow& row) {
                           if (row.key == "outbox/plays/0/00000000000000000007") {
                             values.push_back(row.value);
                           }
                           return true;
                         })
                  .ok());
  ASSERT_EQ(values.size(), 1u);
  EXPECT_NE(
      values[0].find(R"("first_plays":[{"user":"u1","collection":"video","day":"2026-03-10"}])"),
      std::string::npos)
      << values[0];
  EXPECT_EQ(engine_->Verify()->damaged, 0u);
}

TEST_F(OutboxTest, RepeatsRefusalsAndThoseNotAskedForLeaveNothing) {
  Begin();
  ASSERT_TRUE(Ingest({{"u1"}}, 0, /*outbox=*/false).ok());
  EXPECT_EQ(Waiting(), Items{});
  EXPECT_FALSE(IsFirst("u1"));
  ASSERT_TRUE(Ingest({{"u1"}, {"u2"}}, 0).ok());
  EXPECT_EQ(Waiting(), Items{"1:u2"});
  ASSERT_TRUE(Ingest({{"u1"}, {"u2"}}, 0).ok());
  EXPECT_EQ(Waiting(), Items{"1:u2"}) << "again";
  ASSERT_TRUE(engine_->EraseUser(IdRef("u3")).ok());
  ASSERT_TRUE(Ingest({{"u3"}}, 2).ok());
  EXPECT_EQ(Waiting(), Items{"1:u2"}) << "not after the erasure";
}

TEST_F(OutboxTest, AnErasureTakesTheUserOut) {
  Begin();
  ASSERT_TRUE(Ingest({{"u1", "u2"}, {"u1"}, {"u3"}}, 0).ok());
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1")).ok());
  EXPECT_EQ(Waiting(), (Items{"0:u2", "2:u3"}));
  ASSERT_TRUE(engine_->EraseUser(IdRef("u2")).ok());
  EXPECT_EQ(Waiting(), Items{"2:u3"});
  EXPECT_EQ(Stored().size(), 1u);
  clock_.Advance(1);
  ASSERT_TRUE(Ingest({{"u1"}}, 3).ok());
  EXPECT_EQ(Waiting(), (Items{"2:u3", "3:u1"})) << "a first play after the erasure";
  Reopen();
  EXPECT_EQ(Waiting(), (Items{"2:u3", "3:u1"}));
  RunDue();
  EXPECT_EQ(Waiting(), (Items{"2:u3", "3:u1"}));
}

// As an older version leaves it, which does not know of the rows, or a repair that finds old ones.
TEST_F(OutboxTest, AnErasedUserThatIsStillThereIsNotRead) {
  Begin();
  ASSERT_TRUE(Ingest({{"u1"}, {"u2", "u1"}}, 0).ok());
  engine_.reset();
  const std::string key = "outbox/plays/0/00000000000000000000";
  const std::string row = RawShard(Path()).All("default").at(key);
  Open();
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1")).ok());
  engine_.reset();
  RawShard(Path()).Put("default", key, row);
  Open();
  EXPECT_EQ(Waiting(), (Items{"0:", "1:u2"})) << "there, and names nobody";
  ASSERT_TRUE(engine_->DeleteOutbox(Rows()).ok());
  EXPECT_EQ(Waiting(), Items{});
}

TEST_F(OutboxTest, ATopicIsForgottenWithItsRows) {
  Begin(/*shards=*/2);
  ASSERT_TRUE(Ingest({{"u1"}, {"u2"}}, 0).ok());
  ASSERT_TRUE(Ingest({{"u3"}}, 0, true, "more").ok());
  ASSERT_TRUE(engine_->ForgetTopic("plays").ok());
  EXPECT_EQ(Waiting(), Items{"0:u3"});
  ASSERT_TRUE(Ingest({{"u1"}, {"u4"}}, 0).ok());
  EXPECT_EQ(Waiting(), (Items{"0:u3", "1:u4"})) << "u1 is known";
}

TEST_F(OutboxTest, IsReadInOrderFromAnOffset) {
  Begin();
  ASSERT_TRUE(Ingest({{"u9", "u8"}, {"u7"}, {"u6"}}, 9).ok());
  const OutboxSource source = engine_->OutboxSources().at(0);
  std::vector<OutboxRow> rows;
  const auto offsets = [&](int64_t after, size_t limit) {
    EXPECT_TRUE(engine_->ReadOutbox(source, after, limit, &rows).ok());
    std::vector<int64_t> found;
    for (const OutboxRow& row : rows) found.push_back(row.offset);
    return found;
  };
  EXPECT_EQ(offsets(-1, 100), (std::vector<int64_t>{9, 10, 11}));
  EXPECT_EQ(offsets(-1, 2), std::vector<int64_t>{9}) << "two first plays";
  EXPECT_EQ(offsets(9, 2), (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(offsets(11, 100), std::vector<int64_t>{});
}

TEST_F(OutboxTest, AFullOneTakesNoFurtherPlays) {
  options_.outbox_max = 2;
  Begin(/*shards=*/2);
  ASSERT_TRUE(Ingest({{"u1"}, {"u2"}}, 0).ok());
  EXPECT_EQ(Ingest({{"u3"}}, 2).code(), StatusCode::kBusy);
  EXPECT_EQ(engine_->Sources().at(0).next_offset, 2) << "nothing changed";
  EXPECT_TRUE(IsFirst("u3")) << "over HTTP it goes on";
  EXPECT_TRUE(Ingest({{"u4"}}, 2, /*outbox=*/false).ok());
  ASSERT_TRUE(engine_->DeleteOutbox(Rows()).ok());
  EXPECT_TRUE(Ingest({{"u5"}}, 3).ok());
  EXPECT_EQ(Waiting(), Items{"3:u5"});
}

// The offset was lost, and the day of one user: what the row has is kept.
TEST_F(OutboxTest, ALogThatIsReadAgainKeepsItsRows) {
  Begin();
  ASSERT_TRUE(Ingest({{"u1", "u2"}}, 0).ok());
  engine_.reset();
  {
    RawShard shard(Path());
    const auto remove = [&](const std::string& family, const std::string& key) {
      EXPECT_TRUE(shard.db()->Delete({}, shard.family(family), key).ok());
    };
    remove("default", SourceKey("plays", 0));
    remove("users", DayKey("u1", "video"));
  }
  Open();
  ASSERT_TRUE(Ingest({{"u1", "u2"}}, 0).ok());
  EXPECT_EQ(Waiting(), Items{"0:u1,u2"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
