// Plays and impressions from JSON, and what became of them to JSON.

#include "wire/events_json.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "wire/unit/padded.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

using test::Padded;

Status Plays(std::string_view json, PlaysCall* call) {
  const Padded body(json);
  JsonDocument document;
  return ParsePlays(body.view(), &document, call);
}

TEST(EventsJsonTest, ReadsPlays) {
  const Padded body(
      R"({"collection":"video","events":[{"user":"u1","item":"v\u0031","at":1700000000000},)"
      R"({"at":0,"item":7,"user":8},{"item":"x","user":"y"}]})");
  JsonDocument document;
  PlaysCall call;
  ASSERT_TRUE(ParsePlays(body.view(), &document, &call).ok());
  EXPECT_EQ(call.collection, "video");
  ASSERT_EQ(call.plays.size(), 3u);
  EXPECT_EQ(call.plays[0].item.ToString(), "v1");
  EXPECT_EQ(call.plays[0].at_ms, 1'700'000'000'000);
  EXPECT_EQ(call.plays[1].user.ToString(), "8");
  EXPECT_EQ(call.plays[1].at_ms, 0);
  EXPECT_EQ(call.plays[2].at_ms, std::nullopt);
}

TEST(EventsJsonTest, ReadsWhereThePlayerIs) {
  const Padded body(
      R"({"events":[{"user":"u","item":"a"},{"user":"u","item":"b","progress_s":-1},)"
      R"({"device":"t\\v","fields": { "a" : [ {"b\"}":null} ] } ,"user":"u","item":"c",)"
      R"("duration_s":2147483647,"progress_s":95},{"user":"u","item":"d","fields":{}},)"
      R"({"user":"u","item":"e"},{"user":"u","item":"f","device":""}]})");
  JsonDocument document;
  PlaysCall call;
  const Status status = ParsePlays(body.view(), &document, &call);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(call.plays.size(), 6u);
  EXPECT_EQ(call.watches.size(), 4u);
  EXPECT_EQ(call.plays[0].watch, nullptr);
  ASSERT_NE(call.plays[1].watch, nullptr);
  EXPECT_EQ(call.plays[1].watch->progress_s, kFinished);
  EXPECT_EQ(call.plays[1].watch->duration_s, std::nullopt);
  ASSERT_NE(call.plays[2].watch, nullptr);
  EXPECT_EQ(call.plays[2].watch->device, R"(t\v)");
  EXPECT_EQ(call.plays[2].watch->fields, R"({ "a" : [ {"b\"}":null} ] })");
  EXPECT_EQ(call.plays[2].watch->duration_s, INT32_MAX);
  EXPECT_EQ(call.plays[2].watch->progress_s, 95);
  ASSERT_NE(call.plays[3].watch, nullptr);
  EXPECT_EQ(call.plays[3].watch->fields, "{}");
  EXPECT_EQ(call.plays[4].watch, nullptr);
  ASSERT_NE(call.plays[5].watch, nullptr);
  EXPECT_EQ(call.plays[5].watch->device, "");
}

/// `{"events":[{...,MEMBER}]}`.
std::string PlayWith(const std::string& member) {
  return R"({"events":[{"user":"u","item":"v",)" + member + "}]}";
}

TEST(EventsJsonTest, RefusesWhatNoPlayerSays) {
  const auto object_of = [](size_t bytes) {
    return "{\"k\":\"" + std::string(bytes - 8, 'x') + "\"}";
  };
  const auto nested = [](size_t levels) {  // brackets in a text are no levels
    std::string inside = R"("]{[\"[")";
    for (size_t i = 1; i < levels; ++i) inside = "[" + inside + "]";
    return "{\"k\":" + inside + "}";
  };
  PlaysCall call;
  EXPECT_TRUE(Plays(PlayWith("\"fields\":" + object_of(kMaxFieldsBytes)), &call).ok());
  EXPECT_TRUE(Plays(PlayWith("\"fields\":" + nested(kMaxOpaqueDepth)), &call).ok());
  EXPECT_TRUE(
      Plays(PlayWith("\"device\":\"" + std::string(kMaxDeviceBytes, 'd') + "\""), &call).ok());
  const std::pair<const char*, std::string> cases[] = {
      {"progress_s", "-2"},
      {"progress_s", "1.5"},
      {"progress_s", "2147483648"},
      {"progress_s", "\"1\""},
      {"progress_s", "-1.0"},
      {"duration_s", "-1"},
      {"duration_s", "1e3"},
      {"duration_s", "2147483648"},
      {"device", "7"},
      {"device", "\"\\ud800\""},
      {"device", "\"" + std::string(kMaxDeviceBytes + 1, 'd') + "\""},
      {"fields", "[]"},
      {"fields", "\"{}\""},
      {"fields", object_of(kMaxFieldsBytes + 1)},
      {"fields", nested(kMaxOpaqueDepth + 1)},
      {"fields", R"({"a" 1})"},
      {"fields", R"({"a":1,})"},
      {"fields", R"({"a":tru})"},
      {"fields", R"({a:1})"},
      {"fields", R"({"a":01})"},
      {"fields", R"({"a":"\ud800"})"},
      {"fields", R"({"a":[1 2]})"},
  };
  for (const auto& [field, value] : cases) {
    const std::string body = PlayWith("\"" + std::string(field) + "\":" + value);
    const Status status = Plays(body, &call);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << body;
    EXPECT_EQ(status.field(), "/events/0/" + std::string(field)) << body << status.message();
  }
  EXPECT_EQ(Plays(PlayWith(R"("fields":{},"fields":{})"), &call).field(), "/events/0/fields");
}

struct Refused {
  const char* body;
  const char* field;
};

TEST(EventsJsonTest, RefusesIllFormedPlaysByPosition) {
  const Refused cases[] = {
      {R"({"events":[{"user":"u","item":"v"},{"user":"u"}]})", "/events/1/item"},
      {R"({"events":[{"item":"v"}]})", "/events/0/user"},
      {R"({"events":[{"user":"u","item":""}]})", "/events/0/item"},
      {R"({"events":[{"user":"u","item":"v","at":-1}]})", "/events/0/at"},
      {R"({"events":[{"user":"u","item":"v","at":1.5}]})", "/events/0/at"},
      {R"({"events":[{"user":"u","item":"v","at":9223372036854775808}]})", "/events/0/at"},
      {R"({"events":[{"user":"u","item":null}]})", "/events/0/item"},
      {R"({"events":[{"user":"u","item":"v","when":1}]})", "/events/0/when"},
      {R"({"events":[{"user":"u","item":"v","item":"w"}]})", "/events/0/item"},
      {R"({"events":[7]})", "/events/0"},
      {R"({"events":{}})", "/events"},
      {R"({"collection":"c"})", "/events"},
      {R"({"events":[],"collection":7})", "/collection"},
      {R"({"events":[],"event":[]})", "/event"},
      {R"({"events":[{"user":"u","item":"v"}]}})", ""},
      {R"({"events":[{"user":"u","item":"v"})", "/events"},
  };
  for (const Refused& refused : cases) {
    PlaysCall call;
    const Status status = Plays(refused.body, &call);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << refused.body;
    EXPECT_EQ(status.field(), refused.field) << refused.body << ": " << status.message();
  }
}

TEST(EventsJsonTest, ReadsImpressionsWithOneUserAndTime) {
  const Padded body(R"({"items":["a",2],"at":5,"user":"u"})");
  JsonDocument document;
  ImpressionsCall call;
  ASSERT_TRUE(ParseImpressions(body.view(), 2, &document, &call).ok());
  ASSERT_EQ(call.impressions.size(), 2u);
  EXPECT_EQ(call.impressions[1].user.ToString(), "u");
  EXPECT_EQ(call.impressions[1].item.ToString(), "2");
  EXPECT_EQ(call.impressions[1].at_ms, 5);
  EXPECT_EQ(ParseImpressions(body.view(), 1, &document, &call).field(), "/items");
}

TEST(EventsJsonTest, ReadsOneEventALine) {
  const Padded good("  {\"user\":1,\"item\":\"v\",\"at\":9}\r");
  JsonDocument document;
  Play event;
  Watch watch;
  ASSERT_TRUE(ParseEvent(good.view(), &document, &event, &watch, nullptr).ok());
  EXPECT_EQ(event.at_ms, 9);
  EXPECT_EQ(event.watch, nullptr);
  const Padded two(R"({"user":1,"item":"v"} {"user":1,"item":"w"})");
  EXPECT_FALSE(ParseEvent(two.view(), &document, &event, &watch, nullptr).ok());
}

TEST(EventsJsonTest, OnlyPlaysSayWhereThePlayerIs) {
  const Padded body(R"({"user":1,"progress_s":-1,"item":"v"})");
  JsonDocument document;
  Play event;
  Watch watch;
  ASSERT_TRUE(ParseEvent(body.view(), &document, &event, &watch, nullptr).ok());
  ASSERT_EQ(event.watch, &watch);
  EXPECT_EQ(watch.progress_s, kFinished);
  EXPECT_EQ(ParseEvent(body.view(), &document, &event, nullptr, nullptr).field(), "/progress_s");
}

TEST(EventsJsonTest, WritesWhatBecameOfABatch) {
  std::string out;
  Recorded recorded{2, 1, {{7, Status::InvalidArgument("too \"old\"", "/at")}}};
  AppendRecorded(recorded, &out);
  EXPECT_EQ(out, R"({"accepted":2,"refused":1,"refusals":[{"index":7,"error":{"code":)"
                 R"("invalid_argument","message":"too \"old\"","field":"/at"}}]})");
}

TEST(EventsJsonTest, WritesTheFirstPlaysOfTheDay) {
  Recorded recorded{3, 0};
  recorded.day = "2026-11-21";
  std::string none, some;
  AppendRecorded(recorded, &none);
  EXPECT_EQ(none,
            R"({"accepted":3,"refused":0,"refusals":[],"day":"2026-11-21","first_today":[]})");
  recorded.first_today = {0, 2};
  recorded.first_today_count = 9;
  AppendRecorded(recorded, &some);
  EXPECT_EQ(some, R"({"accepted":3,"refused":0,"refusals":[],"day":"2026-11-21",)"
                  R"("first_today":[0,2],"first_today_count":9})");
}

TEST(EventsJsonTest, ReadsTheDayTheClientWasTold) {
  const Padded told(R"({"events":[{"user":1,"item":"v","day":"2026-11-21"},)"
                    R"({"user":1,"item":"w","day":""},{"user":1,"item":"x"}]})");
  JsonDocument document;
  PlaysCall call;
  ASSERT_TRUE(ParsePlays(told.view(), &document, &call).ok());
  EXPECT_EQ(call.plays[0].day, "2026-11-21");
  EXPECT_EQ(call.plays[1].day, "");
  EXPECT_EQ(call.plays[2].day, "");
  const Padded nulls(R"({"collection":null,"events":[{"user":1,"item":"v","at":null,"day":null,)"
                     R"("progress_s":null,"duration_s":null,"device":null,"fields":null}]})");
  ASSERT_TRUE(ParsePlays(nulls.view(), &document, &call).ok());
  EXPECT_FALSE(call.collection.has_value());
  EXPECT_EQ(call.plays[0].watch, nullptr);
  EXPECT_EQ(call.plays[0].at_ms, seendb::Play().at_ms);
  EXPECT_EQ(call.plays[0].day, "");
  for (const std::string day :
       {R"("2026-11-31")", R"("2026-11")", R"("today")", "20261121", R"(["2026-11-21"])"}) {
    const Padded body(R"({"events":[{"user":1,"item":"v"},{"user":1,"item":"v","day":)" + day +
                      "}]}");
    JsonDocument other;
    const Status status = ParsePlays(body.view(), &other, &call);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << day;
    EXPECT_EQ(status.field(), "/events/1/day") << day;
  }
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
