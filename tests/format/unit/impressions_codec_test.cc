#include "format/impressions_codec.h"

#include <algorithm>
#include <array>
#include <random>

#include "format/unit/format_testing.h"
#include "seendb/facts.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Write(const ImpressionList& list) {
  std::string out = "stale";
  list.Encode(&out);
  return out;
}

bool Sound(std::string_view value) {
  ImpressionList list;
  return list.Parse(value);
}

std::string Sealed(std::string body) {
  body.insert(body.begin(), static_cast<char>(Tag::kImpressions));
  Seal32(&body);
  return body;
}

ImpressionList TwoCalls() {
  ImpressionList list;
  list.entries = {{2000, 9, 1, 0xA}, {2000, 9, 0, kFingerprintMask}, {1000, 8, 70'000, 0}};
  return list;
}

TEST(ImpressionsCodec, RoundTrip) {
  ImpressionList list = TwoCalls();
  list.damage.Add("rotten");
  ImpressionList read;
  ASSERT_TRUE(read.Parse(Write(list)));
  EXPECT_EQ(read.entries, list.entries);
  ASSERT_EQ(read.damage.entries.size(), 1u);
  EXPECT_EQ(read.damage.entries[0].prefix, "rotten");
  ASSERT_TRUE(read.Parse(Write({})));
  EXPECT_TRUE(read.entries.empty());
  EXPECT_TRUE(read.damage.empty());
}

TEST(ImpressionsCodec, CutsAndFlipsAreRefused) {
  ImpressionList list = TwoCalls();
  list.damage.Add("rotten");
  test::ExpectCutsRefused(Write(list), Sound);
  test::ExpectFlipsRefused(Write(list), Sound);
}

TEST(ImpressionsCodec, HostileBodiesAreRefused) {
  using test::FromHex;
  EXPECT_TRUE(Sound(Sealed(FromHex("00 00"))));
  EXPECT_FALSE(Sound(Sealed("")));
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01")))) << "a group is missing";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 ff ff ff ff 0f")))) << "4 billion groups";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 01 00 00 ff ff ff ff 0f")))) << "4 billion entries";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00")))) << "bytes left over";
  EXPECT_FALSE(Sound(Sealed(FromHex("02 02 00 00")))) << "a damage section that is none";
  EXPECT_FALSE(Sound(Sealed(FromHex("ff ff ff ff ff ff ff ff ff 01 00"))));
}

ImpressionList WithIds() {
  ImpressionList list;
  list.entries = {{2000, 9, 1, 0xA, "v1"}, {2000, 9, 0, 0xB}, {1000, 8, 7, 0xC, "18446744073"}};
  return list;
}

TEST(ImpressionsCodec, IdsMakeVersionTwo) {
  const std::string written = Write(WithIds());
  EXPECT_EQ(written[0], static_cast<char>(Tag::kImpressionsWithIds));
  ImpressionList read;
  ASSERT_TRUE(read.Parse(written));
  EXPECT_EQ(read.entries, WithIds().entries);
  test::ExpectCutsRefused(written, Sound);
  test::ExpectFlipsRefused(written, Sound);

  read.DropIds();
  ImpressionList without = WithIds();
  for (ImpressionEntry& entry : without.entries) entry.id = {};
  EXPECT_EQ(read.entries, without.entries);
  EXPECT_EQ(Write(read)[0], static_cast<char>(Tag::kImpressions));
}

TEST(ImpressionsCodec, AnIdTooLongIsRefused) {
  ImpressionList list = WithIds();
  const std::string longest(kMaxIdBytes, 'x'), longer(kMaxIdBytes + 1, 'x');
  list.entries[1].id = longest;
  EXPECT_TRUE(Sound(Write(list)));
  list.entries[1].id = longer;
  EXPECT_FALSE(Sound(Write(list)));
}

TEST(ImpressionsCodec, OfTheSameEntryTheOneWithItsIdStays) {
  const ImpressionEntry with{5, 1, 0, 0xA, "v1"}, without{5, 1, 0, 0xA};
  for (const auto& entries : {std::vector{with, without}, std::vector{without, with}}) {
    ImpressionList list{entries, {}};
    list.Normalize(9);
    EXPECT_EQ(list.entries, std::vector{with});
  }
}

TEST(ImpressionsCodec, NormalizeKeepsTheNewestOfEachItem) {
  ImpressionList list;
  list.entries = {{1, 1, 0, 0xA}, {2, 1, 0, 0xA}, {2, 2, 0, 0xB}, {2, 2, 1, 0xC}, {1, 9, 9, 0xD}};
  list.Normalize(3);
  const std::vector<ImpressionEntry> newest{{2, 2, 1, 0xC}, {2, 2, 0, 0xB}, {2, 1, 0, 0xA}};
  EXPECT_EQ(list.entries, newest);
  list.Normalize(0);
  EXPECT_TRUE(list.entries.empty());
}

ImpressionList OnSurfaces() {
  ImpressionList list;
  list.entries = {{2000, 9, 1, 0xA, "v1", "home"},
                  {2000, 9, 0, 0xB},
                  {1000, 8, 7, 0xA, {}, "search"},
                  {1000, 8, 6, 0xC, "18446744073", "home"}};
  return list;
}

TEST(ImpressionsCodec, SurfacesMakeVersionThree) {
  ImpressionList list = OnSurfaces();
  list.damage.Add("rotten");
  const std::string written = Write(list);
  EXPECT_EQ(written[0], static_cast<char>(Tag::kImpressionsWithSurfaces));
  ImpressionList read;
  ASSERT_TRUE(read.Parse(written));
  EXPECT_EQ(read.entries, list.entries);
  EXPECT_EQ(read.damage.entries.size(), 1u);
  test::ExpectCutsRefused(written, Sound);
  test::ExpectFlipsRefused(written, Sound);

  for (ImpressionEntry& entry : read.entries) entry.surface = {};
  EXPECT_EQ(Write(read)[0], static_cast<char>(Tag::kImpressionsWithIds));
}

TEST(ImpressionsCodec, ASurfaceTooLongIsRefused) {
  ImpressionList list = OnSurfaces();
  const std::string longest(kMaxSurfaceBytes, 'x'), longer(kMaxSurfaceBytes + 1, 'x');
  list.entries[1].surface = longest;
  EXPECT_TRUE(Sound(Write(list)));
  list.entries[1].surface = longer;
  EXPECT_FALSE(Sound(Write(list)));
}

TEST(ImpressionsCodec, HostileSurfacesAreRefused) {
  const auto sound = [](const char* hex) {
    std::string body = test::FromHex(hex);
    body.insert(body.begin(), static_cast<char>(Tag::kImpressionsWithSurfaces));
    Seal32(&body);
    return Sound(body);
  };
  EXPECT_TRUE(sound("00  02 01 61 01 62  01 00 00 01  00 00 00 00 00 00 00 02 00"));
  EXPECT_FALSE(sound("00  02 01 61 01 62  01 00 00 01  00 00 00 00 00 00 00 03 00")) << "a third";
  EXPECT_FALSE(sound("00  02 01 62 01 61  00")) << "not ascending";
  EXPECT_FALSE(sound("00  02 01 61 01 61  00")) << "twice";
  EXPECT_FALSE(sound("00  01 00  00")) << "an empty one";
  EXPECT_FALSE(sound("00  00  00")) << "none";
  EXPECT_FALSE(sound("00  ff ff ff ff 0f  00")) << "4 billion";
}

TEST(ImpressionsCodec, NormalizeKeepsTheNewestOfEachItemAndSurface) {
  ImpressionList list;
  list.entries = {{1, 1, 0, 0xA, {}, "home"},
                  {2, 2, 0, 0xA, {}, "search"},
                  {3, 3, 0, 0xA, {}, "search"},
                  {1, 1, 1, 0xA}};
  list.Normalize(9);
  const std::vector<ImpressionEntry> newest{
      {3, 3, 0, 0xA, {}, "search"}, {1, 1, 1, 0xA}, {1, 1, 0, 0xA, {}, "home"}};
  EXPECT_EQ(list.entries, newest);
  list.Normalize(2);
  EXPECT_EQ(list.entries.size(), 2u);
}

TEST(ImpressionsCodec, DropBeforeKeepsTheTimeItself) {
  ImpressionList list = OnSurfaces();
  list.DropBefore(2000);
  EXPECT_EQ(list.entries.size(), 2u);
  list.DropBefore(2001);
  EXPECT_TRUE(list.entries.empty());
}

constexpr std::array<std::string_view, 3> kSurfaces = {"", "home", "search"};

TEST(ImpressionsCodec, AnySplitIntoUnionsGivesTheSame) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    const size_t limit = 1 + random() % 12;
    std::vector<ImpressionEntry> all;
    for (size_t i = 0; i < 40; ++i) {
      const bool surfaces = round % 2 == 0;
      all.push_back({static_cast<int64_t>(random() % 5),
                     random() % 4,
                     static_cast<uint32_t>(random() % 3),
                     random() % 15,
                     {},
                     surfaces ? kSurfaces[random() % kSurfaces.size()] : std::string_view()});
    }
    ImpressionList whole{all, {}};
    whole.Normalize(limit);
    std::shuffle(all.begin(), all.end(), random);
    ImpressionList folded;
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = std::min(all.size(), begin + 1 + random() % 7);
      ImpressionList part{
          {all.begin() + static_cast<int64_t>(begin), all.begin() + static_cast<int64_t>(end)}, {}};
      if (random() % 2 == 0) part.Normalize(limit);
      folded.entries.insert(folded.entries.end(), part.entries.begin(), part.entries.end());
      if (random() % 2 == 0) folded.Normalize(limit);
      begin = random() % 5 == 0 ? begin : end;  // now and then once more
    }
    folded.Normalize(limit);
    EXPECT_EQ(folded.entries, whole.entries);
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
