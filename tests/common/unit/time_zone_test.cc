#include "times/time_zone.h"

#include <gtest/gtest.h>

#include "times/time_text.h"

namespace seendb::times::SEENDB_TEST_FILE {
namespace {

int64_t Utc(const char* text) { return ParseTimeMs(text).value(); }

TEST(TimeZone, FixedOnesAreAlwaysSoFarEast) {
  EXPECT_EQ(TimeZone().ToUtcMs(5), 5);
  EXPECT_EQ(TimeZone().name(), "UTC");
  EXPECT_EQ(TimeZone::Fixed(3'600'000).ToUtcMs(3'600'005), 5);
  EXPECT_EQ(TimeZone::Fixed(-34'200'000).name(), "-09:30");
  EXPECT_EQ(TimeZone::Fixed(20'700'000).name(), "+05:45");
}

TEST(TimeZone, NamesAreOfTheSystemOrOffsets) {
  for (const char* name : {"UTC", "+05:45", "Asia/Shanghai"}) {
    const auto zone = TimeZone::Named(name);
    ASSERT_TRUE(zone.ok()) << zone.status().ToString();
    EXPECT_EQ(zone->name(), name);
  }
  for (const char* name : {"", "Mars/Olympus", "../etc/passwd", "/etc/localtime"}) {
    EXPECT_FALSE(TimeZone::Named(name).ok()) << name;
  }
}

TEST(TimeZone, DaylightSavingCounts) {
  const auto berlin = TimeZone::Named("Europe/Berlin");
  ASSERT_TRUE(berlin.ok()) << berlin.status().ToString();
  EXPECT_EQ(berlin->ToUtcMs(Utc("2026-01-15T12:00:00")), Utc("2026-01-15T11:00:00"));
  EXPECT_EQ(berlin->ToUtcMs(Utc("2026-07-15T12:00:00")), Utc("2026-07-15T10:00:00"));
  // 02:30 was twice: the first counts. In spring it never was: the moment of the change.
  EXPECT_EQ(berlin->ToUtcMs(Utc("2026-10-25T02:30:00")), Utc("2026-10-25T00:30:00"));
  EXPECT_EQ(berlin->ToUtcMs(Utc("2026-03-29T02:30:00")), Utc("2026-03-29T01:00:00"));
}

}  // namespace
}  // namespace seendb::times::SEENDB_TEST_FILE
