#include "format/user_codec.h"

#include <limits>

#include "support/poison.h"
#include "unit/format/format_testing.h"

namespace seendb {
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
  a.AbsorbUnread("noise");
  EXPECT_TRUE(a.damaged);
  b.AbsorbUnread(newer);
  b.AbsorbUnread(newer);
  EXPECT_FALSE(b.damaged);
  EXPECT_EQ(b.newer, std::vector<std::string>{newer});
  a.Absorb(b);
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
  EXPECT_FALSE(Sound(Sealed(FromHex("05 01"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01"))));
  EXPECT_FALSE(Sound(Sealed(FromHex("01")))) << "a field without its number";
}

TEST(UserCodec, AbsorbTakesTheMaximumOfEveryField) {
  UserRecord a{5, 10, false};
  const UserRecord b{4, 20, true};
  UserRecord c = b;
  a.Absorb(b);
  c.Absorb({5, 10, false});
  for (const UserRecord& both : {a, c}) {
    EXPECT_EQ(both.erased_seq, 5u);
    EXPECT_EQ(both.erased_at_ms, 20);
    EXPECT_TRUE(both.damaged);
  }
}

}  // namespace
}  // namespace seendb
