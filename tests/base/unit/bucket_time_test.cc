#include <chrono>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "seendb/policy.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;

Policy Months(int32_t utc_offset_minutes = 0) {
  Policy policy;
  policy.utc_offset_minutes = utc_offset_minutes;
  return policy;
}

Policy Days(uint16_t days, int32_t utc_offset_minutes = 0) {
  Policy policy;
  policy.bucket = {BucketKind::kDays, days};
  policy.utc_offset_minutes = utc_offset_minutes;
  return policy;
}

std::string LabelAt(const Policy& policy, int64_t at_ms) {
  return BucketLabel(policy, BucketIndexOf(policy, at_ms));
}

TEST(BucketTime, MonthsAgreeWithTheStandardCalendar) {
  using namespace std::chrono;
  const Policy policy = Months();
  // Every day from the year -400 to 2600, as the standard library counts them.
  const sys_days first = sys_days(year(-400) / January / 1);
  const sys_days last = sys_days(year(2600) / January / 1);
  for (sys_days day = first; day < last; day += days(1)) {
    const year_month_day date(day);
    const int64_t month = int64_t{int(date.year())} * 12 + unsigned(date.month()) - 1;
    const int64_t begin_ms = duration_cast<milliseconds>(day.time_since_epoch()).count();
    ASSERT_EQ(BucketIndexOf(policy, begin_ms), month);
    ASSERT_EQ(BucketIndexOf(policy, begin_ms + kDayMs - 1), month);
    if (date.day() == std::chrono::day(1)) {
      ASSERT_EQ(BucketBeginMs(policy, month), begin_ms);
    }
  }
}

TEST(BucketTime, MonthLabels) {
  EXPECT_EQ(LabelAt(Months(), 0), "1970-01");
  EXPECT_EQ(LabelAt(Months(), -1), "1969-12");
  EXPECT_EQ(LabelAt(Months(), 1'700'000'000'000), "2023-11");
  EXPECT_EQ(BucketLabel(Months(), 2026 * 12 + 10), "2026-11");
  EXPECT_EQ(BucketLabel(Months(), 7 * 12), "0007-01");
}

TEST(BucketTime, DayLabelsAreOfTheFirstDay) {
  EXPECT_EQ(LabelAt(Days(1), 0), "1970-01-01");
  EXPECT_EQ(LabelAt(Days(1), -1), "1969-12-31");
  EXPECT_EQ(LabelAt(Days(10), 9 * kDayMs), "1970-01-01");
  EXPECT_EQ(LabelAt(Days(10), 10 * kDayMs), "1970-01-11");
  EXPECT_EQ(LabelAt(Days(10), -1), "1969-12-22");
  EXPECT_EQ(LabelAt(Days(10), -10 * kDayMs), "1969-12-22");
  EXPECT_EQ(LabelAt(Days(10), -10 * kDayMs - 1), "1969-12-12");
  EXPECT_EQ(LabelAt(Days(1), 951'782'400'000), "2000-02-29");
  EXPECT_EQ(LabelAt(Days(1), 951'868'800'000), "2000-03-01");
}

TEST(BucketTime, TheOffsetShiftsTheEdges) {
  // 2026-11-01 00:00 at +08:00 is 2026-10-31 16:00 UTC.
  const int64_t local_midnight = BucketBeginMs(Months(), 2026 * 12 + 10) - 8 * kHourMs;
  EXPECT_EQ(LabelAt(Months(480), local_midnight), "2026-11");
  EXPECT_EQ(LabelAt(Months(480), local_midnight - 1), "2026-10");
  EXPECT_EQ(BucketBeginMs(Months(480), 2026 * 12 + 10), local_midnight);
  EXPECT_EQ(LabelAt(Days(1, 480), 16 * kHourMs), "1970-01-02");
  EXPECT_EQ(LabelAt(Days(1, 480), 16 * kHourMs - 1), "1970-01-01");
  EXPECT_EQ(LabelAt(Days(1, -210), 3 * kHourMs), "1969-12-31");
  EXPECT_EQ(BucketBeginMs(Days(1, -210), 0), 210 * 60'000);
}

TEST(BucketTime, BeginIsTheFirstMillisecondOfItsBucket) {
  for (const Policy& policy :
       {Months(), Months(480), Months(-840), Days(1), Days(7, 330), Days(10, -720), Days(366)}) {
    for (int64_t at_ms = -40'000 * kDayMs; at_ms < 40'000 * kDayMs; at_ms += 13 * kDayMs + 7'919) {
      const int64_t index = BucketIndexOf(policy, at_ms);
      ASSERT_LE(BucketBeginMs(policy, index), at_ms);
      ASSERT_GT(BucketBeginMs(policy, index + 1), at_ms);
      ASSERT_EQ(BucketIndexOf(policy, BucketBeginMs(policy, index)), index);
      ASSERT_EQ(BucketIndexOf(policy, BucketBeginMs(policy, index) - 1), index - 1);
    }
  }
}

TEST(BucketTime, LabelsReadBack) {
  for (const Policy& policy : {Months(480), Days(1), Days(10, 480), Days(31, -60)}) {
    const int64_t now = BucketIndexOf(policy, 1'795'000'000'000);
    for (int64_t index = now - 500; index < now + 500; ++index) {
      const Result<int64_t> read = BucketIndexOfLabel(policy, BucketLabel(policy, index));
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      ASSERT_EQ(*read, index);
    }
  }
}

TEST(BucketTime, LabelsOfNoBucketAreRefused) {
  for (const char* label :
       {"", "2026", "2026-", "2026-1", "2026-00", "2026-13", "2026-11-20", "2026-11 ", " 2026-11",
        "202-611", "2026/11", "+026-11", "-026-11", "20261-1", "2026-1a"}) {
    EXPECT_EQ(BucketIndexOfLabel(Months(), label).status().code(), StatusCode::kInvalidArgument)
        << label;
  }
  for (const char* label : {"2026-11", "2026-11-", "2026-11-00", "2026-11-31", "2026-02-29",
                            "2026-11-2", "2026-11-200", "2026-11/20"}) {
    EXPECT_EQ(BucketIndexOfLabel(Days(1), label).status().code(), StatusCode::kInvalidArgument)
        << label;
  }
  EXPECT_TRUE(BucketIndexOfLabel(Days(1), "2024-02-29").ok());
  // A day, but not the first of a run of ten counted from 1970.
  EXPECT_TRUE(BucketIndexOfLabel(Days(10), "1970-01-11").ok());
  EXPECT_FALSE(BucketIndexOfLabel(Days(10), "1970-01-12").ok());
}

TEST(BucketTime, EndsOfTimeAreSafe) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const Policy& policy : {Months(840), Months(-840), Days(1, 840), Days(366, -840)}) {
    const int64_t first = BucketIndexOf(policy, kLeast);
    const int64_t last = BucketIndexOf(policy, kMost);
    EXPECT_LT(first, BucketIndexOf(policy, 0));
    EXPECT_GT(last, BucketIndexOf(policy, 0));
    for (const int64_t index : {kLeast, first, last, kMost}) {
      EXPECT_FALSE(BucketLabel(policy, index).empty());
    }
    EXPECT_LT(BucketBeginMs(policy, kLeast), BucketBeginMs(policy, 0));
    EXPECT_GT(BucketBeginMs(policy, kMost), BucketBeginMs(policy, 0));
  }
}

TEST(DayTest, IsThatOfThePolicysTimeZone) {
  Policy policy;
  constexpr int64_t kDay = 86'400'000;
  EXPECT_EQ(DayOf(policy, 0), 0);
  EXPECT_EQ(DayOf(policy, -1), -1);
  EXPECT_EQ(DayOf(policy, 20'522 * kDay + kDay - 1), 20'522);
  policy.utc_offset_minutes = 8 * 60;
  EXPECT_EQ(DayOf(policy, 16 * 3'600'000 - 1), 0);
  EXPECT_EQ(DayOf(policy, 16 * 3'600'000), 1);
  policy.utc_offset_minutes = -90;
  EXPECT_EQ(DayOf(policy, 90 * 60'000 - 1), -1);
}

TEST(DayTest, IsReadAsItIsWritten) {
  for (const auto& [day, text] : {std::pair<int64_t, const char*>{0, "1970-01-01"},
                                  {-1, "1969-12-31"},
                                  {20'522, "2026-03-10"},
                                  {19'782, "2024-02-29"}}) {
    EXPECT_EQ(DayText(day), text);
    const Result<int64_t> read = DayOfText(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, day);
  }
  for (const char* text : {"", "2026-03", "2026-02-29", "2026-13-01", "2026-00-10", "2026-03-00",
                           "2026-3-10", "2026-03-10 ", " 2026-03-10", "2026/03/10", "+026-03-10"}) {
    EXPECT_EQ(DayOfText(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
