#include "format/history_codec.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "format/damage.h"
#include "format/unit/format_testing.h"
#include "seendb/history.h"
#include "support/poison.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

HistoryState Report(int64_t at_ms, int32_t progress_s, std::string_view device = {},
                    std::string_view fields = {}) {
  HistoryState state;
  state.at_ms = at_ms;
  state.progress_s = {at_ms, progress_s};
  state.device = {at_ms, device};
  state.fields = {at_ms, fields};
  return state;
}

std::string Write(const HistoryState& state) {
  std::string out = "stale";
  EncodeHistory(state, &out);
  return out;
}

bool Sound(std::string_view value) {
  HistoryValue read;
  return read.Parse(value);
}

std::string Sealed(Tag tag, std::string body) {
  body.insert(body.begin(), static_cast<char>(tag));
  Seal32(&body);
  return body;
}

TEST(HistoryCodec, StatesRoundTrip) {
  const std::string device(kMaxDeviceBytes, 'd'), fields(kMaxFieldsBytes, 'f');
  constexpr int64_t kLeast = kNoTimeMs + 2;
  for (const int64_t at_ms : {int64_t{0}, int64_t{-62'135'596'800'000}, int64_t{1'773'144'000'000},
                              kLeast, std::numeric_limits<int64_t>::max()}) {
    SCOPED_TRACE(at_ms);
    HistoryState state = Report(at_ms, kFinished, device, fields);
    std::vector<HistoryState> states = {state, DeletionAt(at_ms)};
    state.duration_s = {at_ms - 1, INT32_MAX};  // said before
    states.push_back(state);
    state.duration_s = {};
    state.deleted_ms = at_ms - 1;
    states.push_back(state);
    for (const HistoryState& one : states) {
      const std::string bytes = Write(one);
      HistoryValue read;
      ASSERT_TRUE(read.Parse(bytes));
      EXPECT_EQ(read.state, one);
      EXPECT_FALSE(read.damaged);
    }
  }
  HistoryValue none;
  ASSERT_TRUE(none.Parse(Write({})));
  EXPECT_EQ(none.state, HistoryState());
}

TEST(HistoryCodec, WhatMergesSetAsideRoundTrips) {
  HistoryValue value;
  const std::string newer = Newer(Write(Report(7, 5, "tv", "{}")));
  value.state = Report(8, 5);
  value.damaged = true;
  value.newer = {newer};
  std::string bytes;
  value.Encode(&bytes);
  HistoryValue read;
  ASSERT_TRUE(read.Parse(bytes));
  EXPECT_TRUE(read.damaged);
  EXPECT_EQ(read.newer, std::vector<std::string>{newer});
  EXPECT_EQ(read.state.at_ms, 8);
  EXPECT_EQ(NewerText(newer), "history entry version 3 is newer than this software (2)");
}

// The time of what never was, which a report cannot have (found by fuzzing).
TEST(HistoryCodec, WordsOfNoTimeAreMalformed) {
  const std::string no_time = "ff ff ff ff ff ff ff ff ff 01 ";
  HistoryValue read;
  const auto parses = [&](Tag tag, const std::string& words) {
    return read.Parse(Sealed(tag, test::FromHex("00 " + no_time + words)));
  };
  EXPECT_FALSE(parses(Tag::kHistory, "08 78 00 00"));
  EXPECT_FALSE(parses(Tag::kHistory, "00 00 01 41 00"));
  EXPECT_FALSE(parses(Tag::kHistoryWords, "01 08"));
  // Nothing that was said: what a merge of damage alone leaves.
  EXPECT_TRUE(parses(Tag::kHistory, "00 00 00 00"));
  EXPECT_TRUE(parses(Tag::kHistoryWords, "00"));
}

// Software of version 1 met a value of version 2 and kept it whole beside its own.
TEST(HistoryCodec, WhatOlderSoftwareSetAsideIsJoined) {
  const std::string second = Write(Report(9, 60, "tv"));
  std::string body = test::FromHex("04 0e 08 78 00 00");  // newer ones; at 7: 4 of 120 seconds
  PutNewer({second}, &body);
  const std::string bytes = Sealed(Tag::kHistory, body);
  HistoryValue read;
  ASSERT_TRUE(read.Parse(bytes));
  EXPECT_TRUE(read.newer.empty());
  EXPECT_FALSE(read.damaged);
  EXPECT_EQ(read.state.at_ms, 9);
  EXPECT_EQ(read.state.progress_s, (Word<int32_t>{9, 60}));
  EXPECT_EQ(read.state.duration_s, (Word<int32_t>{7, 120}));
  EXPECT_EQ(read.state.device.value, "tv");
}

TEST(HistoryCodec, WhatWasSetAsideKeepsItsOwnMarks) {
  HistoryValue second;
  second.state = Report(9, 60);
  second.damaged = true;
  const std::string third = Newer(Write(Report(11, 70)));
  second.newer = {third};
  std::string set_aside;
  second.Encode(&set_aside);
  std::string body = test::FromHex("04 0e 08 78 00 00");
  PutNewer({set_aside}, &body);
  const std::string bytes = Sealed(Tag::kHistory, body);
  HistoryValue read;
  ASSERT_TRUE(read.Parse(bytes));
  EXPECT_EQ(read.state.at_ms, 9);
  EXPECT_TRUE(read.damaged);
  EXPECT_EQ(read.newer, std::vector<std::string>{third});
}

TEST(HistoryCodec, CutsAndFlipsAreRefused) {
  HistoryState state = Report(1'773'144'000'000, 5, "tv", "{\"a\":1}");
  state.duration_s = {1'773'143'000'000, 60};
  const std::string value = Write(state);
  test::ExpectCutsRefused(value, Sound);
  test::ExpectFlipsRefused(value, Sound);
}

TEST(HistoryCodec, BrokenLimitsAreRefused) {
  const auto sound = [](const char* hex, const std::string& rest = {}) {
    return Sound(Sealed(Tag::kHistoryWords, test::FromHex(hex) + rest));
  };
  EXPECT_TRUE(sound("00 00 00"));
  EXPECT_TRUE(sound("00 00 11 01 02")) << "progress 1, said 1 ms before";
  EXPECT_TRUE(sound("08 00 02 00")) << "deleted 2 ms before";
  EXPECT_TRUE(sound("01 00")) << "a deletion";
  EXPECT_FALSE(sound("10 00 00")) << "an unknown flag";
  EXPECT_FALSE(sound("09 00 02")) << "a deletion and one before it";
  EXPECT_FALSE(sound("08 00 00 00")) << "deleted when it was reported";
  EXPECT_FALSE(sound("00 00 11 00 02")) << "said before, by 0 ms";
  EXPECT_FALSE(sound("00 00 10")) << "a time of nothing";
  EXPECT_FALSE(sound("08 00 02 11 02 02")) << "said when it was deleted";
  EXPECT_FALSE(sound("00 ff ff ff ff ff ff ff ff ff 01 01 02")) << "said at no time";
  EXPECT_FALSE(sound("00 00 01 03")) << "progress -2";
  EXPECT_FALSE(sound("00 00 02 80 80 80 80 08")) << "duration 2^31";
  EXPECT_FALSE(sound("00 00 00 00")) << "a byte left over";
  EXPECT_FALSE(sound("01 00 00")) << "words of a deletion";
  EXPECT_FALSE(sound("04 00 00 00")) << "no newer value after all";
  EXPECT_FALSE(sound("00 00 04 41", std::string(65, 'd')));
  EXPECT_FALSE(sound("00 00 08 81 08", std::string(1025, 'f')));
}

TEST(HistoryCodec, BrokenLimitsOfVersion1AreRefused) {
  const auto sound = [](const char* hex, const std::string& rest = {}) {
    return Sound(Sealed(Tag::kHistory, test::FromHex(hex) + rest));
  };
  EXPECT_TRUE(sound("00 00 00 00 00 00"));
  EXPECT_FALSE(sound("08 00 00 00 00 00")) << "an unknown flag";
  EXPECT_FALSE(sound("00 00 03 00 00 00")) << "progress -2";
  EXPECT_FALSE(sound("00 00 00 80 80 80 80 08 00 00")) << "duration 2^31";
  EXPECT_FALSE(sound("00 00 00 00 00 00 00")) << "a byte left over";
  EXPECT_FALSE(sound("04 00 00 00 00 00 00")) << "no newer value after all";
  EXPECT_FALSE(sound("00 00 00 00 41", std::string(65, 'd') + '\0'));
  EXPECT_FALSE(sound("00 00 00 00 00 81 08", std::string(1025, 'f')));
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
}  // namespace seendb::SEENDB_TEST_FILE
