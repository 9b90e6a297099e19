#include "units.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(Units, CountsHaveThousands) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(123456), "123,456");
  EXPECT_EQ(FormatCount(18446744073709551615ULL), "18,446,744,073,709,551,615");
}

TEST(Units, BytesAreBinary) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.0 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes((1 << 20) - 1), "1.0 MiB") << "never 1024.0 KiB";
  EXPECT_EQ(FormatBytes(5ULL << 30), "5.0 GiB");
  EXPECT_EQ(FormatBytes(18446744073709551615ULL), "16384.0 PiB");
}

TEST(Units, Rates) {
  EXPECT_EQ(FormatRate(0), "0/s");
  EXPECT_EQ(FormatRate(-1), "0/s");
  EXPECT_EQ(FormatRate(1.25), "1.2/s");
  EXPECT_EQ(FormatRate(812345.4), "812,345/s");
}

TEST(Units, PercentagesKeepThreeDigits) {
  EXPECT_EQ(FormatPercent(0), "0%");
  EXPECT_EQ(FormatPercent(1), "100%");
  EXPECT_EQ(FormatPercent(0.1234), "12.3%");
  EXPECT_EQ(FormatPercent(0.01234), "1.23%");
  EXPECT_EQ(FormatPercent(0.0025), "0.250%");
  EXPECT_EQ(FormatPercent(0.00018), "0.0180%");
  EXPECT_EQ(FormatPercent(1e-9), "<0.0001%");
}

TEST(Units, Times) {
  EXPECT_EQ(FormatTimeMs(0), "-");
  EXPECT_EQ(FormatTimeMs(1'700'000'000'000), "2023-11-14 22:13:20");
  EXPECT_EQ(FormatTimeMs(1'700'000'000'007), "2023-11-14 22:13:20.007");
  EXPECT_EQ(FormatTimeMs(951'782'400'000), "2000-02-29 00:00:00");
  EXPECT_EQ(FormatTimeMs(-1), "1969-12-31 23:59:59.999");
}

TEST(Units, Durations) {
  EXPECT_EQ(FormatDurationUs(35), "35 us");
  EXPECT_EQ(FormatDurationUs(1234), "1.2 ms");
  EXPECT_EQ(FormatDurationUs(2.5e6), "2.5 s");
  EXPECT_EQ(FormatDurationUs(200e6), "3 min 20 s");
  EXPECT_EQ(FormatDurationUs(7500e6), "2 h 5 min");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
