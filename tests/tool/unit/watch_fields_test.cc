#include "watch_fields.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

/// What is wrong with the text; empty: taken.
std::string Why(WatchField field, const std::string& text, SpanUnit unit = SpanUnit::kSeconds) {
  Watch watch;
  std::string error;
  return TakeWatchField(field, text, unit, &watch, &error) ? "" : error;
}

int32_t Seconds(WatchField field, const std::string& text, SpanUnit unit) {
  Watch watch;
  std::string error;
  EXPECT_TRUE(TakeWatchField(field, text, unit, &watch, &error)) << text << ": " << error;
  return (field == kProgress ? watch.progress_s : watch.duration_s).value_or(-2);
}

TEST(WatchFields, SpansAreWholeSeconds) {
  EXPECT_EQ(Seconds(kProgress, "95", SpanUnit::kSeconds), 95);
  EXPECT_EQ(Seconds(kDuration, "2147483647", SpanUnit::kSeconds), INT32_MAX);
  EXPECT_EQ(Seconds(kProgress, "1999", SpanUnit::kMillis), 1);
  EXPECT_EQ(Seconds(kDuration, "2147483647999", SpanUnit::kMillis), INT32_MAX);
  for (const SpanUnit unit : {SpanUnit::kSeconds, SpanUnit::kMillis}) {
    EXPECT_EQ(Seconds(kProgress, "-1", unit), kFinished);
  }
  for (const char* text : {"-2", "1.5", "1s", "+1", " 1", "x", "9223372036854775808"}) {
    EXPECT_EQ(Why(kProgress, text),
              "progress_s: must be a whole number, a span like 1:02:03, or -1 for finished");
    EXPECT_EQ(Why(kDuration, text), "duration_s: must be a whole number, or a span like 1:02:03");
  }
  EXPECT_NE(Why(kDuration, "-1"), "");
  EXPECT_NE(Why(kDuration, "2147483648"), "");
  EXPECT_NE(Why(kProgress, "2147483648000", SpanUnit::kMillis), "");
}

TEST(WatchFields, SpansMayBeWrittenAsClocksAre) {
  for (const SpanUnit unit : {SpanUnit::kSeconds, SpanUnit::kMillis}) {
    EXPECT_EQ(Seconds(kProgress, "00:42:31", unit), 42 * 60 + 31);
    EXPECT_EQ(Seconds(kDuration, "1:02:03", unit), 3723);
    EXPECT_EQ(Seconds(kDuration, "100:00:00", unit), 360'000);
    EXPECT_EQ(Seconds(kProgress, "90:05", unit), 5405);
  }
  for (const char* text : {":", "1:", ":01", "1:2", "1:60", "1:-1", "1:00:60", "1:2:03",
                           "1:00:00:00", "1:02:03.5", "2147483648:00", "35791395:00:00", "1: 2"}) {
    EXPECT_NE(Why(kProgress, text), "") << text;
  }
}

TEST(WatchFields, TextsHaveTheLimitsOfThePlays) {
  EXPECT_EQ(Why(kDevice, std::string(64, 'a')), "");
  EXPECT_EQ(Why(kDevice, std::string(65, 'a')), "device: longer than 64 bytes");
  EXPECT_EQ(Why(kDevice, "\xFF"), "device: not UTF-8");
  const auto object = [](size_t bytes) {
    return "{\"a\":\"" + std::string(bytes - 8, 'a') + "\"}";
  };
  EXPECT_EQ(Why(kFields, object(1024)), "");
  EXPECT_EQ(Why(kFields, object(1025)), "fields: longer than 1,024 bytes");
  for (const std::string text : {"[1]", "1", "{", "{\"a\":1}x", "{\"a\":\"\xFF\"}"}) {
    EXPECT_EQ(Why(kFields, text), "fields: not a JSON object") << text;
  }
  EXPECT_EQ(Why(kFields, std::string("{}\0", 3)), "fields: not a JSON object");
}

TEST(WatchFields, SpaceAroundAnObjectIsNoPartOfIt) {
  Watch watch;
  std::string error;
  const std::string text = " \r\n{ \"a\" :1\n}\t\n";
  ASSERT_TRUE(TakeWatchField(kFields, text, SpanUnit::kSeconds, &watch, &error)) << error;
  EXPECT_EQ(watch.fields, "{ \"a\" :1\n}");
  EXPECT_EQ(Why(kFields, " \n"), "fields: not a JSON object");
}

TEST(WatchFields, MembersAsTheyAreWritten) {
  const std::string object =
      R"( { "a" : 1e9 ,"b":{ "fields":1, "c":[2,{"d":"}],\""}] } , "\u0066ields" : {"x": 1.0 },"e":"\\" } )";
  EXPECT_EQ(RawMember(object, "a"), "1e9");
  EXPECT_EQ(RawMember(object, "b"), R"({ "fields":1, "c":[2,{"d":"}],\""}] })");
  EXPECT_EQ(RawMember(object, "fields"), R"({"x": 1.0 })");
  EXPECT_EQ(RawMember(object, "e"), R"("\\")");
  EXPECT_EQ(RawMember(object, "c"), "");
  EXPECT_EQ(RawMember("{}", "a"), "");
  EXPECT_EQ(RawMember(R"({"a":1,"a":2})", "a"), "2") << "the last counts, as elsewhere";
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
