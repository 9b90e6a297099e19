// Events of a request as records of partitions, and what became of these put together.

#include "router/event_batch.h"

#include <gtest/gtest.h>

namespace seendb::router::SEENDB_TEST_FILE {
namespace {

using wire::Appended;

Appended At(int64_t offset, uint64_t accepted) {
  Appended appended;
  appended.offset = offset;
  appended.applied = true;
  appended.recorded.accepted = accepted;
  return appended;
}

TEST(EventBatchTest, MergesWhatBecameOfTheParts) {
  EventBatch batch(api::EventKind::kPlays, "video");
  for (uint64_t i = 0; i < 6; ++i) batch.AddEvent(i % 2 == 0 ? 4 : 9, "u", 10 * i, "{}");
  const std::vector<OwnedRecord> records = batch.TakeRecords();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].partition, 4u);
  EXPECT_EQ(records[1].value, R"({"events":[{},{},{}],"collection":"video"})");
  Appended even = At(7, 2), odd = At(70, 2);
  even.recorded.refused = odd.recorded.refused = 1;
  even.recorded.refusals.push_back({2, Status::InvalidArgument("late", "/at")});
  odd.recorded.refusals.push_back({0, Status::InvalidArgument("early", "/at")});
  even.recorded.refused_by[0] = 1;
  odd.recorded.refused_by[1] = 1;
  odd.recorded.day = "2026-11-20";
  odd.recorded.first_today = {1, 2};
  Positions positions;
  const EventBatch::Outcome outcome = batch.Merge({even, odd}, &positions);
  EXPECT_TRUE(outcome.failure.ok());
  EXPECT_FALSE(outcome.pending);
  EXPECT_EQ(outcome.recorded.accepted, 4u);
  EXPECT_EQ(outcome.recorded.refused, 2u);
  EXPECT_EQ(outcome.refused_at, (std::vector<uint64_t>{10, 40}));
  EXPECT_EQ(outcome.recorded.refusals[0].status.message(), "early");
  EXPECT_EQ(outcome.recorded.refused_by[0] + outcome.recorded.refused_by[1], 2u);
  EXPECT_EQ(outcome.first_at, (std::vector<uint64_t>{30, 50}));
  EXPECT_EQ(outcome.recorded.day, "2026-11-20");
  EXPECT_EQ(PositionText(positions), "4:8,9:71");
}

TEST(EventBatchTest, APartThatFailedIsAFailure) {
  EventBatch batch(api::EventKind::kPlays, "video");
  batch.AddEvent(0, "u", 0, "{}");
  batch.AddEvent(1, "v", 1, "{}");
  batch.AddEvent(1, "v", 2, "{}");
  ASSERT_EQ(batch.TakeRecords().size(), 2u);
  Positions positions;
  EventBatch::Outcome outcome =
      batch.Merge({At(3, 1), Status::Unavailable("no leader")}, &positions);
  EXPECT_EQ(outcome.failure.message(), "no leader");
  EXPECT_EQ(PositionText(positions), "0:4");
  Appended refused = At(5, 0);
  refused.verdict = Status::InvalidArgument("too long", "/1/device");
  outcome = batch.Merge({At(3, 1), refused}, &positions);
  EXPECT_EQ(outcome.failure.field(), "/2/device") << "its index in the request";
  Appended waits = At(6, 0);
  waits.applied = false;
  EXPECT_TRUE(batch.Merge({At(3, 1), waits}, &positions).pending);
}

// Nodes that do not know groups must not take such a record for one that they can read.
TEST(EventBatchTest, GroupsAndSurfacesMakeARecordOfAnotherKind) {
  const std::string_view of[] = {"author:3", "a\"b"}, same[] = {"src:9"};
  EventBatch served(api::EventKind::kImpressions, "default");
  served.AddImpression(2, "u", 0, {.item = IdRef("a")});
  served.AddImpression(2, "u", 1, {.item = IdRef("b"), .of = of, .same_as = same});
  served.AddImpression(2, "u", 2, {.item = IdRef("c"), .surface = "home"});
  served.AddImpression(2, "w", 3, {.item = IdRef("d")});
  std::vector<OwnedRecord> records = served.TakeRecords();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].kind, cluster::LogKind::kImpressionsGrouped);
  EXPECT_EQ(
      records[0].value,
      R"({"user":"u","items":["a",{"id":"b","of":["author:3","a\"b"],"same_as":["src:9"]}],"collection":"default"})");
  EXPECT_EQ(records[1].kind, cluster::LogKind::kImpressionsGrouped);
  EXPECT_EQ(records[1].value,
            R"({"user":"u","items":["c"],"collection":"default","surface":"home"})");
  EXPECT_EQ(records[2].kind, cluster::LogKind::kImpressions);
  EventBatch played(api::EventKind::kPlays, "default");
  played.AddEvent(2, "u", 0, R"({"user":"u","item":"a"})");
  played.AddEvent(2, "u", 1, R"({"user":"u","item":"b","of":["g"]})", true);
  played.AddEvent(3, "u", 2, R"({"user":"v","item":"b"})");
  records = played.TakeRecords();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kind, cluster::LogKind::kPlaysGrouped);
  EXPECT_EQ(records[1].kind, cluster::LogKind::kPlays);
}

TEST(EventBatchTest, ARecordOfImpressionsIsOfOneUserAndTime) {
  EventBatch batch(api::EventKind::kImpressions, "default");
  batch.AddImpression(2, "u", 0, {.item = IdRef("a\"b"), .at_ms = 5});
  batch.AddImpression(2, "u", 1, {.item = IdRef(uint64_t{7}), .at_ms = 5});
  batch.AddImpression(2, "u", 2, {.item = IdRef("c")});
  batch.AddImpression(2, "w", 3, {.item = IdRef("c")});
  const std::vector<OwnedRecord> records = batch.TakeRecords();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].value, R"({"user":"u","items":["a\"b",7],"collection":"default","at":5})");
  EXPECT_EQ(records[1].value, R"({"user":"u","items":["c"],"collection":"default"})");
  EXPECT_EQ(records[2].key, "w");
}

}  // namespace
}  // namespace seendb::router::SEENDB_TEST_FILE
