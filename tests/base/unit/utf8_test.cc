#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// A code point in the form of `length` bytes, whether or not that is its proper one.
std::string Encode(uint32_t point, size_t length) {
  if (length == 1) return {static_cast<char>(point)};
  std::string bytes(length, '\0');
  for (size_t i = length; i-- > 1; point >>= 6) bytes[i] = static_cast<char>(0x80 | (point & 0x3F));
  const uint32_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  bytes[0] = static_cast<char>(lead[length] | point);
  return bytes;
}

size_t ProperLength(uint32_t point) {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

TEST(Utf8, EveryCodePointInItsProperFormOnly) {
  for (uint32_t point = 0; point < 0x200000; ++point) {
    const bool scalar = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    const size_t proper = ProperLength(point);
    ASSERT_EQ(IsUtf8(Encode(point, proper)), scalar) << std::hex << point;
    for (size_t length = proper + 1; length <= 4; ++length) {
      ASSERT_FALSE(IsUtf8(Encode(point, length))) << "overlong " << std::hex << point;
    }
  }
}

TEST(Utf8, LengthOfTheFirstCharacter) {
  EXPECT_EQ(Utf8SequenceLength("\xC3\xA9x"), 2u);
  EXPECT_EQ(Utf8SequenceLength("\xE2\x82\xACx"), 3u);
  EXPECT_EQ(Utf8SequenceLength("\xF0\x9F\x98\x80"), 4u);
  EXPECT_EQ(Utf8SequenceLength("\xF0\x9F\x98"), 0u);
  EXPECT_EQ(Utf8SequenceLength("\x80"), 0u);
}

TEST(Utf8, TruncatedSequencesAreRefused) {
  for (const uint32_t point : {0xE9U, 0x20ACU, 0x1F600U}) {
    const std::string whole = Encode(point, ProperLength(point));
    for (size_t size = 1; size < whole.size(); ++size) {
      EXPECT_FALSE(IsUtf8(whole.substr(0, size)));
      EXPECT_FALSE(IsUtf8(whole.substr(0, size) + "abc"));
      EXPECT_FALSE(IsUtf8("abcdefgh" + whole.substr(0, size)));
    }
    EXPECT_FALSE(IsUtf8(whole.substr(1)));
  }
}

TEST(Utf8, AnyPlaceAmongAscii) {
  for (size_t before = 0; before < 20; ++before) {
    for (size_t after = 0; after < 20; ++after) {
      const std::string a(before, 'a');
      const std::string b(after, 'b');
      EXPECT_TRUE(IsUtf8(a + b));
      EXPECT_TRUE(IsUtf8(a + "\xE2\x82\xAC" + b));
      EXPECT_FALSE(IsUtf8(a + "\x80" + b)) << before << " " << after;
      EXPECT_FALSE(IsUtf8(a + "\xFF" + b));
      EXPECT_FALSE(IsUtf8(a + "\xED\xA0\x80" + b)) << "a surrogate";
    }
  }
}

TEST(Utf8, NothingIsReadBeyondTheEnd) {
  const std::string euro = "x\xE2\x82\xAC";
  EXPECT_FALSE(IsUtf8(std::string_view(euro).substr(0, 3)));
  EXPECT_TRUE(IsUtf8(std::string_view(euro).substr(0, 1)));
  EXPECT_TRUE(IsUtf8({}));
}

TEST(IsAscii, OneByteDecidesWhereverItIs) {
  EXPECT_TRUE(IsAscii(""));
  for (size_t size = 1; size < 70; ++size) {
    std::string text(size, '\x7F');
    EXPECT_TRUE(IsAscii(text)) << size;
    for (size_t at = 0; at < size; ++at) {
      text[at] = '\x80';
      EXPECT_FALSE(IsAscii(text)) << size << " " << at;
      text[at] = '\0';
    }
  }
}

TEST(Utf8, PrefixesCutNoCharacter) {
  EXPECT_EQ(Utf8Prefix("abc", 3), "abc");
  EXPECT_EQ(Utf8Prefix("abc", 2), "ab");
  EXPECT_EQ(Utf8Prefix("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(Utf8Prefix("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(Utf8Prefix("\xF0\x9F\x98\x80", 3), "");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
