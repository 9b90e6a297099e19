// The three policies that must work as written, over simulated time: what was seen within the
// window is not answered, what is older comes back, what is past retention is gone; buckets are
// sealed and dropped in the maintenance window of the policy's time zone.

#include <cmath>
#include <map>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kMinuteMs = 60'000;

class PoliciesTest : public EngineTest {
 protected:
  PoliciesTest() { options_.shards = 1; }

  std::map<std::string, BucketState> States(const std::string& collection) {
    std::map<std::string, BucketState> states;
    for (const BucketInfo& bucket : engine_->Buckets()) {
      if (bucket.collection == collection) states[bucket.bucket] = bucket.state;
    }
    return states;
  }
  bool Seen(const std::string& collection, const std::string& item) {
    const bool seen = Unseen("u1", {item}, collection).empty();
    EXPECT_FALSE(answer_.degraded);
    return seen;
  }
  // Moves on day by day at `hour`, running what falls due.
  void GoTo(int64_t ms) {
    while (clock_.NowMs() + kDayMs < ms) {
      clock_.Advance(kDayMs);
      RunDue();
    }
    clock_.Set(ms);
    RunDue();
  }
  // The share of never-played items answered seen.
  double RateOf(const std::string& collection, int probes) {
    const Items never = Numbered("never-", probes);
    const auto unseen = static_cast<double>(Unseen("u1", never, collection).size());
    return 1 - unseen / probes;
  }
};

// Short video: months, window 4, retention 6, the last 100 served.
TEST_F(PoliciesTest, ShortVideo) {
  constexpr int64_t kMonths[] = {1'773'144'000'000, 1'775'822'400'000, 1'778'414'400'000,
                                 1'781'092'800'000, 1'783'684'800'000, 1'786'363'200'000,
                                 1'789'041'600'000};  // the 10th, 12:00, March to September 2026
  Open();
  for (int month = 0; month < 7; ++month) {
    GoTo(kMonths[month]);
    const std::string name = "m" + std::to_string(month) + "-";
    EXPECT_EQ(Play("u1", Numbered(name, 500)), 500u);
    RunDue();
    for (int past = 0; past <= month; ++past) {
      EXPECT_EQ(Seen("default", "m" + std::to_string(past) + "-7"), month - past < 4)
          << past << " in month " << month;
    }
  }
  // September: April to September are kept, June to September are read.
  std::map<std::string, BucketState> states = States("default");
  EXPECT_EQ(states.size(), 6u);
  EXPECT_FALSE(states.contains("2026-03")) << "past retention";
  for (const char* sealed : {"2026-04", "2026-05", "2026-06", "2026-07", "2026-08"}) {
    EXPECT_EQ(states[sealed], BucketState::kSealed) << sealed;
  }
  EXPECT_EQ(states["2026-09"], BucketState::kOpen);
  EXPECT_EQ(engine_->Stats().buckets_dropped, 1u);
  EXPECT_LE(RateOf("default", 20'000), 0.01);

  // The last 100 served, of those within the window.
  Serve("u1", Numbered("old-", 60));
  clock_.Advance(1);
  Serve("u1", Numbered("new-", 70));
  EXPECT_EQ(Unseen("u1", Numbered("new-", 70)), Items{});
  EXPECT_EQ(Unseen("u1", Numbered("old-", 60), "default", kFactImpressions), Numbered("old-", 30))
      << "the first 30 gave way";
  EXPECT_EQ(Play("u1", {"late"}, kMonths[1]), 1u) << "kept, not read";
  EXPECT_FALSE(Seen("default", "late"));
  EXPECT_EQ(Play("u1", {"too late"}, kMonths[0]), 0u);
}

// 10,000 items at 1%: 7 buckets of a day, served counts as seen.
TEST_F(PoliciesTest, TenThousandItemsInSevenDays) {
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 1};
  patch.window = 7;
  patch.retention = 7;
  patch.served_is_seen = true;
  patch.impressions = 50;
  options_.list_limit = 512;
  Open();
  Put("feed", patch);
  clock_.Set(kStartMs - 12 * kHourMs);  // midnight
  const auto item = [](int day, int i) {
    return "d" + std::to_string(day) + "-" + std::to_string(i);
  };
  for (int day = 0; day < 10; ++day) {
    for (int hour = 0; hour < 24; hour += 6) {
      Items served;
      for (int i = hour * 60; i < (hour + 6) * 60; ++i) served.push_back(item(day, i));  // 1,440
      EXPECT_EQ(Serve("u1", served, std::nullopt, "feed"), served.size());
      EXPECT_TRUE(Seen("feed", item(day, hour * 60)));
      clock_.Advance(6 * kHourMs);
      RunDue();
    }
  }
  // It is the first moment of day 10; the days 4 to 10 are read: 8,640 items and counting.
  int64_t kept = 0;
  for (int day = 0; day < 10; ++day) {
    Items asked;
    for (int i = 0; i < 1440; ++i) asked.push_back(item(day, i));
    const size_t unseen = Unseen("u1", asked, "feed").size();
    if (day >= 4) {
      EXPECT_EQ(unseen, 0u) << "day " << day;
      kept += 1440;
    } else {
      EXPECT_GE(static_cast<double>(unseen), 1440 * 0.95) << "day " << day << " came back";
    }
  }
  EXPECT_EQ(kept, 8'640);
  EXPECT_LE(RateOf("feed", 20'000), 0.01);
  EXPECT_EQ(States("feed").size(), 7u) << "a day goes when its week is over";
  const auto report = engine_->Inspect(IdRef("u1"), "feed");
  ASSERT_TRUE(report.ok());
  uint64_t bytes = 0, items = 0;
  for (const BucketReport& bucket : report->buckets) {
    bytes += bucket.bytes;
    items += bucket.items;
  }
  EXPECT_GE(items, 8'600u);
  EXPECT_LE(static_cast<double>(bytes), 3.0 * static_cast<double>(items));
  EXPECT_EQ(report->impressions.at(0).entries.size(), 50u);
}

// Four buckets of ten days over a window of thirty days.
TEST_F(PoliciesTest, FourTenDayBuckets) {
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 10};
  patch.window = 4;
  patch.retention = 4;
  Open();
  Put("article", patch);
  Policy policy;
  policy.bucket = *patch.bucket;
  const int64_t index = BucketIndexOf(policy, clock_.NowMs());
  const int64_t begin = BucketBeginMs(policy, index);
  ASSERT_EQ(BucketBeginMs(policy, index + 1) - begin, 10 * kDayMs);
  for (int day = 0; day < 80; ++day) {
    GoTo(begin + day * kDayMs + kHourMs);
    Play("u1", {"day" + std::to_string(day)}, std::nullopt, "article");
    for (int past = std::max(0, day - 45); past <= day; ++past) {
      const bool within = day / 10 - past / 10 < 4;
      ASSERT_EQ(Seen("article", "day" + std::to_string(past)), within) << past << " on " << day;
      if (day - past <= 30) {
        ASSERT_TRUE(within) << "thirty days are covered at any time";
      }
    }
  }
  const std::map<std::string, BucketState> states = States("article");
  ASSERT_LE(states.size(), 5u);
  EXPECT_EQ(states.begin()->first, BucketLabel(policy, index + 4));
  EXPECT_EQ(states.at(BucketLabel(policy, index + 6)), BucketState::kSealed);
  EXPECT_EQ(states.at(BucketLabel(policy, index + 7)), BucketState::kOpen);
  EXPECT_EQ(engine_->Stats().buckets_dropped, 4u);
}

// Edges of buckets, and the hours of maintenance, are those of the policy's time zone.
TEST_F(PoliciesTest, TheTimeZoneShiftsEdgesAndMaintenance) {
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 1};
  patch.window = 2;
  patch.retention = 2;
  patch.utc_offset_minutes = 8 * 60;
  options_.maintenance_begin_minute = 3 * 60;  // 03:00-05:00 there is 19:00-21:00 UTC
  options_.maintenance_end_minute = 5 * 60;
  Open();
  Put("china", patch);
  const int64_t edge = kStartMs + 4 * kHourMs;  // 2026-03-10 16:00 UTC
  clock_.Set(edge - 1);
  RunDue();
  Play("u1", {"before"}, std::nullopt, "china");
  clock_.Set(edge);
  RunDue();
  Play("u1", {"after"}, std::nullopt, "china");
  Drain();
  EXPECT_TRUE(Seen("china", "before"));
  EXPECT_EQ(answer_.reasons[0].bucket_index + 1,
            BucketIndexOf({.bucket = *patch.bucket}, edge) + 1);
  EXPECT_TRUE(States("china").contains("2026-03-10"));
  EXPECT_TRUE(States("china").contains("2026-03-11"));

  // Ended at 16:00 UTC, sealed no earlier than 19:00.
  clock_.Set(edge + 3 * kHourMs - kMinuteMs);
  RunDue();
  EXPECT_EQ(States("china")["2026-03-10"], BucketState::kClosed);
  clock_.Set(edge + 3 * kHourMs);
  RunDue();
  EXPECT_EQ(States("china")["2026-03-10"], BucketState::kSealed);

  // The next day it is outside window and retention at once, and is dropped at 19:00.
  clock_.Set(edge + kDayMs - 1);
  RunDue();
  EXPECT_TRUE(Seen("china", "before"));
  clock_.Set(edge + kDayMs);
  RunDue();
  EXPECT_FALSE(Seen("china", "before"));
  EXPECT_TRUE(Seen("china", "after"));
  EXPECT_EQ(States("china")["2026-03-10"], BucketState::kExpired);
  clock_.Set(edge + kDayMs + 3 * kHourMs);
  RunDue();
  EXPECT_FALSE(States("china").contains("2026-03-10"));
}

// A jump over months runs everything that fell due; an engine closed over its window catches up.
TEST_F(PoliciesTest, WhatFellDueIsMadeUpFor) {
  Open();
  Play("u1", {"march"});
  Drain();
  clock_.Set(kStartMs + 40 * kDayMs);  // 19 April, 12:00
  RunDue();
  EXPECT_EQ(States("default")["2026-03"], BucketState::kSealed);
  Play("u1", {"april"});
  Drain();
  engine_.reset();
  clock_.Set(kStartMs + 70 * kDayMs);  // 19 May, 12:00: outside the maintenance window
  Open();
  RunDue();
  EXPECT_EQ(States("default")["2026-04"], BucketState::kClosed);
  clock_.Set(kStartMs + 70 * kDayMs + 12 * kHourMs);
  RunDue();
  EXPECT_EQ(States("default")["2026-04"], BucketState::kSealed);
  EXPECT_TRUE(Seen("default", "march"));
  EXPECT_TRUE(Seen("default", "april"));
  clock_.Set(kStartMs + 300 * kDayMs);
  RunDue();
  EXPECT_EQ(States("default").size(), 1u) << "everything else is past retention";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
