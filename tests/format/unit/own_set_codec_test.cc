#include "format/own_set_codec.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string WrittenSet(const StoredOwnSet& set) {
  std::string out = "stale";
  set.Encode(&out);
  return out;
}

bool SoundSet(std::string_view value) {
  StoredOwnSet set;
  return set.Parse(value);
}

StoredOwnSet SetOf(int64_t said_ms, std::vector<std::string_view> items) {
  StoredOwnSet set;
  set.said = true;
  set.said_ms = said_ms;
  set.lasts_ms = 1'000;
  set.items = std::move(items);
  return set;
}

std::string UnionOf(const std::vector<std::string>& values) {
  OwnSetUnion all;
  for (const std::string& value : values) all.Add(value);
  std::string out;
  all.Encode(&out);
  return out;
}

TEST(OwnSetCodec, RoundTrip) {
  StoredOwnSet set = SetOf(-5, {"a", "b"});
  set.damage.Add("rotten");
  const std::string written = WrittenSet(set);
  StoredOwnSet read;
  ASSERT_TRUE(read.Parse(written));
  EXPECT_EQ(read.items, set.items);
  EXPECT_EQ(read.said_ms, -5);
  EXPECT_EQ(read.ends_ms(), 995);
  EXPECT_EQ(read.damage.entries.size(), 1u);
  test::ExpectCutsRefused(written, SoundSet);
  test::ExpectFlipsRefused(written, SoundSet);
  ASSERT_TRUE(read.Parse(WrittenSet({})));
  EXPECT_FALSE(read.said);
  set.said_ms = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(set.ends_ms(), std::numeric_limits<int64_t>::max());
}

TEST(OwnSetCodec, HostileBodiesAreRefused) {
  const auto sound = [](const char* hex) {
    std::string body = test::FromHex(hex);
    body.insert(body.begin(), static_cast<char>(Tag::kOwnSet));
    Seal32(&body);
    return SoundSet(body);
  };
  EXPECT_TRUE(sound("00 00 02 05 02  01 61  01 62"));
  EXPECT_TRUE(sound("00 01 02 05 00"));
  EXPECT_TRUE(sound("00 02 00 00 00"));
  EXPECT_FALSE(sound("00 00 02 05 02  01 62  01 61")) << "not ascending";
  EXPECT_FALSE(sound("00 00 02 05 02  01 61  01 61")) << "twice";
  EXPECT_FALSE(sound("00 00 02 05 01  00")) << "an id without bytes";
  EXPECT_FALSE(sound("00 01 02 05 01  01 61")) << "deleted, with an id";
  EXPECT_FALSE(sound("00 02 02 05 00")) << "nothing said, at a time";
  EXPECT_FALSE(sound("00 03 00 00 00")) << "flags that are not known";
  EXPECT_FALSE(sound("00 00 02 ff ff ff ff ff ff ff ff ff 01 00")) << "it lasts too long";
  EXPECT_FALSE(sound("00 00 02 05 ff ff ff ff 0f")) << "4 billion ids";
  EXPECT_FALSE(sound("00 00 02 05 00 00")) << "bytes left over";
}

TEST(OwnSetCodec, CountsUntilItEnds) {
  const StoredOwnSet set = SetOf(10, {"a"});
  EXPECT_TRUE(set.CountsAt(1'009));
  EXPECT_FALSE(set.CountsAt(1'010));
  EXPECT_FALSE(StoredOwnSet().CountsAt(0));
}

// In whatever order they come, and however they are grouped.
TEST(OwnSetCodec, TheOneSaidLastCounts) {
  StoredOwnSet gone = SetOf(30, {});
  gone.deleted = true;
  std::vector<std::string> all{WrittenSet(SetOf(10, {"a"})), WrittenSet(SetOf(20, {"b"})),
                               WrittenSet(gone), "rotten"};
  std::sort(all.begin(), all.end());
  const std::string united = UnionOf(all);
  do {
    EXPECT_EQ(UnionOf(all), united);
    EXPECT_EQ(UnionOf({UnionOf({all[0], all[1]}), UnionOf({all[1], all[2], all[3]})}), united);
  } while (std::next_permutation(all.begin(), all.end()));
  StoredOwnSet read;
  ASSERT_TRUE(read.Parse(united));
  EXPECT_TRUE(read.deleted);
  EXPECT_EQ(read.said_ms, 30);
  EXPECT_EQ(read.damage.entries.size(), 1u);
  const std::string one = WrittenSet(SetOf(10, {"a"})), other = WrittenSet(SetOf(10, {"b"}));
  EXPECT_EQ(UnionOf({one, other}), UnionOf({other, one})) << "said at one time";
}

TEST(OwnSetCodec, KeysOfOneUserAreBesideEachOther) {
  std::string_view user, name;
  const std::string key = OwnSetKey("u1", "a/b");
  EXPECT_EQ(test::ToHex(key), test::ToHex(test::FromHex("ff 02 75 31 61 2f 62")));
  ASSERT_TRUE(ParseOwnSetKey(key, &user, &name));
  EXPECT_EQ(user, "u1");
  EXPECT_EQ(name, "a/b");
  EXPECT_TRUE(key > OwnSetPrefix("u1") && key < OwnSetEnd("u1"));
  EXPECT_FALSE(OwnSetKey("u11", "a") > OwnSetPrefix("u1") &&
               OwnSetKey("u11", "a") < OwnSetEnd("u1"));
  for (const char* bad : {"", "ff", "ff 00 61", "ff 02 75", "ff 02 75 31", "75 31"}) {
    EXPECT_FALSE(ParseOwnSetKey(test::FromHex(bad), &user, &name)) << bad;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
