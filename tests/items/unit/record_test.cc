// Records: what goes in comes out, with texts in them or beside them; bytes that are none are
// refused; and the bytes kept in tests/golden/items.

#include "items/record.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "format/unit/format_testing.h"
#include "items/golden.h"
#include "items/item_testing.h"
#include "items/some_texts.h"
#include "support/seed.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

Types SomeTypes() {
  Types types = {};
  types[0] = ItemFieldType::kText;
  types[1] = ItemFieldType::kI64;
  types[2] = ItemFieldType::kF32;
  types[3] = ItemFieldType::kBool;
  types[4] = ItemFieldType::kTextList;
  types[63] = types[64] = types[500] = ItemFieldType::kI64;
  types[1023] = ItemFieldType::kI64List;
  return types;
}

std::string RecordOf(const IdRef& id, const State& state, Texts* texts) {
  std::string record;
  EXPECT_TRUE(EncodeRecord(id, state, texts, &record));
  return record;
}

const uint8_t* BytesOf(const std::string& record) {
  return reinterpret_cast<const uint8_t*>(record.data());
}

State ManyFields() {
  State state = UpdateOf(
      9, {SetCell(0, 9, TextOf("author")), SetCell(1, 8, I64Of(-3)), SetCell(2, 9, F32Of(0.5F)),
          SetCell(3, 9, BoolOf(true)), UnsetCell(4, 7), SetCell(63, 9, I64Of((1 << 30) - 1)),
          SetCell(64, 9, I64Of(1 << 30)), SetCell(500, 5, I64Of(INT64_MIN)),
          SetCell(1023, 9, {.type = ItemFieldType::kI64List, .number = 0, .bytes = {}})});
  state.floor = 5;
  state.expires_version = 6;
  state.expires_ms = kNoonMs;
  state.time_ms = kNoonMs;
  state.lost = true;
  return state;
}

TEST(ItemRecord, IsReadAsItWasWrittenWithTextsInItOrBesideIt) {
  for (const bool beside : {false, true}) {
    for (const IdRef& id : {IdRef("v1"), IdRef(uint64_t{42})}) {
      SomeTexts texts(beside);
      const State state = ManyFields();
      const std::string bytes = RecordOf(id, state, &texts);
      EXPECT_TRUE(Record::Check(bytes, SomeTypes(), 1));
      EXPECT_EQ(bytes.size() <= RecordSize(id, state), true);
      if (!beside) {
        EXPECT_EQ(bytes.size(), RecordSize(id, state));
      }
      const Record record(BytesOf(bytes));
      EXPECT_EQ(record.size(), bytes.size());
      EXPECT_TRUE(record.HasId(id));
      EXPECT_FALSE(record.HasId(IdRef("v2")));
      EXPECT_EQ(record.Id(), id);
      EXPECT_EQ(record.expires_ms(), kNoonMs);
      EXPECT_TRUE(record.exists());
      State read;
      ASSERT_TRUE(record.ToState(SomeTypes(), texts, &read));
      EXPECT_EQ(read, state);
    }
  }
}

TEST(ItemRecord, FindsEachFieldByItsNumber) {
  SomeTexts texts(true);
  const State state = ManyFields();
  const std::string bytes = RecordOf(IdRef("v1"), state, &texts);
  const Record record(BytesOf(bytes));
  std::map<uint16_t, Value> set;
  for (const Cell& cell : state.cells) {
    if (!cell.unset) set[cell.field] = cell.value;
  }
  for (uint16_t field = 0; field < kMaxItemFields; ++field) {
    const uint32_t slot = record.SlotOf(field);
    ASSERT_EQ(slot != 0, set.contains(field)) << field;
    if (slot != 0) {
      EXPECT_EQ(record.At(slot, SomeTypes()[field], texts), set[field]) << field;
    }
  }
}

TEST(ItemRecord, IsRefusedWhenCutOrFlipped) {
  SomeTexts texts(true);
  const std::string bytes = RecordOf(IdRef("v1"), ManyFields(), &texts);
  const auto check = [](std::string_view each) { return Record::Check(each, SomeTypes(), 1); };
  test::ExpectCutsRefused(bytes, check);
  test::ExpectFlipsRefused(bytes, check);
  EXPECT_FALSE(Record::Check(bytes, SomeTypes(), 0));  // a text that is not there
  Types others = SomeTypes();
  others[0] = ItemFieldType::kI64List;
  EXPECT_FALSE(Record::Check(bytes, others, 1));
}

TEST(ItemRecord, IsAtMost64KB) {
  SomeTexts inside(false);
  std::string text(kMaxItemBytes, 'x'), record;
  const auto fits = [&](size_t size) {
    const State state =
        UpdateOf(1, {SetCell(0, 1, TextOf(std::string_view(text).substr(0, size)))});
    record.clear();
    const bool made = EncodeRecord(IdRef("v1"), state, &inside, &record);
    EXPECT_EQ(made, RecordSize(IdRef("v1"), state) <= kMaxItemBytes);
    return made;
  };
  const size_t head = Record::kHeader + 8 + 4 + 3 + 3;  // a word, a slot, the id, the text's length
  EXPECT_TRUE(fits(kMaxItemBytes - head));
  EXPECT_EQ(record.size(), kMaxItemBytes);
  EXPECT_TRUE(Record::Check(record, SomeTypes(), 0));
  EXPECT_FALSE(fits(kMaxItemBytes - head + 1));
  EXPECT_TRUE(record.empty());
}

TEST(ItemRecord, RandomStatesComeBack) {
  std::mt19937_64 random(test::Seed());
  Types types = {};
  for (ItemFieldType& type : types) type = static_cast<ItemFieldType>(1 + random() % 4);
  for (int round = 0; round < 2'000; ++round) {
    State state;
    state.seen = 1 + random() % 1000;
    const std::string text(random() % 20, 'x');
    const uint64_t step = 1 + random() % 300;
    for (uint64_t field = random() % step; field < kMaxItemFields; field += 1 + random() % step) {
      const auto number = static_cast<uint16_t>(field);
      const uint64_t version = random() % 2 == 0 ? state.seen : 1 + random() % state.seen;
      Value value{.type = types[field], .number = 0, .bytes = {}};
      if (value.type == ItemFieldType::kText) value.bytes = text;
      if (value.type == ItemFieldType::kI64)
        value = I64Of(static_cast<int64_t>(random()) >> random() % 64);
      if (value.type == ItemFieldType::kF32) value = F32Of(static_cast<float>(random()));
      state.cells.push_back(random() % 5 == 0 ? UnsetCell(number, version)
                                              : SetCell(number, version, value));
    }
    SomeTexts texts(round % 2 == 0);
    const std::string bytes = RecordOf(IdRef("v1"), state, &texts);
    ASSERT_TRUE(Record::Check(bytes, types, 1));
    State read;
    ASSERT_TRUE(Record(BytesOf(bytes)).ToState(types, texts, &read));
    ASSERT_EQ(read, state);
  }
}

TEST(ItemRecord, GoldenBytes) {
  SomeTexts inside(false), beside(true);
  const State state = ExampleItem();
  const std::string with = RecordOf(IdRef("v1"), state, &inside);
  EXPECT_EQ(test::ToHex(with),
            test::ToHex(GoldenBytesOf("item_record", "the item in memory, its text in it", with)));
  const std::string without = RecordOf(IdRef("v1"), state, &beside);
  EXPECT_EQ(test::ToHex(without),
            test::ToHex(GoldenBytesOf("item_record_shared",
                                      "the item in memory, its text under number 0", without)));
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
