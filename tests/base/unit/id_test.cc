#include "seendb/id.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(IdRef, CanonicalDecimalTextIsTheInteger) {
  const uint64_t numbers[] = {0,
                              1,
                              9,
                              10,
                              123,
                              1'234'567,
                              12'345'678,
                              123'456'789,
                              9'999'999'999'999'999,
                              10'000'000'000'000'000,
                              1'234'567'890'123'456'789,
                              9'999'999'999'999'999'999U,
                              10'000'000'000'000'000'000U,
                              std::numeric_limits<uint64_t>::max() - 1,
                              std::numeric_limits<uint64_t>::max()};
  for (const uint64_t number : numbers) {
    const std::string text = std::to_string(number);
    const IdRef id(text);
    ASSERT_TRUE(id.is_number()) << text;
    EXPECT_EQ(id.number(), number);
    EXPECT_EQ(id, IdRef(number));
    EXPECT_EQ(id.ToString(), text);
    EXPECT_TRUE(id.Validate().ok());
  }
}

TEST(IdRef, OtherTextStaysText) {
  const std::string texts[] = {"00",
                               "01",
                               "0123456789",
                               "+1",
                               "-1",
                               " 1",
                               "1 ",
                               "1.0",
                               "1e3",
                               "0x10",
                               "12a45678",
                               "1234567:",
                               "1234567/",
                               "12345678a",
                               "123456789012345678901",
                               "18446744073709551616",
                               "18446744073709551620",
                               "28446744073709551615",
                               "99999999999999999999",
                               "1844674407370955161x",
                               "\xD9\xA1\xD9\xA2",  // Arabic-Indic digits
                               std::string("1\0", 2),
                               "v1"};
  for (const std::string& text : texts) {
    const IdRef id(text);
    EXPECT_FALSE(id.is_number()) << text;
    EXPECT_EQ(id.text(), text);
    EXPECT_EQ(id.ToString(), text);
    EXPECT_TRUE(id.Validate().ok()) << text;
  }
}

TEST(IdRef, EveryByteThatIsNoDigitMakesText) {
  // In each place of the eight digits that are read at once, and of those read one by one.
  const std::string digits = "98765432109";
  for (size_t place = 0; place < digits.size(); ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = digits;
      text[place] = static_cast<char>(byte);
      const bool digit = byte >= '0' && byte <= '9' && !(place == 0 && byte == '0');
      EXPECT_EQ(IdRef(text).is_number(), digit) << place << " " << byte;
    }
  }
}

TEST(IdRef, EqualityIsOfCanonicalForms) {
  EXPECT_EQ(IdRef("42"), IdRef(uint64_t{42}));
  EXPECT_FALSE(IdRef("042") == IdRef(uint64_t{42}));
  EXPECT_EQ(IdRef("v1"), IdRef(std::string("v1")));
  EXPECT_FALSE(IdRef("v1") == IdRef("v2"));
  EXPECT_FALSE(IdRef() == IdRef(uint64_t{0}));
  EXPECT_EQ(IdRef(), IdRef(""));
}

TEST(IdRef, BordersOfLength) {
  EXPECT_EQ(IdRef().Validate().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(IdRef("").Validate().code(), StatusCode::kInvalidArgument);
  const std::string longest(kMaxIdBytes, 'a');
  EXPECT_TRUE(IdRef(longest).Validate().ok());
  const std::string longer(kMaxIdBytes + 1, 'a');
  EXPECT_EQ(IdRef(longer).Validate().code(), StatusCode::kInvalidArgument);
  const std::string digits(kMaxIdBytes + 1, '1');
  EXPECT_EQ(IdRef(digits).Validate().code(), StatusCode::kInvalidArgument);
}

TEST(IdRef, AppendsToWhatIsThere) {
  std::string out = "u:";
  IdRef(uint64_t{0}).AppendTo(&out);
  IdRef("/x").AppendTo(&out);
  EXPECT_EQ(out, "u:0/x");
}

TEST(IdRef, TextThatIsNotUtf8IsRefused) {
  EXPECT_EQ(IdRef("v\xFF").Validate().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(IdRef("v\xC3\xA9").Validate().ok());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
