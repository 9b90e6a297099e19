#include "times/time_text.h"

#include <gtest/gtest.h>

namespace seendb::times::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kAt = 1'700'000'000'000;

TEST(ParseTimeMs, NumbersByMagnitude) {
  EXPECT_EQ(ParseTimeMs("1700000000"), kAt);
  EXPECT_EQ(ParseTimeMs("1700000000000"), kAt);
  EXPECT_EQ(ParseTimeMs("99999999999"), 99'999'999'999'000);
  EXPECT_EQ(ParseTimeMs("100000000000"), 100'000'000'000);
  EXPECT_EQ(ParseTimeMs("0"), 0);
}

TEST(ParseTimeMs, NumbersByUnit) {
  EXPECT_EQ(ParseTimeMs("1000", {.unit = TimeUnit::kMillis}), 1000);
  EXPECT_EQ(ParseTimeMs("1000", {.unit = TimeUnit::kSeconds}), 1'000'000);
  EXPECT_EQ(ParseTimeMs("253402300799", {.unit = TimeUnit::kSeconds}), 253'402'300'799'000);
}

TEST(ParseTimeMs, Fractions) {
  EXPECT_EQ(ParseTimeMs("1700000000.5"), kAt + 500);
  EXPECT_EQ(ParseTimeMs("1700000000.0079999"), kAt + 7);
  EXPECT_EQ(ParseTimeMs("1700000000000.9"), kAt);
}

TEST(ParseTimeMs, Iso8601) {
  EXPECT_EQ(ParseTimeMs("2023-11-14T22:13:20Z"), kAt);
  EXPECT_EQ(ParseTimeMs("2023-11-14 22:13:20"), kAt);
  EXPECT_EQ(ParseTimeMs("2023-11-15T06:13:20+08:00"), kAt);
  EXPECT_EQ(ParseTimeMs("2023-11-14T17:43:20.25-0430"), kAt + 250);
  EXPECT_EQ(ParseTimeMs("2023-11-14 22:13"), kAt - 20'000);
  EXPECT_EQ(ParseTimeMs("2023-11-14"), 1'699'920'000'000);
  EXPECT_EQ(ParseTimeMs("2000-02-29"), 951'782'400'000);
  EXPECT_EQ(ParseTimeMs("  2000-02-29 "), 951'782'400'000);
}

TEST(ParseTimeMs, MicrosecondsAndNanoseconds) {
  EXPECT_EQ(ParseTimeMs("1700000000123456"), kAt + 123);
  EXPECT_EQ(ParseTimeMs("1700000000123456789"), kAt + 123);
  EXPECT_EQ(ParseTimeMs("1700000000123456.7", {.unit = TimeUnit::kMicros}), kAt + 123);
  EXPECT_EQ(ParseTimeMs("1700000000123456789", {.unit = TimeUnit::kNanos}), kAt + 123);
  EXPECT_EQ(ParseTimeMs("99999999999999"), 99'999'999'999'999);
  EXPECT_EQ(ParseTimeMs("100000000000000"), 100'000'000'000);
  EXPECT_EQ(ParseTimeMs("999", {.unit = TimeUnit::kMicros}), 0);
}

TEST(ParseTimeMs, AsDatabasesWriteThem) {
  for (const char* text :
       {"2023-11-14 22:13:20+00", "2023-11-14 22:13:20 UTC", "2023-11-14 22:13:20 GMT",
        "2023-11-14 22:13:20 +00:00", "2023-11-15 03:43:20+0530", "2023-11-14 18:13:20-04",
        "2023-11-14t22:13:20z", "20231114T221320Z", "20231114T221320", "20231115T061320+0800",
        "20231114 22:13:20", "20231114221320"}) {
    const bool blank = std::string_view(text) == "20231114 22:13:20";
    EXPECT_EQ(ParseTimeMs(text), blank ? std::optional<int64_t>() : kAt) << text;
  }
  EXPECT_EQ(ParseTimeMs("2023-11-14 22:13:20.123456+00"), kAt + 123);
  EXPECT_EQ(ParseTimeMs("2023-11-14 22:13:20,123"), kAt + 123);
  EXPECT_EQ(ParseTimeMs("2023-11-14T22:13:20,Z"), std::nullopt);
  EXPECT_EQ(ParseTimeMs("1700000000,123"), std::nullopt) << "thousands, or a fraction";
  EXPECT_EQ(ParseTimeMs("20231114"), 1'699'920'000'000);
  EXPECT_EQ(ParseTimeMs("20231114", {.unit = TimeUnit::kSeconds}), 20'231'114'000);
  // No day: seconds of 1970, as before.
  EXPECT_EQ(ParseTimeMs("20231314"), 20'231'314'000);
  EXPECT_EQ(ParseTimeMs("20231314T000000"), std::nullopt);
}

TEST(ParseTimeMs, RefusesTheRest) {
  for (const char* text : {"",
                           " ",
                           "-1",
                           "+1",
                           "1e9",
                           "12a",
                           "1.",
                           "1.x",
                           ".5",
                           "nan",
                           "0x10",
                           "2023-13-01",
                           "2023-02-29",
                           "2023-11-14T24:00:00",
                           "2023-11-14T22:60:00",
                           "2023-11-14T22:13:20+24:00",
                           "2023-11-14T22:13:20Zx",
                           "2023-11-14T",
                           "2023-11",
                           "99999999999999999999",
                           "1969-12-31"}) {
    EXPECT_EQ(ParseTimeMs(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseTimeMs("253402300800", {.unit = TimeUnit::kSeconds}), std::nullopt);
  EXPECT_EQ(ParseTimeMs("253402300800000", {.unit = TimeUnit::kMillis}), std::nullopt);
  EXPECT_EQ(ParseTimeMs("9223372036854775807", {.unit = TimeUnit::kSeconds}), std::nullopt);
}

TEST(ParseTimeMs, AYearInFrontNeedsNoOrder) {
  for (const char* text : {"2023/11/14 22:13:20", "2023.11.14 22:13:20", "2023/11/14 10:13:20 PM",
                           "2023-11-14 22:13:20", "2023/11/15 00:13:20 +0200"}) {
    EXPECT_EQ(ParseTimeMs(text), kAt) << text;
  }
  EXPECT_EQ(ParseTimeMs("2023/11/5"), ParseTimeMs("2023-11-05"));
  EXPECT_EQ(ParseTimeMs("2023-1-5"), ParseTimeMs("2023-01-05"));
  for (const char* text : {"2023/13/01", "2023/02/29", "2023/11-14", "2023/11", "2023/11/14x",
                           "2023/11/14 ", "2023/11/14 24:00", "2023/11/14 13:00 PM",
                           "2023/11/14 0:30 AM", "2023/11/014", "2023/11/14T"}) {
    EXPECT_EQ(ParseTimeMs(text),
              text == std::string_view("2023/11/14 ") ? ParseTimeMs("2023-11-14") : std::nullopt)
        << text;
  }
}

TEST(ParseTimeMs, AnOrderSaysWhichNumberIsTheDay) {
  const TimeForm dmy{.order = DateOrder::kDayMonthYear};
  const TimeForm mdy{.order = DateOrder::kMonthDayYear};
  const TimeForm ymd{.order = DateOrder::kYearMonthDay};
  const auto day = ParseTimeMs("2024-02-01");
  for (const char* text : {"01/02/2024", "1/2/24", "1.2.2024", "01.02.24", "1-2-2024"}) {
    EXPECT_EQ(ParseTimeMs(text), std::nullopt) << text << " without an order";
    EXPECT_EQ(ParseTimeMs(text, dmy), day) << text;
    EXPECT_EQ(ParseTimeMs(text, mdy), ParseTimeMs("2024-01-02")) << text;
  }
  EXPECT_EQ(ParseTimeMs("24/02/01", ymd), day);
  EXPECT_EQ(ParseTimeMs("1/15/24", mdy), ParseTimeMs("2024-01-15"));
  EXPECT_EQ(ParseTimeMs("1/15/24", dmy), std::nullopt);
  EXPECT_EQ(ParseTimeMs("29.2.23", dmy), std::nullopt);
  EXPECT_EQ(ParseTimeMs("1/2/024", mdy), std::nullopt);
  EXPECT_EQ(ParseTimeMs("001/2/24", mdy), std::nullopt);
  EXPECT_EQ(ParseTimeMs("1/2", mdy), std::nullopt);
  EXPECT_EQ(ParseTimeMs("11/14/2023, 10:13:20 PM", mdy), kAt);
  EXPECT_EQ(ParseTimeMs("14.11.2023 22:13:20", dmy), kAt);
  EXPECT_EQ(ParseTimeMs("14/11/2023 22:13:20 GMT", dmy), kAt);
  EXPECT_EQ(ParseTimeMs("14-11-2023T22:13:20Z", dmy), kAt);
  EXPECT_EQ(ParseTimeMs("1/1/2024T00:00:00Z", dmy), ParseTimeMs("2024-01-01"));
  EXPECT_EQ(ParseTimeMs("1/2/24 9:05", mdy), ParseTimeMs("2024-01-02 09:05"));
  EXPECT_EQ(ParseTimeMs("1/2/24 12:05 AM", mdy), ParseTimeMs("2024-01-02 00:05"));
  EXPECT_EQ(ParseTimeMs("1/2/24 12:05 pm", mdy), ParseTimeMs("2024-01-02 12:05"));
  // Other forms are read as without an order.
  EXPECT_EQ(ParseTimeMs("2023-11-14T22:13:20Z", dmy), kAt);
  EXPECT_EQ(ParseTimeMs("1700000000.5", dmy), kAt + 500);
  EXPECT_EQ(ParseTimeMs("20231114", mdy), ParseTimeMs("2023-11-14"));
  const auto local = ReadTime("1/2/24", mdy);
  ASSERT_TRUE(local);
  EXPECT_TRUE(local->local);
}

TEST(ReadTime, DatesWithoutAZoneAreOfTheFormsZone) {
  const auto pacific = TimeZone::Named("America/Los_Angeles");
  ASSERT_TRUE(pacific.ok()) << pacific.status().ToString();
  const TimeForm form{.zone = *pacific};
  for (const char* text :
       {"2023-11-14 14:13:20", "2023-11-14T14:13:20.000", "20231114T141320", "20231114141320"}) {
    const auto read = ReadTime(text, form);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->at_ms, kAt) << text;
    EXPECT_TRUE(read->local) << text;
  }
  EXPECT_EQ(ParseTimeMs("2023-11-14", form), 1'699'920'000'000 + 8 * 3'600'000);
  EXPECT_EQ(ParseTimeMs("20231114", form), 1'699'920'000'000 + 8 * 3'600'000);
  for (const char* text : {"2023-11-14 22:13:20Z", "2023-11-14 22:13:20 UTC", "1700000000",
                           "2023-11-15T06:13:20+08:00"}) {
    const auto read = ReadTime(text, form);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->at_ms, kAt) << text;
    EXPECT_FALSE(read->local) << text;
  }
  // The epoch there is 8 hours later, and what lies before it is no time of ours.
  EXPECT_EQ(ParseTimeMs("1970-01-01", form), 8 * 3'600'000);
  EXPECT_EQ(ParseTimeMs("1970-01-01", {.zone = TimeZone::Fixed(3'600'000)}), std::nullopt);
}

TEST(ParseOffsetMs, ZonesOfHours) {
  EXPECT_EQ(ParseOffsetMs("Z"), 0);
  EXPECT_EQ(ParseOffsetMs("UTC"), 0);
  EXPECT_EQ(ParseOffsetMs("+08"), 28'800'000);
  EXPECT_EQ(ParseOffsetMs("-0330"), -12'600'000);
  EXPECT_EQ(ParseOffsetMs("+05:45"), 20'700'000);
  for (const char* text : {"", "8", "+8", "+24:00", "+08:60", "+08:00x", "CET"}) {
    EXPECT_EQ(ParseOffsetMs(text), std::nullopt) << text;
  }
}

TEST(ParseSpanMs, Units) {
  EXPECT_EQ(ParseSpanMs("0"), 0);
  EXPECT_EQ(ParseSpanMs("500ms"), 500);
  EXPECT_EQ(ParseSpanMs("30s"), 30'000);
  EXPECT_EQ(ParseSpanMs("10m"), 600'000);
  EXPECT_EQ(ParseSpanMs("-12h"), -43'200'000);
  EXPECT_EQ(ParseSpanMs("90d"), 7'776'000'000);
  for (const char* text : {"", "500", "d", "1w", "1 d", "1.5h", "9223372036854775807d"}) {
    EXPECT_EQ(ParseSpanMs(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace seendb::times::SEENDB_TEST_FILE
