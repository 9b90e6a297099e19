#include "format/counts_codec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "format/unit/format_testing.h"
#include "seendb/facts.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string WrittenCounts(const CountList& list) {
  std::string out = "stale";
  list.Encode(&out);
  return out;
}

bool SoundCounts(std::string_view value) {
  CountList list;
  return list.Parse(value);
}

CountList SomeCounts() {
  CountList list;
  list.entries = {{"author:3", 90, CountedFact::kReserved, 0xB, {}, 60'000},
                  {"author:3", 50, CountedFact::kExposed, 0xA, {}, 0},
                  {"author:3", 50, CountedFact::kServed, 0xA, "search", 0},
                  {"author:3", 50, CountedFact::kServed, 0xA, "home", 0},
                  {"author:3", -7, CountedFact::kPlayed, kFingerprintMask, {}, 0},
                  {"authors", 1, CountedFact::kServed, 0xA, {}, 0},
                  {"\xff"
                   "v1",
                   5,
                   CountedFact::kPlayed,
                   0xA,
                   {},
                   0}};
  return list;
}

TEST(CountsCodec, RoundTrip) {
  CountList list = SomeCounts();
  list.damage.Add("rotten");
  const std::string written = WrittenCounts(list);
  CountList read;
  ASSERT_TRUE(read.Parse(written));
  EXPECT_EQ(read.entries, list.entries);
  EXPECT_EQ(read.damage.entries.size(), 1u);
  test::ExpectCutsRefused(written, SoundCounts);
  test::ExpectFlipsRefused(written, SoundCounts);
  read.Normalize();
  EXPECT_EQ(read.entries, list.entries);
}

TEST(CountsCodec, OneKindAloneIsRead) {
  const std::string written = WrittenCounts(SomeCounts());
  CountList read;
  ASSERT_TRUE(read.ParseKind(written, "author"));
  EXPECT_EQ(read.entries.size(), 5u);
  ASSERT_TRUE(read.ParseKind(written, "authors"));
  EXPECT_EQ(read.entries.size(), 1u);
  ASSERT_TRUE(read.ParseKind(written, "auth"));
  EXPECT_TRUE(read.entries.empty());
}

TEST(CountsCodec, HostileBodiesAreRefused) {
  const auto sound = [](const char* hex) {
    std::string body = test::FromHex(hex);
    body.insert(body.begin(), static_cast<char>(Tag::kCounts));
    Seal32(&body);
    return SoundCounts(body);
  };
  EXPECT_TRUE(sound("00 00 01  01 61 08  02 00 00 00 00 00 00 01"));
  EXPECT_FALSE(sound("00 00 01  01 61 00")) << "a key without events";
  EXPECT_FALSE(sound("00 00 01  00 08  02 00 00 00 00 00 00 01")) << "a key without a name";
  EXPECT_FALSE(sound("00 00 01  01 61 08  02 00 00 00 00 00 00 05")) << "a surface of none";
  EXPECT_FALSE(sound("00 01 00 00")) << "an empty surface";
  EXPECT_FALSE(sound("00 00 01  01 61 10  02 00 00 00 00 00 00 01  00 00 00 00 00 00 00 01"))
      << "an event twice";
  EXPECT_FALSE(sound("00 00 01  01 61 09  02 00 00 00 00 00 00 01 00")) << "half an event";
  EXPECT_FALSE(
      sound("00 00 02  01 62 08  02 00 00 00 00 00 00 01"
            "01 61 08  02 00 00 00 00 00 00 01"))
      << "keys not ascending";
  EXPECT_FALSE(
      sound("00 00 01  01 61 12  02 00 00 00 00 00 00 03"
            "ff ff ff ff ff ff ff ff ff 01"))
      << "a reservation that ends before it begins";
  EXPECT_FALSE(sound("00 00 ff ff ff ff 0f")) << "4 billion keys";
  EXPECT_FALSE(sound("00 00 00 00")) << "bytes left over";
}

TEST(CountsCodec, ARetryIsTheSameEvent) {
  CountList list = SomeCounts();
  for (const CountEntry& entry : SomeCounts().entries) list.entries.push_back(entry);
  list.entries.push_back({"author:3", 90, CountedFact::kReserved, 0xB, {}, 9});
  list.Normalize();
  EXPECT_EQ(list.entries, SomeCounts().entries);
}

// Plays don't push out what was served.
TEST(CountsCodec, EachFactHasItsOwnPlaces) {
  CountList list;
  list.entries.push_back({"a", 1, CountedFact::kServed, 1, {}, 0});
  for (int64_t at = 2; at < 400; ++at) {
    list.entries.push_back({"a", at, CountedFact::kPlayed, 1, {}, 0});
  }
  list.Normalize();
  ASSERT_EQ(list.entries.size(), 256u);
  EXPECT_EQ(list.entries.back().fact, CountedFact::kServed);
  EXPECT_EQ(list.entries.front().at_ms, 399);
  list.DropBefore(399);
  EXPECT_EQ(list.entries.size(), 1u);
  list.DropBefore(400);
  EXPECT_TRUE(list.entries.empty());
}

// Three new events with two keys push out six old ones with one key each. By the number of events
// an older one of a third key would be among the newest five again, though a union before dropped
// it.
TEST(CountsCodec, TheCutOfAUserCountsEntries) {
  const CountLimits limits{3, 5};
  const auto served = [](std::string_view key, int64_t at_ms) {
    return CountEntry{key, at_ms, CountedFact::kServed, 1, {}, 0};
  };
  CountList whole, part;
  whole.entries = {served("c", 1)};
  for (int64_t at = 10; at < 13; ++at) whole.entries.push_back(served("a", at));
  for (int64_t at = 13; at < 16; ++at) whole.entries.push_back(served("b", at));
  part = whole;
  part.Normalize(limits);
  for (int64_t at = 20; at < 23; ++at) {
    for (CountList* const list : {&whole, &part}) {
      list->entries.push_back(served("a", at));
      list->entries.push_back(served("b", at));
    }
  }
  whole.Normalize(limits);
  part.Normalize(limits);
  EXPECT_EQ(part.entries, whole.entries);
  EXPECT_EQ(whole.entries.size(), 5u);
}

// With both cuts, any grouping and repetition ends in the same value.
TEST(CountsCodec, AnySplitIntoUnionsGivesTheSame) {
  constexpr std::array<std::string_view, 4> kKeys = {"a", "b", "c", "d:1"};
  constexpr std::array<std::string_view, 3> kPlaces = {"", "home", "search"};
  const CountLimits limits{3, 7};
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 1'000; ++round) {
    std::vector<CountList> parts(1 + random() % 25);
    CountList whole;
    for (CountList& part : parts) {
      CountEntry event{
          {},           static_cast<int64_t>(random() % 13), static_cast<CountedFact>(random() % 4),
          random() % 4, kPlaces[random() % kPlaces.size()],  0};
      if (event.fact == CountedFact::kReserved) event.for_ms = static_cast<int64_t>(random() % 3);
      for (const std::string_view key : kKeys) {
        if (random() % 2 == 0) continue;
        event.key = key;
        part.entries.push_back(event);
      }
      whole.entries.insert(whole.entries.end(), part.entries.begin(), part.entries.end());
    }
    whole.Normalize(limits);
    std::shuffle(parts.begin(), parts.end(), random);
    while (parts.size() > 1) {
      const size_t count = 2 + random() % (parts.size() - 1);
      CountList joined;
      for (size_t i = 0; i < count; ++i) {
        joined.entries.insert(joined.entries.end(), parts[i].entries.begin(),
                              parts[i].entries.end());
      }
      joined.Normalize(limits);
      if (random() % 4 == 0) parts.push_back(parts[0]);
      parts.erase(parts.begin(), parts.begin() + static_cast<int64_t>(count));
      parts.push_back(joined);
    }
    parts[0].Normalize(limits);
    ASSERT_EQ(parts[0].entries, whole.entries) << "round " << round;
    CountList read;
    const std::string written = WrittenCounts(whole);
    ASSERT_TRUE(read.Parse(written));
    ASSERT_EQ(read.entries, whole.entries) << "round " << round;
  }
}

TEST(CountsCodec, WhatIsTooOldByItsKindIsLeftOut) {
  const std::vector<CountedKind> kinds{{"author", 60'000}, {"item", 120'000}};
  const std::string item = ItemKey(IdRef("v1"));
  CountList list;
  for (const std::string_view key : {"author", "author:1", "authors", "item:1"}) {
    list.entries.push_back({.key = key, .at_ms = 1'000'000});
    list.entries.push_back({.key = key, .at_ms = 1'000'000 - 60'001});
  }
  list.entries.push_back({.key = item, .at_ms = 1'000'000 - 120'000});
  list.entries.push_back({.key = item, .at_ms = 1'000'000 - 120'001});
  list.DropOld(kinds, 1'000'000);
  std::string left;
  for (const CountEntry& one : list.entries) {
    left += std::string(ItemOfKey(one.key).empty() ? one.key : "its own") + " ";
  }
  EXPECT_EQ(left, "author author:1 authors authors item:1 item:1 its own ");
  EXPECT_TRUE(IsOfKind(item, "item"));
  EXPECT_FALSE(IsOfKind(item, "v1"));
  EXPECT_EQ(OldestCounted(item, {}, 5), std::numeric_limits<int64_t>::max())
      << "counted only where it is named";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
