#include "format/user_codec.h"

#include <limits>

#include "format/unit/format_testing.h"
#include "support/poison.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Write(const UserRecord& record) {
  std::string out = "stale";
  record.Encode(&out);
  return out;
}

bool Sound(std::string_view value) {
  UserRecord record;
  return record.Parse(value);
}

std::string Sealed(std::string body) {
  body.insert(body.begin(), static_cast<char>(Tag::kUser));
  Seal32(&body);
  return body;
}

TEST(UserCodec, RoundTrip) {
  for (const UserRecord& record :
       {UserRecord{}, UserRecord{(uint64_t{1} << 40) | 7, 1'773'144'000'000, false},
        UserRecord{~uint64_t{0}, std::numeric_limits<int64_t>::max(), true},
        UserRecord{1, 2, false, {"a", std::string(300, 'b')}}}) {
    UserRecord read{1, 2, true};
    ASSERT_TRUE(read.Parse(Write(record)));
    EXPECT_EQ(read.erased_seq, record.erased_seq);
    EXPECT_EQ(read.erased_at_ms, record.erased_at_ms);
    EXPECT_EQ(read.damaged, record.damaged);
    EXPECT_EQ(read.newer, record.newer);
  }
}

TEST(UserCodec, ValuesKeptWholeAreAscendingAndNotEmpty) {
  EXPECT_FALSE(Sound(Sealed(test::FromHex("04 00"))));
  EXPECT_TRUE(Sound(Sealed(test::FromHex("04 01 61 04 01 62"))));
  EXPECT_FALSE(Sound(Sealed(test::FromHex("04 01 62 04 01 61"))));
  EXPECT_FALSE(Sound(Sealed(test::FromHex("04 01 61 04 01 61"))));
}

TEST(UserCodec, WhatIsNotReadIsDamagedOrKept) {
  const std::string newer = Newer(Write({7, 8, false}));
  UserRecord a, b;
  a.JoinUnread("noise");
  EXPECT_TRUE(a.damaged);
  b.JoinUnread(newer);
  b.JoinUnread(newer);
  EXPECT_FALSE(b.damaged);
  EXPECT_EQ(b.newer, std::vector<std::string>{newer});
  a.Join(b);
  EXPECT_EQ(a.newer, b.newer);
}

TEST(UserCodec, CutsAndFlipsAreRefused) {
  const std::string value = Write({(uint64_t{1} << 40) | 7, 1'773'144'000'000, true});
  test::ExpectCutsRefused(value, Sound);
  test::ExpectFlipsRefused(value, Sound);
}

TEST(UserCodec, UnknownFieldsAreRefused) {
  using test::FromHex;
  EXPECT_TRUE(Sound(Sealed("")));
  EXPECT_FALSE(Sound(Sealed(FromHex("04 01"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("09 01"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("01")))) << "a field without its number";
}

TEST(UserCodec, AbsorbTakesTheMaximumOfEveryField) {
  UserRecord a{5, 10, false};
  const UserRecord b{4, 20, true};
  UserRecord c = b;
  a.Join(b);
  c.Join({5, 10, false});
  for (const UserRecord& both : {a, c}) {
    EXPECT_EQ(both.erased_seq, 5u);
    EXPECT_EQ(both.erased_at_ms, 20);
    EXPECT_TRUE(both.damaged);
  }
}

UserRecord WithHistory() {
  UserRecord record;
  record.erased_seq = 3;
  record.marks["books"].evicted_at_ms = -7;
  record.marks["books"].forgotten = {9, 55};
  record.marks["video"].cleared_at_ms = 1'773'144'000'000;
  record.marks["video"].overrides = {{1, {50, 4, false}}, {kFingerprintMask, {60, 5, true}}};
  record.marks["video"].deletions_ahead = {{1, {4, 90, -70}}, {kFingerprintMask, {5, 92, 91}}};
  record.toggles = {{10, 6, true}, {20, 7, false}, {20, 8, true}};
  record.forget_before_ms = 0;
  return record;
}

TEST(UserCodec, SettingsOfHistoryRoundTrip) {
  UserRecord read;
  ASSERT_TRUE(read.Parse(Write(WithHistory())));
  EXPECT_EQ(read, WithHistory());
  test::ExpectCutsRefused(Write(WithHistory()), Sound);
  test::ExpectFlipsRefused(Write(WithHistory()), Sound);
}

TEST(UserCodec, DeletionsAheadHaveASpanAndAscend) {
  // "v", no time; no override.
  const auto marks = [](const std::string& ahead) {
    const std::string bytes = test::FromHex("01 76 08 00 " + ahead);
    return Sealed(test::FromHex("05") + static_cast<char>(bytes.size()) + bytes);
  };
  const std::string first = "01 00 00 00 00 00 ", second = "02 00 00 00 00 00 ";
  EXPECT_TRUE(Sound(marks("01" + first + "07 08 05")));
  EXPECT_TRUE(Sound(marks("02" + first + "07 08 05" + second + "07 08 05")));
  EXPECT_FALSE(Sound(marks("02" + second + "07 08 05" + first + "07 08 05")));
  EXPECT_FALSE(Sound(marks("02" + first + "07 08 05" + first + "07 08 05")));
  EXPECT_FALSE(Sound(marks("01" + first + "07 08 00"))) << "it reaches nowhere";
  EXPECT_FALSE(Sound(marks("00"))) << "the flag says that there is one";
  // From 4 to the last time there is, and one beyond.
  EXPECT_TRUE(Sound(marks("01" + first + "07 08 fb ff ff ff ff ff ff ff 7f")));
  EXPECT_FALSE(Sound(marks("01" + first + "07 08 fc ff ff ff ff ff ff ff 7f")));
}

TEST(UserCodec, ADeletionAheadHidesWhatLiesBetween) {
  const UserRecord record = WithHistory();
  EXPECT_EQ(record.HiddenUntil("video", 1, -70), std::nullopt);
  EXPECT_EQ(record.HiddenUntil("video", 1, -69), 90);
  EXPECT_EQ(record.HiddenUntil("video", 1, 89), 90);
  EXPECT_EQ(record.HiddenUntil("video", 1, 90), std::nullopt) << "that play was deleted";
  EXPECT_EQ(record.HiddenUntil("video", 1, 91), std::nullopt);
  EXPECT_EQ(record.HiddenUntil("video", 2, 80), std::nullopt);
  EXPECT_EQ(record.HiddenUntil("books", 1, 80), std::nullopt);
}

TEST(UserCodec, TheLastWrittenDeletionAheadOfAnItemCounts) {
  UserRecord record;
  const auto join = [&](uint64_t seq, int64_t until_ms, int64_t asked_ms) {
    UserRecord one;
    one.marks["video"].deletions_ahead[7] = {seq, until_ms, asked_ms};
    record.Join(one);
    return record.marks["video"].deletions_ahead[7];
  };
  EXPECT_EQ(join(2, 20, 10), (DeletionAhead{2, 20, 10}));
  EXPECT_EQ(join(3, 20, 5), (DeletionAhead{3, 20, 5})) << "the clock was set back";
  EXPECT_EQ(join(2, 20, 10), (DeletionAhead{3, 20, 5})) << "merged again";
  EXPECT_EQ(join(4, 30, 12), (DeletionAhead{4, 30, 12}));
  EXPECT_EQ(record.LastSequence(), 4u);
}

TEST(UserCodec, AnErasureAndAClearEndDeletionsAhead) {
  for (const bool erased : {false, true}) {
    UserRecord record = WithHistory(), later;
    if (erased) {
      later.erased_seq = 4;
    } else {
      later.marks["video"].forgotten = {4, 0};
    }
    record.Join(later);
    EXPECT_EQ(record.marks["video"].deletions_ahead.size(), 1u) << "one was written after";
    later.forget_before_ms = 93;
    record.Join(later);
    EXPECT_TRUE(record.marks["video"].deletions_ahead.empty());
  }
}

TEST(UserCodec, MarksThatSayNothingLeave) {
  UserRecord record, later;
  record.marks["video"].overrides[1] = {50, 4, false};
  record.marks["video"].deletions_ahead[1] = {4, 90, 10};
  later.erased_seq = 4;
  record.Join(later);
  EXPECT_TRUE(record.marks.empty());
}

TEST(UserCodec, TheLastActiveDayIsTheLatest) {
  UserRecord known, more, read;
  known.last_day = 20'522;
  ASSERT_TRUE(read.Parse(Write(known)));
  EXPECT_EQ(read.last_day, 20'522);
  EXPECT_EQ(read, known);
  more.last_day = 20'521;
  known.Join(more);
  known.Join(UserRecord());
  EXPECT_EQ(known.last_day, 20'522);
  more.Join(known);
  EXPECT_EQ(more.last_day, 20'522);
  known.last_day = -1;
  ASSERT_TRUE(read.Parse(Write(known)));
  EXPECT_EQ(read.last_day, -1);
  ASSERT_TRUE(read.Parse(Write(UserRecord())));
  EXPECT_EQ(read.last_day, kNoDay);
  test::ExpectCutsRefused(Write(known), Sound);
  test::ExpectFlipsRefused(Write(known), Sound);
}

TEST(UserCodec, MalformedSettingsAreRefused) {
  using test::FromHex;
  EXPECT_TRUE(Sound(Sealed(FromHex("05 04 01 61 00 00"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("05 04 01 61 08 00")))) << "an unknown flag";
  EXPECT_TRUE(Sound(Sealed(FromHex("05 06 01 61 04 01 02 00"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("05 06 01 61 04 00 02 00")))) << "forgotten by no sequence";
  EXPECT_FALSE(Sound(Sealed(FromHex("05 03 00 00 00")))) << "no collection";
  EXPECT_FALSE(Sound(Sealed(FromHex("05 04 01 61 00 01")))) << "an override short";
  EXPECT_FALSE(Sound(Sealed(FromHex("05 04 01 62 00 00 05 04 01 61 00 00")))) << "out of order";
  EXPECT_TRUE(Sound(Sealed(FromHex("06 03 02 01 01"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("06 03 02 01 02")))) << "neither paused nor not";
  EXPECT_FALSE(Sound(Sealed(FromHex("06 06 02 01 01 00 01 01")))) << "out of order";
  EXPECT_FALSE(Sound(Sealed(FromHex("06 00"))));
}

TEST(UserCodec, PausesHoldFromTheirTimeToTheNext) {
  const UserRecord record = WithHistory();
  EXPECT_FALSE(record.PausedAt(9));
  EXPECT_TRUE(record.PausedAt(10));
  EXPECT_TRUE(record.PausedAt(19));
  EXPECT_TRUE(record.PausedAt(20)) << "of two at one time the later written counts";
  EXPECT_FALSE(UserRecord().PausedAt(INT64_MAX));
}

TEST(UserCodec, AClearedFilterIsTheLatestAndEndsOverrides) {
  UserRecord record = WithHistory();
  EXPECT_EQ(record.LastSequence(), 9u);
  EXPECT_EQ(record.ForgottenIn("books"), (Forgotten{9, 55}));
  EXPECT_EQ(record.ForgottenIn("video"), (Forgotten{3, 0})) << "the erasure";
  EXPECT_EQ(UserRecord().ForgottenIn("video"), Forgotten());
  UserRecord other;
  other.marks["video"].forgotten = {4, 30};
  other.marks["books"].forgotten = {8, 60};
  record.Join(other);
  other.Join(WithHistory());
  EXPECT_EQ(record, other);
  EXPECT_EQ(record.ForgottenIn("books"), (Forgotten{9, 60}));
  EXPECT_EQ(record.FindOverride("video", 1), nullptr) << "written before";
  EXPECT_EQ(record.marks["video"].overrides.count(kFingerprintMask), 1u) << "written after";
}

TEST(UserCodec, WhatWasForgottenLeavesTheStateItEndedIn) {
  UserRecord record = WithHistory();
  UserRecord later;
  later.forget_before_ms = 15;
  record.Join(later);
  EXPECT_EQ(record.toggles.size(), 3u);
  later.forget_before_ms = 55;
  record.Join(later);
  EXPECT_EQ(record.toggles, (std::vector<PauseToggle>{{20, 8, true}}));
  EXPECT_EQ(record.FindOverride("video", 1), nullptr);
  EXPECT_EQ(record.marks["video"].overrides.size(), 1u);
  later.erased_seq = 8;
  record.Join(later);
  EXPECT_TRUE(record.toggles.empty());
  EXPECT_TRUE(record.marks["video"].overrides.empty());
}

TEST(UserCodec, TheLastWrittenOverrideOfAnItemCounts) {
  UserRecord record;
  const auto join = [&](int64_t at_ms, uint64_t seq, bool cancelled) {
    UserRecord one;
    one.marks["video"].overrides[7] = {at_ms, seq, cancelled};
    record.Join(one);
    return record.FindOverride("video", 7) != nullptr;
  };
  EXPECT_EQ(record.FindOverride("video", 7), nullptr);
  EXPECT_TRUE(join(10, 1, false));
  EXPECT_EQ(record.FindOverride("books", 7), nullptr);
  EXPECT_FALSE(join(11, 2, true)) << "played anew";
  EXPECT_FALSE(join(10, 1, false)) << "merged again";
  EXPECT_TRUE(join(11, 3, false)) << "deleted again";
  EXPECT_TRUE(join(11, 2, true));
}

TEST(UserCodec, OnlyTheLatestDeletionsAheadAreKept) {
  UserRecord record, more;
  for (size_t i = 0; i < kMaxOverrides; ++i) {
    record.marks["video"].deletions_ahead[i] = {1, static_cast<int64_t>(i) + 1, 0};
  }
  more.marks["video"].deletions_ahead[kFingerprintMask] = {1, 5, 0};
  record.Join(more);
  EXPECT_EQ(record.marks["video"].deletions_ahead.size(), kMaxOverrides);
  EXPECT_FALSE(record.marks["video"].deletions_ahead.contains(0));
  EXPECT_TRUE(record.marks["video"].deletions_ahead.contains(kFingerprintMask));
}

TEST(UserCodec, OnlyTheLatestOverridesAreKept) {
  UserRecord record, more;
  for (size_t i = 0; i < kMaxOverrides; ++i) {
    record.marks["video"].overrides[i] = {static_cast<int64_t>(i), 1, false};
  }
  more.marks["video"].overrides[kFingerprintMask] = {5, 1, false};
  record.Join(more);
  EXPECT_EQ(record.marks["video"].overrides.size(), kMaxOverrides);
  EXPECT_EQ(record.FindOverride("video", 0), nullptr);
  EXPECT_NE(record.FindOverride("video", 1), nullptr);
  EXPECT_NE(record.FindOverride("video", kFingerprintMask), nullptr);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
