// Rows: read as they were written, refused when damaged, and the bytes kept in tests/golden/items.

#include "items/row_codec.h"

#include <random>

#include <gtest/gtest.h>

#include "format/unit/format_testing.h"
#include "items/golden.h"
#include "items/item_testing.h"
#include "support/poison.h"
#include "support/seed.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

bool Parses(std::string_view row) {
  State state;
  return ParseRow(row, &state);
}

State OneOfEach(std::string* texts) {
  *texts = std::string(
      "\0\x02"
      "t1\0\x02"
      "t2",
      8);
  State state = UpdateOf(
      9, {SetCell(0, 9, BoolOf(true)), SetCell(1, 8, I64Of(-3)), SetCell(2, 9, F32Of(0.5F)),
          UnsetCell(255, 7), SetCell(256, 9, TextOf("a3")),
          SetCell(1023, 5, {.type = ItemFieldType::kTextList, .number = 0, .bytes = *texts})});
  state.floor = 5;
  state.expires_version = 6;
  state.expires_ms = 1'773'147'600'000;
  state.time_ms = 1'773'144'000'000;
  return state;
}

TEST(ItemRow, IsReadAsItWasWritten) {
  std::string texts;
  const State state = OneOfEach(&texts);
  const std::string row = RowOf(state);
  State read;
  ASSERT_TRUE(ParseRow(row, &read));
  EXPECT_EQ(read, state);
}

TEST(ItemRow, IsRefusedWhenCutOrFlipped) {
  std::string texts;
  const std::string row = RowOf(OneOfEach(&texts));
  test::ExpectCutsRefused(row, Parses);
  test::ExpectFlipsRefused(row, Parses);
}

// Wrong in itself, with a checksum that fits.
TEST(ItemRow, IsRefusedWhereItsPartsContradictEachOther) {
  EXPECT_TRUE(Parses(RowOf(UpdateOf(7, {SetCell(1, 7, I64Of(1))}))));
  EXPECT_FALSE(Parses(RowOf(UpdateOf(7, {SetCell(1, 8, I64Of(1))}))));  // newer than the item
  EXPECT_FALSE(Parses(RowOf(UpdateOf(7, {SetCell(1, 0, I64Of(1))}))));
  EXPECT_FALSE(Parses(RowOf(UpdateOf(7, {SetCell(1024, 7, I64Of(1))}))));
  EXPECT_FALSE(Parses(RowOf(UpdateOf(kMaxItemVersion + 1, {}))));
  State below = UpdateOf(7, {SetCell(1, 6, I64Of(1))});
  below.floor = 7;
  EXPECT_FALSE(Parses(RowOf(below)));
  const Value odd = {.type = ItemFieldType::kI64List, .number = 0, .bytes = "1234567"};
  EXPECT_FALSE(Parses(RowOf(UpdateOf(7, {SetCell(1, 7, odd)}))));
  const Value cut = {.type = ItemFieldType::kTextList, .number = 0, .bytes = "\x01\x01t"};
  EXPECT_FALSE(Parses(RowOf(UpdateOf(7, {SetCell(1, 7, cut)}))));
}

TEST(ItemRow, NoiseAndForgeriesNeverCrash) {
  std::mt19937_64 random(test::Seed());
  std::string texts;
  const std::string row = RowOf(OneOfEach(&texts));
  for (int i = 0; i < 20'000; ++i) {
    State state;
    const std::string forged = Forged(random, row);
    if (ParseRow(forged, &state)) {
      State again;
      const std::string written = RowOf(state);
      ASSERT_TRUE(ParseRow(written, &again));
      ASSERT_EQ(again, state);
    }
  }
}

TEST(ItemRow, GoldenBytes) {
  for (const GoldenRow& one : GoldenRows()) {
    SCOPED_TRACE(one.name);
    const std::string golden = GoldenBytesOf(one.name, one.about, RowOf(one.state));
    EXPECT_EQ(test::ToHex(RowOf(one.state)), test::ToHex(golden));
    State read;
    ASSERT_TRUE(ParseRow(golden, &read));
    EXPECT_EQ(read, one.state);
  }
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
