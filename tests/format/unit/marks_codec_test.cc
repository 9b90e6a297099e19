#include "format/marks_codec.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>

#include "format/unit/format_testing.h"
#include "seendb/facts.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string WrittenMarks(const MarkList& list) {
  std::string out = "stale";
  list.Encode(&out);
  return out;
}

bool SoundMarks(std::string_view value) {
  MarkList list;
  return list.Parse(value);
}

MarkList SomeMarks() {
  MarkList list;
  list.marks = {{"author:3", 100, kMarkedAlways},
                {"channel:9", 50, 90},
                {"channel:9", 60, -5},
                {"z", std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}};
  list.deletions = {{"channel:7", 70}, {"channel:9", 40}};
  return list;
}

TEST(MarksCodec, RoundTrip) {
  MarkList list = SomeMarks();
  list.damage.Add("rotten");
  const std::string written = WrittenMarks(list);
  MarkList read;
  ASSERT_TRUE(read.Parse(written));
  EXPECT_EQ(read.marks, list.marks);
  EXPECT_EQ(read.deletions, list.deletions);
  EXPECT_EQ(read.damage.entries.size(), 1u);
  test::ExpectCutsRefused(written, SoundMarks);
  test::ExpectFlipsRefused(written, SoundMarks);
  ASSERT_TRUE(read.Parse(WrittenMarks({})));
  EXPECT_TRUE(read.marks.empty());
  EXPECT_TRUE(read.damage.empty());
}

TEST(MarksCodec, HostileBodiesAreRefused) {
  const auto sound = [](const char* hex) {
    std::string body = test::FromHex(hex);
    body.insert(body.begin(), static_cast<char>(Tag::kMarks));
    Seal32(&body);
    return SoundMarks(body);
  };
  EXPECT_TRUE(sound("00 02  01 61 02 04 00 01  01 62 01 04"));
  EXPECT_FALSE(sound("00 02  01 62 02 04 00 01  01 61 01 04")) << "groups not ascending";
  EXPECT_FALSE(sound("00 02  01 61 02 04 00 01  01 61 01 04")) << "a group twice";
  EXPECT_FALSE(sound("00 01  00 01 04")) << "a group without a name";
  EXPECT_FALSE(sound("00 01  01 61 00")) << "a group without a mark";
  EXPECT_FALSE(sound("00 01  01 61 02 04 02 01")) << "a kind that is not known";
  EXPECT_FALSE(sound("00 01  01 61 03 04 04 01")) << "not said after the deletion";
  EXPECT_FALSE(sound("00 01  01 61 04 04 00 02 04 00 00")) << "said at the same time";
  EXPECT_FALSE(sound("00 01  01 61 04 04 00 02 06 00 02")) << "the later one reaches further";
  EXPECT_TRUE(sound("00 01  01 61 04 04 00 02 06 00 01"));
  EXPECT_FALSE(sound("00 01  01 61 fe ff ff ff 1f 04 01")) << "4 billion marks";
  EXPECT_FALSE(sound("00 ff ff ff ff 0f")) << "4 billion groups";
  EXPECT_FALSE(sound("00 00 00")) << "bytes left over";
}

TEST(MarksCodec, AGroupTooLongIsRefused) {
  const std::string longest(kMaxGroupBytes, 'x'), longer(kMaxGroupBytes + 1, 'x');
  MarkList list;
  list.marks = {{longest, 1, 1}};
  EXPECT_TRUE(SoundMarks(WrittenMarks(list)));
  list.marks = {{longer, 1, 1}};
  EXPECT_FALSE(SoundMarks(WrittenMarks(list)));
}

// "Up to 100" said at 5, "up to 50" said at 9, deleted at 7: 50 is left.
TEST(MarksCodec, ADeletionLeavesWhatWasSaidLater) {
  MarkList list;
  list.marks = {{"g", 5, 100}, {"g", 9, 50}};
  list.Normalize();
  ASSERT_NE(list.Find("g"), nullptr);
  EXPECT_EQ(list.Find("g")->until_ms, 100);
  list.deletions = {{"g", 7}};
  list.Normalize();
  EXPECT_EQ(list.Find("g")->until_ms, 50);
  list.deletions = {{"g", 9}};
  list.Normalize();
  EXPECT_EQ(list.Find("g"), nullptr) << "said at the time of the deletion";
  list.marks = {{"g", 8, 1000}};
  list.Normalize();
  EXPECT_EQ(list.Find("g"), nullptr) << "delivered again";
}

TEST(MarksCodec, OneMarkIsLeftWhereLaterOnesReachFurther) {
  MarkList list;
  for (int64_t said = 1; said <= 50; ++said) list.marks.push_back({"g", said, said - 1});
  list.marks.push_back({"h", 1, kMarkedAlways});
  list.Normalize();
  EXPECT_EQ(list.marks, (std::vector<StoredMark>{{"g", 50, 49}, {"h", 1, kMarkedAlways}}));
  EXPECT_EQ(list.groups(), 2u);
  EXPECT_EQ(list.Find("i"), nullptr);
  list.ForgetUpTo(49);
  EXPECT_EQ(list.groups(), 1u);
}

TEST(MarksCodec, TheLatestDeletionsStay) {
  MarkList list;
  list.deletions = {{"a", 3}, {"b", 9}, {"c", 1}, {"d", 5}, {"a", 2}};
  list.Normalize(2);
  EXPECT_EQ(list.deletions, (std::vector<MarkDeletion>{{"b", 9}, {"d", 5}}));
}

// Any grouping of marks and deletions, some delivered again, ends in the same value; and what
// counts is what the definition says.
TEST(MarksCodec, AnySplitIntoUnionsGivesTheSame) {
  constexpr std::array<std::string_view, 3> kGroups = {"a", "b", "c"};
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 500; ++round) {
    std::vector<MarkList> parts(1 + random() % 20);
    MarkList whole;
    for (MarkList& part : parts) {
      const std::string_view group = kGroups[random() % kGroups.size()];
      const auto time = static_cast<int64_t>(random() % 8);
      if (random() % 3 == 0) {
        part.deletions.push_back({group, time});
      } else {
        const auto until = static_cast<int64_t>(random() % 9);
        part.marks.push_back({group, time, until == 8 ? kMarkedAlways : until});
      }
      whole.Add(part);
    }
    std::map<std::string_view, int64_t> deleted, reaches;
    for (const MarkDeletion& one : whole.deletions) {
      int64_t& at = deleted.try_emplace(one.group, one.at_ms).first->second;
      at = std::max(at, one.at_ms);
    }
    for (const StoredMark& one : whole.marks) {
      if (deleted.contains(one.group) && one.said_ms <= deleted[one.group]) continue;
      int64_t& until = reaches.try_emplace(one.group, one.until_ms).first->second;
      until = std::max(until, one.until_ms);
    }
    whole.Normalize();

    std::shuffle(parts.begin(), parts.end(), random);
    while (parts.size() > 1) {
      const size_t count = 2 + random() % (parts.size() - 1);
      MarkList joined;
      for (size_t i = 0; i < count; ++i) joined.Add(parts[i]);
      joined.Normalize();
      if (random() % 4 == 0) parts.push_back(parts[0]);
      parts.erase(parts.begin(), parts.begin() + static_cast<int64_t>(count));
      parts.push_back(joined);
    }
    parts[0].Normalize();
    ASSERT_EQ(WrittenMarks(parts[0]), WrittenMarks(whole)) << "round " << round;
    ASSERT_TRUE(SoundMarks(WrittenMarks(whole)));
    for (const std::string_view group : kGroups) {
      const StoredMark* const found = parts[0].Find(group);
      ASSERT_EQ(found != nullptr, reaches.contains(group)) << group;
      if (found == nullptr) continue;
      ASSERT_EQ(found->until_ms, reaches[group]) << group;
    }
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
