// Records that wait for their shard: kept in order, each partition by itself, within limits.

#include "replica/backlog.h"

#include <random>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

constexpr Time kBegin = Time{} + std::chrono::hours(1);

LogRecord RecordOf(uint32_t partition, int64_t offset, std::string_view value = "value") {
  LogRecord record;
  record.partition = partition;
  record.offset = offset;
  record.key = "key";
  record.value = value;
  record.header = "header";
  return record;
}

TEST(BacklogTest, KeepsWhatARecordHolds) {
  Backlog backlog;
  EXPECT_FALSE(backlog.Has(3));
  {
    const std::string value = "gone soon", header = "header of its own";
    LogRecord record = RecordOf(3, 7, value);
    record.header = header;
    record.time_ms = 5;
    ASSERT_TRUE(backlog.Keep(record, 6, kBegin));
  }
  LogRecord plain = RecordOf(3, 8);
  plain.header.reset();
  ASSERT_TRUE(backlog.Keep(plain, 8, kBegin));
  int64_t from = 0;
  const LogRecord first = backlog.First(3, &from);
  EXPECT_EQ(std::tuple(first.partition, first.offset, from, first.time_ms.value_or(0)),
            std::tuple(3U, 7, 6, 5));
  EXPECT_EQ(std::tuple(first.key, first.value, *first.header),
            std::tuple("key", "gone soon", "header of its own"));
  backlog.Applied(3);
  EXPECT_FALSE(backlog.First(3, &from).header);
  EXPECT_EQ(from, 8);
  backlog.Applied(3);
  EXPECT_FALSE(backlog.Has(3));
  EXPECT_FALSE(backlog.NextTry());
}

TEST(BacklogTest, EachPartitionIsTriedAtTimesOfItsOwn) {
  Backlog backlog;
  ASSERT_TRUE(backlog.Keep(RecordOf(1, 0), 0, kBegin));
  ASSERT_TRUE(backlog.Keep(RecordOf(2, 0), 0, kBegin + milliseconds(2)));
  EXPECT_EQ(backlog.NextTry(), kBegin + milliseconds(5));
  EXPECT_TRUE(backlog.Due(kBegin + milliseconds(4)).empty());
  EXPECT_EQ(backlog.Due(kBegin + milliseconds(5)), std::vector<uint32_t>{1});
  EXPECT_EQ(backlog.Failed(1, kBegin + milliseconds(5)), milliseconds(10));
  EXPECT_EQ(backlog.Due(kBegin + milliseconds(14)), std::vector<uint32_t>{2});
  for (int i = 0; i < 20; ++i) backlog.Failed(1, kBegin);
  EXPECT_EQ(backlog.Failed(1, kBegin), Backlog::kLongestPause);
  // One that was applied begins anew with short pauses, and what is behind it is due.
  ASSERT_TRUE(backlog.Keep(RecordOf(1, 1), 1, kBegin));
  backlog.Applied(1);
  EXPECT_EQ(backlog.Failed(1, kBegin), milliseconds(10));
  backlog.Forget(1);
  EXPECT_FALSE(backlog.Has(1));
}

TEST(BacklogTest, AFullPartitionKeepsItsFirstRecordAlone) {
  Backlog backlog;
  const std::string large(Backlog::kBytesMost, 'x');
  ASSERT_TRUE(backlog.Keep(RecordOf(1, 5, large), 5, kBegin));  // one fits always
  EXPECT_FALSE(backlog.Keep(RecordOf(1, 6, "x"), 6, kBegin));
  EXPECT_TRUE(backlog.IsFull(1));
  for (size_t i = 0; i < Backlog::kRecordsMost; ++i) {
    ASSERT_TRUE(backlog.Keep(RecordOf(2, static_cast<int64_t>(i)), 0, kBegin));
  }
  EXPECT_FALSE(backlog.IsFull(2));
  EXPECT_FALSE(backlog.Keep(RecordOf(2, 1'000'000), 0, kBegin));
  ASSERT_TRUE(backlog.Keep(RecordOf(3, 1), 1, kBegin));
  backlog.ForgetWhatIsReadAgain();
  EXPECT_TRUE(backlog.Has(1) && backlog.Has(2) && !backlog.Has(3));
  int64_t from = 0;
  EXPECT_EQ(backlog.First(2, &from).offset, 0);
  backlog.Applied(2);
  EXPECT_FALSE(backlog.Has(2));
}

// A reader that keeps what can't be applied, and reads a full partition again once its first record
// was applied, applies each record once, in order.
TEST(BacklogTest, NothingIsLostAndNothingOvertakes) {
  std::mt19937_64 random(test::Seed());
  constexpr uint32_t kPartitions = 3;
  constexpr int64_t kRecords = 6'000;
  const std::string large(Backlog::kBytesMost / 100, 'x');  // a hundred of them are all that fits
  Backlog backlog;
  std::map<uint32_t, int64_t> read, applied;
  std::map<uint32_t, bool> stuck = {{0, true}};  // until it was full once
  Time now = kBegin;
  size_t full = 0;
  const auto take = [&](uint32_t partition, int64_t offset) {
    ASSERT_EQ(offset, applied[partition]) << partition;
    ++applied[partition];
  };
  const auto done = [&] {
    return applied[0] == kRecords && applied[1] == kRecords && applied[2] == kRecords;
  };
  for (int step = 0; !done(); ++step) {
    ASSERT_LT(step, 1'000'000);
    now += milliseconds(random() % 4);
    const auto p = static_cast<uint32_t>(random() % kPartitions);
    if (random() % 1'500 == 0 && (p != 0 || full > 0)) stuck[p] = !stuck[p];
    if (!backlog.IsFull(p) && read[p] < kRecords) {
      const int64_t offset = read[p]++;
      if (!backlog.Has(p) && !stuck[p]) {
        take(p, offset);
      } else if (!backlog.Keep(RecordOf(p, offset, p == 0 ? large : "v"), offset, now)) {
        ++full;
      }
    }
    for (const uint32_t due : backlog.Due(now)) {
      const bool was_full = backlog.IsFull(due);
      while (backlog.Has(due) && !stuck[due]) {
        int64_t from = 0;
        take(due, backlog.First(due, &from).offset);
        backlog.Applied(due);
      }
      if (stuck[due]) backlog.Failed(due, now);
      if (was_full && !backlog.Has(due)) read[due] = applied[due];
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_FALSE(backlog.NextTry());
  EXPECT_GT(full, 0U);
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
