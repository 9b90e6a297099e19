// The events of a message: where they are found, what is ignored, what is refused and why.

#include "ingest/decoder.h"

#include <gtest/gtest.h>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

struct Decoded {
  Status status;
  std::vector<Play> events;
  std::deque<Watch> watches;
  std::vector<Beside> beside;
  uint64_t deletions = 0;
};

class DecoderTest : public ::testing::Test {
 protected:
  Decoded Decode(const Record& record) {
    Decoded decoded;
    decoded.status = Decoder(topic_).Decode(record, &arena_, &decoded.events, &decoded.watches,
                                            &decoded.beside, &decoded.deletions);
    return decoded;
  }
  Decoded Decode(std::string_view payload) {
    return Decode(Record{.payload = payload, .at_ms = kRecordMs});
  }
  void ExpectOne(std::string_view payload, const char* user, const char* item, int64_t at_ms) {
    const Decoded decoded = Decode(payload);
    ASSERT_TRUE(decoded.status.ok()) << payload << ": " << decoded.status.ToString();
    ASSERT_EQ(decoded.events.size(), 1u) << payload;
    EXPECT_EQ(decoded.events[0].user.ToString(), user);
    EXPECT_EQ(decoded.events[0].item.ToString(), item);
    EXPECT_EQ(decoded.events[0].at_ms, at_ms);
  }
  void ExpectRefused(std::string_view payload, const char* field) {
    const Decoded decoded = Decode(payload);
    EXPECT_EQ(decoded.status.code(), StatusCode::kInvalidArgument) << payload;
    EXPECT_EQ(decoded.status.field(), field) << payload << ": " << decoded.status.ToString();
    EXPECT_FALSE(decoded.status.message().empty());
    EXPECT_TRUE(decoded.events.empty());
    EXPECT_TRUE(decoded.watches.empty());
  }

  static constexpr int64_t kRecordMs = 1'773'144'000'000;
  ops::KafkaTopic topic_;
  std::vector<Beside> beside_;
  wire::Arena arena_{1 << 20};
};

TEST_F(DecoderTest, OneEvent) {
  ExpectOne(R"({"user":"u1","item":"v1"})", "u1", "v1", kRecordMs);
  ExpectOne(R"( {"item":7,"user":18446744073709551615} )", "18446744073709551615", "7", kRecordMs);
  ExpectOne(R"({"user":"a\u0062\n","item":"\ud83d\ude00"})", "ab\n", "\xF0\x9F\x98\x80", kRecordMs);
  ExpectOne(R"({"us\u0065r":"u","item":"v"})", "u", "v", kRecordMs);
}

TEST_F(DecoderTest, WhatIsNotMappedIsIgnored) {
  ExpectOne(R"({"at":"noon","x":[{"user":1}],"user":"u","y":{"item":null},"item":"v","z":-1e9})",
            "u", "v", kRecordMs);
}

TEST_F(DecoderTest, TimesInTheTopicsUnit) {
  topic_.at = {"when"};
  const auto at = [](const std::string& when) {
    return R"({"user":"u","item":"v","when":)" + when + "}";
  };
  ExpectOne(at("1700000000123"), "u", "v", 1'700'000'000'123);
  ExpectOne(at("1700000000123.9"), "u", "v", 1'700'000'000'123);
  ExpectOne(at("\"1700000000123\""), "u", "v", 1'700'000'000'123);
  ExpectOne(at("1.700000000123e12"), "u", "v", 1'700'000'000'123);
  ExpectRefused(R"({"user":"u","item":"v"})", "/when");
  for (const char* none : {"-1", "null", "true", "[]", "\"\"", "\"noon\"", "\"\\ud800\"", "1e30"}) {
    ExpectRefused(at(none), "/when");
  }
  topic_.at_unit = ops::AtUnit::kSeconds;
  ExpectOne(at("1700000000"), "u", "v", 1'700'000'000'000);
  ExpectOne(at("1700000000.25"), "u", "v", 1'700'000'000'250);
  ExpectOne(at("1.70000000025E9"), "u", "v", 1'700'000'000'250);
  ExpectRefused(at("9223372036854775807"), "/when");
  topic_.at_unit = ops::AtUnit::kMicros;
  ExpectOne(at("1700000000123456"), "u", "v", 1'700'000'000'123);
  topic_.at_unit = ops::AtUnit::kNanos;
  ExpectOne(at("1700000000123456789"), "u", "v", 1'700'000'000'123);
  ExpectOne(at("1.7e+18"), "u", "v", 1'700'000'000'000);
  const Decoded refused = Decode(at("\"noon\""));
  EXPECT_NE(refused.status.message().find("a number of ns since 1970"), std::string_view::npos)
      << refused.status.ToString();
}

TEST_F(DecoderTest, TimesAsText) {
  topic_.at = {"when"};
  constexpr int64_t kAt = 1'700'000'000'000;
  const std::string zoned = R"({"user":"u","item":"v","when":"2023-11-15T06:13:20+08:00"})";
  const std::string local = R"({"user":"u","item":"v","when":"2023-11-14 22:13:20"})";
  ExpectOne(zoned, "u", "v", kAt);
  ExpectOne(local, "u", "v", kAt);
  Decoder decoder(topic_);
  decoder.SetZoneOfCollection(times::TimeZone::Fixed(3'600'000));
  std::vector<Play> events;
  std::deque<Watch> watches;
  uint64_t deletions = 0;
  ASSERT_TRUE(
      decoder.Decode({.payload = zoned}, &arena_, &events, &watches, &beside_, &deletions).ok());
  ASSERT_TRUE(
      decoder.Decode({.payload = local}, &arena_, &events, &watches, &beside_, &deletions).ok());
  EXPECT_EQ(events.at(0).at_ms, kAt);
  EXPECT_EQ(events.at(1).at_ms, kAt - 3'600'000);
  topic_.time_zone = "America/New_York";  // goes before the collection's
  Decoder named(topic_);
  named.SetZoneOfCollection(times::TimeZone::Fixed(3'600'000));
  ASSERT_TRUE(
      named.Decode({.payload = local}, &arena_, &events, &watches, &beside_, &deletions).ok());
  EXPECT_EQ(events.at(2).at_ms, kAt + 5 * 3'600'000);
}

TEST_F(DecoderTest, IdsBesideTheMessage) {
  topic_.user.clear();
  topic_.user_place.key = true;
  const std::string payload = R"([{"item":"v"},{"item":7,"user":"another"}])";
  for (const auto& [key, user] : {std::pair("u1", "u1"), std::pair("42", "42"),
                                  std::pair("\"u\\u0031\"", "u1"), std::pair("\"", "\"")}) {
    const Decoded decoded = Decode(Record{.payload = payload, .key = key});
    ASSERT_TRUE(decoded.status.ok()) << key << ": " << decoded.status.ToString();
    ASSERT_EQ(decoded.events.size(), 2u);
    for (const Play& event : decoded.events) EXPECT_EQ(event.user.ToString(), user);
  }
  const std::string too_long(kMaxIdBytes + 1, 'u');
  // Of Java's LongSerializer, and of Connect.
  const std::string_view number("\0\0\0\0\0\0\0\7", 8);
  const std::optional<std::string_view> wrong[] = {std::nullopt, "",     "\xff",       "\"a\"b\"",
                                                   too_long,     number, "{\"id\":7}", "[7]"};
  for (const auto& key : wrong) {
    const Decoded decoded = Decode(Record{.payload = payload, .key = key});
    EXPECT_EQ(decoded.status.field(), "/@key") << decoded.status.ToString();
    EXPECT_TRUE(decoded.events.empty());
  }
  topic_.user_place = {.header = "uid"};
  const Decoded by_header =
      Decode(Record{.payload = payload, .key = "k", .user_header = std::string_view("u2")});
  ASSERT_TRUE(by_header.status.ok()) << by_header.status.ToString();
  EXPECT_EQ(by_header.events.at(0).user.ToString(), "u2");
  EXPECT_EQ(Decode(Record{.payload = payload, .key = "k"}).status.field(), "/@header:uid");
  topic_.user = {"user"};
  topic_.user_place = {};
  topic_.item.clear();
  topic_.item_place.key = true;
  const Decoded item = Decode(Record{.payload = R"({"user":"u"})", .key = "v9"});
  ASSERT_TRUE(item.status.ok()) << item.status.ToString();
  EXPECT_EQ(item.events.at(0).item.ToString(), "v9");
}

TEST_F(DecoderTest, WhatWasDeletedIsNoEventAndNoFault) {
  const Decoded tombstone = Decode(Record{.payload = {}, .key = "u"});
  EXPECT_TRUE(tombstone.status.ok());
  EXPECT_TRUE(tombstone.events.empty());
  topic_.user = {"after", "user"};
  topic_.item = {"after", "item"};
  topic_.at = {"after", "at"};
  topic_.device = {"source", "device"};
  const Decoded deleted =
      Decode(R"([{"source":{"device":"tv"},"after":null,"op":"d"},)"
             R"({"source":null,"after":{"user":"u","item":"v","at":5},"op":"c"}])");
  ASSERT_TRUE(deleted.status.ok()) << deleted.status.ToString();
  ASSERT_EQ(deleted.events.size(), 1u);
  EXPECT_EQ(deleted.deletions, 1u);
  EXPECT_EQ(deleted.events[0].watch, nullptr);
  EXPECT_TRUE(deleted.watches.empty());
  ExpectRefused(R"({"op":"d"})", "/after/user");
  ExpectRefused(R"({"after":3})", "/after");
  ExpectRefused(R"({"after":{"user":null,"item":"v","at":5}})", "/after/user");
}

TEST_F(DecoderTest, TheBytesOfARegistryArePassedOver) {
  topic_.framing = ops::Framing::kConfluent;
  ExpectOne(std::string_view("\0\0\0\1\2{\"user\":\"u\",\"item\":\"v\"}", 28), "u", "v", kRecordMs);
  for (const char* none : {"", "{}", "{\"user\":\"u\",\"item\":\"v\"}"}) ExpectRefused(none, "");
  topic_.user.clear();
  topic_.user_place.key = true;
  const Decoded keyed = Decode(Record{.payload = std::string_view("\0\0\0\1\2{\"item\":\"v\"}", 17),
                                      .key = std::string_view("\0\0\0\0\5\"u1\"", 9)});
  ASSERT_TRUE(keyed.status.ok()) << keyed.status.ToString();
  EXPECT_EQ(keyed.events.at(0).user.ToString(), "u1");
}

TEST_F(DecoderTest, NestedPaths) {
  topic_.user = {"who", "id"};
  topic_.item = {"what", "video", "id"};
  topic_.at = {"what", "at"};
  ExpectOne(R"({"id":0,"who":{"x":1,"id":"u"},"what":{"at":5,"video":{"id":"v","n":[]},"id":3}})",
            "u", "v", 5);
  ExpectRefused(R"({"who":{"id":"u"},"what":{"at":5,"video":{}}})", "/what/video/id");
  ExpectRefused(R"({"who":{"id":"u"},"what":{"at":5,"video":3}})", "/what/video");
  ExpectRefused(R"({"who":{"id":"u"},"what":{"at":5,"video":{"id":""}}})", "/what/video/id");
  topic_.user = {"a/b~"};
  ExpectRefused(R"({"a/b~":[],"what":{"at":5,"video":{"id":"v"}}})", "/a~1b~0");
}

TEST_F(DecoderTest, AnArrayIsTakenWholeOrNotAtAll) {
  const Decoded both = Decode(R"([{"user":"u","item":"v"},{"user":"u","item":"w"}])");
  ASSERT_TRUE(both.status.ok());
  ASSERT_EQ(both.events.size(), 2u);
  EXPECT_EQ(both.events[0].item.text(), "v");
  EXPECT_EQ(both.events[1].item.text(), "w");
  EXPECT_TRUE(Decode("[]").status.ok());
  EXPECT_TRUE(Decode("[]").events.empty());
  ExpectRefused(R"([{"user":"u","item":"v"},{"user":"u"}])", "/1/item");
  ExpectRefused(R"([{"user":"u","item":"v"},3])", "/1");
  ExpectRefused(R"([[{"user":"u","item":"v"}]])", "/0");
}

TEST_F(DecoderTest, WhatIsNoEventIsRefused) {
  for (const char* payload :
       {"", " ", "x", "{", "3", "\"u\"", "null", R"({"user":"u","item":"v"} x)",
        R"({"user":"u","item":"v"}{})", "{\"user\":\"u\",\"item\":\"\xFF\"}", "\xEF\xBB\xBF{}",
        R"({"user":"u" "item":"v"})", R"([{"user":"u","item":"v"})"}) {
    ExpectRefused(payload, "");
  }
  ExpectRefused(R"({"item":"v"})", "/user");
  ExpectRefused(R"({"user":"u","item":""})", "/item");
  ExpectRefused(R"({"user":"u","item":-1})", "/item");
  ExpectRefused(R"({"user":"u","item":1.0})", "/item");
  ExpectRefused(R"({"user":"u","item":null})", "/item");
  ExpectRefused(R"({"user":"u","item":"\ud800"})", "/item");
  ExpectRefused(R"({"user":"u","item":")" + std::string(256, 'v') + "\"}", "/item");
  ExpectRefused(R"({"user":"u","user":"u","item":"v"})", "/user");
}

TEST_F(DecoderTest, IdsOfEarlierMessagesStay) {
  topic_.device = {"d"};
  topic_.fields = {"f"};
  std::vector<Play> events;
  std::deque<Watch> watches;
  uint64_t deletions = 0;
  const Decoder decoder(topic_);
  for (int i = 0; i < 1'000; ++i) {
    const std::string n = std::to_string(i);
    const std::string payload = "{\"user\":\"\\u0075" + n + "\",\"item\":\"v" + n + "\",\"x\":\"" +
                                std::string(3'000, 'x') + "\",\"d\":\"\\u0064" + n +
                                "\",\"f\":{\"n\":" + n + "}}";
    ASSERT_TRUE(decoder
                    .Decode({.payload = payload, .at_ms = 0}, &arena_, &events, &watches, &beside_,
                            &deletions)
                    .ok());
  }
  ASSERT_EQ(events.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_EQ(events[static_cast<size_t>(i)].user.ToString(), "u" + std::to_string(i));
    EXPECT_EQ(events[static_cast<size_t>(i)].item.ToString(), "v" + std::to_string(i));
    ASSERT_NE(events[static_cast<size_t>(i)].watch, nullptr);
    EXPECT_EQ(events[static_cast<size_t>(i)].watch->device, "d" + std::to_string(i));
    EXPECT_EQ(events[static_cast<size_t>(i)].watch->fields, "{\"n\":" + std::to_string(i) + "}");
  }
}

TEST_F(DecoderTest, TheDayItsClientWasToldIsReadWhereItIsMapped) {
  const char* const payload =
      R"([{"user":"u","item":"a","told":{"day":"2026-03-1\u0030"}},)"
      R"({"user":"u","item":"b","told":{"day":null}},)"
      R"({"user":"u","item":"c","told":{"day":""}},{"user":"u","item":"d"}])";
  EXPECT_EQ(Decode(payload).events.at(0).day, "") << "nothing is mapped";
  topic_.day = {"told", "day"};
  const Decoded decoded = Decode(payload);
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.ToString();
  ASSERT_TRUE(Decode(R"({"user":"u","item":"a","told":{"day":"2027-07-07"}})").status.ok());
  ASSERT_EQ(decoded.events.size(), 4u);
  EXPECT_EQ(decoded.events[0].day, "2026-03-10") << "after another message";
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(decoded.events[i].day, "");
  ExpectRefused(R"({"user":"u","item":"a","told":{"day":"2026-02-30"}})", "/told/day");
  ExpectRefused(R"({"user":"u","item":"a","told":{"day":20260310}})", "/told/day");
}

TEST_F(DecoderTest, WhatThePlayerSaidIsReadWhereItIsMapped) {
  const char* const payload =
      R"([{"user":"u","item":"a","pos":7},{"user":"u","item":"b","player":{"pos":-1,"of":90,)"
      R"("on":"tv"},"fields": {"a":[1]} },{"user":"u","item":"c"},)"
      R"({"user":"u","item":"d","player":{"pos":null,"of":null,"on":null},"fields":null}])";
  EXPECT_TRUE(Decode(payload).watches.empty()) << "nothing is mapped";
  topic_.progress_s = {"player", "pos"};
  topic_.duration_s = {"player", "of"};
  topic_.device = {"player", "on"};
  topic_.fields = {"fields"};
  const Decoded decoded = Decode(payload);
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.ToString();
  ASSERT_EQ(decoded.events.size(), 4u);
  EXPECT_EQ(decoded.watches.size(), 1u);
  EXPECT_EQ(decoded.events[0].watch, nullptr);
  ASSERT_NE(decoded.events[1].watch, nullptr);
  EXPECT_EQ(decoded.events[1].watch->progress_s, kFinished);
  EXPECT_EQ(decoded.events[1].watch->duration_s, 90);
  EXPECT_EQ(decoded.events[1].watch->device, "tv");
  EXPECT_EQ(decoded.events[1].watch->fields, R"({"a":[1]})");
  EXPECT_EQ(decoded.events[2].watch, nullptr);
  EXPECT_EQ(decoded.events[3].watch, nullptr);
  ExpectRefused(R"([{"user":"u","item":"a","fields":{}},{"user":"u","item":"a","fields":7}])",
                "/1/fields");
  ExpectRefused(R"({"user":"u","item":"a","player":{"pos":1.5}})", "/player/pos");
  ExpectRefused(R"({"user":"u","item":"a","player":{"of":-1}})", "/player/of");
  ExpectRefused(R"({"user":"u","item":"a","player":{"on":")" + std::string(65, 'd') + "\"}}",
                "/player/on");
  ExpectRefused(R"({"user":"u","item":"a","player":7})", "/player");
}

TEST_F(DecoderTest, WhereItWasShownIsReadWhereItIsMapped) {
  topic_.fact = Fact::kExposed;
  topic_.surface = {"page", "name"};
  const Decoded shown = Decode(R"([{"user":"u","item":"a","page":{"name":"ho\u006de"}},
      {"user":"u","item":"b","page":{"name":null}},{"user":"u","item":"c"}])");
  ASSERT_TRUE(shown.status.ok()) << shown.status.ToString();
  ASSERT_EQ(shown.events.size(), 3u);
  ASSERT_EQ(shown.beside.size(), 3u);
  EXPECT_EQ(shown.beside[0].surface, "home");
  EXPECT_EQ(shown.beside[1].surface, "");
  EXPECT_EQ(shown.beside[2].surface, "");
  ExpectRefused(R"({"user":"u","item":"a","page":{"name":""}})", "/page/name");
  ExpectRefused(R"({"user":"u","item":"a","page":{"name":7}})", "/page/name");
  ExpectRefused(R"([{"user":"u","item":"a"},{"user":"u","item":"b","page":{"name":")" +
                    std::string(33, 'x') + R"("}}])",
                "/1/page/name");
  EXPECT_TRUE(Decode(R"({"user":"u","item":7,"page":{"name":1}})").beside.empty());
}

TEST_F(DecoderTest, GroupsAreReadWhereTheyAreMapped) {
  topic_.of = {"by"};
  topic_.same_as = {"repost", "of"};
  const Decoded groups = Decode(R"([{"user":"u","item":"a","by":["author:\u0033","t"],
      "repost":{"of":"src:9"}},{"user":"u","item":"b","by":null,"repost":{"of":[]}},
      {"user":"u","item":"c"}])");
  ASSERT_TRUE(groups.status.ok()) << groups.status.ToString();
  using Groups = std::vector<std::string_view>;
  ASSERT_EQ(groups.beside.size(), 3u);
  EXPECT_EQ(groups.beside[0].of, (Groups{"author:3", "t"}));
  EXPECT_EQ(groups.beside[0].same_as, Groups{"src:9"});
  EXPECT_EQ(groups.beside[1].of, Groups{});
  EXPECT_EQ(groups.beside[1].same_as, Groups{});
  EXPECT_EQ(groups.beside[2].of, Groups{});
  ExpectRefused(R"({"user":"u","item":"a","by":["x",""]})", "/by/1");
  ExpectRefused(R"({"user":"u","item":"a","by":""})", "/by");
  ExpectRefused(R"({"user":"u","item":"a","by":7})", "/by");
  ExpectRefused(R"({"user":"u","item":"a","repost":{"of":")" + std::string(65, 'x') + "\"}}",
                "/repost/of");
  std::string nine = R"(["g")";
  for (int i = 0; i < 8; ++i) nine += R"(,"g")";
  ExpectRefused(R"({"user":"u","item":"a","by":)" + nine + R"(],"repost":{"of":)" + nine + "]}}",
                "/repost/of");
}

TEST_F(DecoderTest, MarksHaveAGroupAndNoItem) {
  topic_.marks = true;
  topic_.item.clear();
  topic_.group = {"channel"};
  topic_.until = {"to"};
  topic_.at_unit = ops::AtUnit::kSeconds;
  const Decoded marks = Decode(R"([{"user":7,"channel":"channel:9","to":1773000000},
      {"user":"u","channel":"author:\u0075","to":"always"},
      {"user":"u","channel":"c","to":"2026-03-10T12:00:00Z"}])");
  ASSERT_TRUE(marks.status.ok()) << marks.status.ToString();
  ASSERT_EQ(marks.events.size(), 3u);
  ASSERT_EQ(marks.beside.size(), 3u);
  EXPECT_EQ(marks.events[0].user.ToString(), "7");
  EXPECT_EQ(marks.events[0].at_ms, kRecordMs);
  EXPECT_EQ(marks.beside[0].group, "channel:9");
  EXPECT_EQ(marks.beside[0].until_ms, 1'773'000'000'000);
  EXPECT_EQ(marks.beside[1].group, "author:u");
  EXPECT_EQ(marks.beside[1].until_ms, std::nullopt);
  EXPECT_EQ(marks.beside[2].until_ms, 1'773'144'000'000);
  ExpectRefused(R"({"user":"u","to":5})", "/channel");
  ExpectRefused(R"({"user":"u","channel":"c"})", "/to");
  ExpectRefused(R"({"user":"u","channel":"","to":5})", "/channel");
  ExpectRefused(R"({"user":"u","channel":"c","to":null})", "/to");
  ExpectRefused(R"({"user":"u","channel":"c","to":"never"})", "/to");
}

TEST_F(DecoderTest, TooManyEventsAreRefused) {
  std::string payload = "[";
  for (size_t i = 0; i < kMaxMessageEvents; ++i) payload += R"({"user":1,"item":2},)";
  payload.back() = ']';
  EXPECT_EQ(Decode(payload).events.size(), kMaxMessageEvents);
  payload.back() = ',';
  payload += R"({"user":1,"item":2}])";
  ExpectRefused(payload, "");
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
