#include "format/history_codec.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "format/unit/format_testing.h"
#include "seendb/history.h"
#include "support/poison.h"

namespace seendb {
namespace {

std::string Payload(int32_t progress_s, int32_t duration_s, std::string_view device = {},
                    std::string_view fields = {}) {
  std::string bytes;
  PutPayload(&bytes, {progress_s, duration_s, device, fields});
  return bytes;
}

std::string Write(const HistoryView& state) {
  std::string out = "stale";
  EncodeHistory(state, &out);
  return out;
}

bool Sound(std::string_view value) {
  HistoryValue read;
  return read.Parse(value);
}

std::string Sealed(std::string body) {
  body.insert(body.begin(), static_cast<char>(Tag::kHistory));
  Seal32(&body);
  return body;
}

TEST(HistoryCodec, StatesRoundTrip) {
  const std::string device(kMaxDeviceBytes, 'd'), fields(kMaxFieldsBytes, 'f');
  for (const int64_t at_ms : {int64_t{0}, int64_t{-62'135'596'800'000}, int64_t{1'773'144'000'000},
                              kNoTimeMs, std::numeric_limits<int64_t>::max()}) {
    const std::string payload = Payload(kFinished, INT32_MAX, device, fields);
    const std::string bytes = Write({at_ms, true, payload});
    HistoryValue read;
    ASSERT_TRUE(read.Parse(bytes));
    EXPECT_EQ(read.state.at_ms, at_ms);
    EXPECT_TRUE(read.state.tombstone);
    EXPECT_FALSE(read.damaged);
    EXPECT_EQ(read.payload().progress_s, kFinished);
    EXPECT_EQ(read.payload().duration_s, INT32_MAX);
    EXPECT_EQ(read.payload().device, device);
    EXPECT_EQ(read.payload().fields, fields);
  }
}

TEST(HistoryCodec, WhatMergesSetAsideRoundTrips) {
  HistoryValue value;
  const std::string payload = Payload(5, 6, "tv", "{}"), newer = Newer(Write({7, false, payload}));
  value.state = {8, false, payload};
  value.damaged = true;
  value.newer = {newer};
  std::string bytes;
  value.Encode(&bytes);
  HistoryValue read;
  ASSERT_TRUE(read.Parse(bytes));
  EXPECT_TRUE(read.damaged);
  EXPECT_EQ(read.newer, std::vector<std::string>{newer});
  EXPECT_EQ(read.state.at_ms, 8);
  EXPECT_EQ(NewerText(newer), "history entry version 2 is newer than this software (1)");
}

TEST(HistoryCodec, CutsAndFlipsAreRefused) {
  const std::string payload = Payload(5, 6, "tv", "{\"a\":1}");
  const std::string value = Write({1'773'144'000'000, false, payload});
  test::ExpectCutsRefused(value, Sound);
  test::ExpectFlipsRefused(value, Sound);
}

TEST(HistoryCodec, BrokenLimitsAreRefused) {
  using test::FromHex;
  EXPECT_TRUE(Sound(Sealed(FromHex("00 00 00 00 00 00"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("08 00 00 00 00 00")))) << "an unknown flag";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 03 00 00 00")))) << "progress -2";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 80 80 80 80 08 00 00")))) << "duration 2^31";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 00 00 00 00")))) << "a byte left over";
  EXPECT_FALSE(Sound(Sealed(FromHex("04 00 00 00 00 00 00")))) << "no newer value after all";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 00 41") + std::string(65, 'd') + '\0')));
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 00 00 81 08") + std::string(1025, 'f'))));
}

TEST(HistoryCodec, TheLaterTimeThenADeletionThenTheGreaterBytesWin) {
  const std::string low = Payload(1, 0), high = Payload(2, 0);
  const std::vector<HistoryView> ascending = {
      {}, {1, false, high}, {2, false, low}, {2, false, high}, {2, true, low}, {3, false, low}};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t k = 0; k < ascending.size(); ++k) {
      EXPECT_EQ(ascending[i].Supersedes(ascending[k]), i > k) << i << " against " << k;
    }
  }
}

TEST(HistoryCodec, KeysRoundTripAndOthersAreRefused) {
  const std::string long_id(255, 'x');
  for (const std::string& user : {std::string("u"), long_id, std::string("\xC3\xA9")}) {
    for (const std::string& item : {std::string("v1"), long_id}) {
      std::string_view got_user, got_item;
      int64_t at_ms = 0;
      ASSERT_TRUE(ParseHistoryKey(HistoryKey(user, item), &got_user, &got_item));
      const std::string key = TimelineKey(user, -5, item);
      ASSERT_TRUE(ParseTimelineKey(key, &got_user, &at_ms, &got_item));
      EXPECT_EQ(got_user, user);
      EXPECT_EQ(at_ms, -5);
      EXPECT_EQ(got_item, item);
    }
  }
  std::string_view user, item;
  int64_t at_ms = 0;
  for (const std::string& key :
       {std::string(), std::string("\x02u"), std::string("\x01u"), std::string("\0v", 2)}) {
    EXPECT_FALSE(ParseHistoryKey(key, &user, &item)) << key;
    EXPECT_FALSE(ParseTimelineKey(key, &user, &at_ms, &item)) << key;
  }
  const std::string too_long(256, 'v');
  EXPECT_FALSE(ParseHistoryKey(HistoryKey("u", too_long), &user, &item));
  EXPECT_FALSE(ParseTimelineKey(TimelineKey("u", 1, too_long), &user, &at_ms, &item));
  EXPECT_FALSE(ParseTimelineKey(TimelineKey("u", 1, ""), &user, &at_ms, &item));
}

TEST(HistoryCodec, TimelineKeysGoFromTheLatestThenByItemWithinTheirUser) {
  const std::vector<std::string> ascending = {
      TimelineKey("a", INT64_MAX, "v"), TimelineKey("a", 1000, ""), TimelineKey("a", 1000, "v"),
      TimelineKey("a", 1000, "w"),      TimelineKey("a", 0, "v"),   TimelineKey("a", -1, "a"),
      TimelineKey("a", INT64_MIN, "v"), HistoryPrefixEnd("a"),      TimelineKey("b", 5, "v"),
      TimelineKey("aa", 5, "v")};
  EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.end()));
  EXPECT_LT(HistoryPrefix("a"), ascending.front());
  EXPECT_LT(HistoryKey("a", "\xF4\x8F\xBF\xBF"), HistoryPrefixEnd("a"));
}

}  // namespace
}  // namespace seendb
