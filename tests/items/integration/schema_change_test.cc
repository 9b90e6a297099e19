// Fields that come and go while the store has items, and the columns.

#include "items/item_testing.h"
#include "items/memory_items.h"
#include "items/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ItemSchemaChange = StoreTest;

TEST_F(ItemSchemaChange, ARemovedFieldIsGoneAndItsNameMayComeBackAsAnother) {
  OpenWithSchema();
  Apply({SetFields("v1", 7, {{"author", std::string("a3")}, {"public", true}})});
  auto without = SomeFields();
  without.erase(without.begin());
  ASSERT_TRUE(store_->PutSchema(without).ok());
  EXPECT_EQ(Get("v1").fields, (std::vector<ItemFieldValue>{{"public", true}}));
  EXPECT_EQ(store_->Stats().dictionary_texts, 0u);
  auto with = without;
  with.push_back({"author", ItemFieldType::kI64, false});
  ASSERT_TRUE(store_->PutSchema(with).ok());
  for (const bool again : {false, true}) {
    if (again) Open();
    EXPECT_EQ(store_->Fields(), with);
    EXPECT_EQ(Get("v1").fields, (std::vector<ItemFieldValue>{{"public", true}}));
  }
  Apply({SetFields("v1", 7, {{"author", int64_t{5}}})});
  EXPECT_EQ(Get("v1", {"author"}).fields.at(0).value, ItemValue(int64_t{5}));
}

TEST_F(ItemSchemaChange, ARefusedSchemaChangesNothing) {
  OpenWithSchema();
  auto wrong = SomeFields();
  wrong[2].type = ItemFieldType::kText;
  EXPECT_EQ(store_->PutSchema(wrong).field(), "/2/type");
  EXPECT_EQ(store_->Fields(), SomeFields());
}

namespace columns {

using items::MemoryItems;
using items::SetCell;
using items::UpdateOf;

items::Schema SchemaWith(bool columns) {
  return items::Schema()
      .With({{"text", ItemFieldType::kText, columns},
             {"number", ItemFieldType::kI64, columns},
             {"real", ItemFieldType::kF32, columns},
             {"flag", ItemFieldType::kBool, columns}})
      .value();
}

uint64_t WordOf(const MemoryItems& memory, uint16_t field, uint32_t number) {
  const items::ColumnRows& rows = *memory.layout().rows;
  EXPECT_TRUE(rows.ready());
  return items::ColumnRows::WordOf(rows.Find(number), *rows.PlaceOf(field));
}

void ExpectColumns(const MemoryItems& memory, const char* id, std::string_view text, int64_t number,
                   bool flag) {
  const items::Epochs::Guard guard(memory.epochs());
  const items::Found found = memory.Find(IdRef(id));
  ASSERT_NE(found.number, 0u);
  EXPECT_EQ(WordOf(memory, 0, found.number), uint64_t{memory.dictionary().Find(text).value()} + 1);
  EXPECT_EQ(WordOf(memory, 1, found.number), items::OrderedNumber(number));
  EXPECT_EQ(WordOf(memory, 2, found.number), 0u);
  EXPECT_EQ(WordOf(memory, 3, found.number), flag ? 2u : 1u);
}

TEST(ItemColumns, HoldWhatTheRecordsSayAlsoWhereTheyCameLater) {
  for (const bool later : {false, true}) {
    SCOPED_TRACE(later);
    MemoryItems memory(SchemaWith(!later));
    for (int i = 0; i < 10'000; ++i) {  // titles that do not repeat: they stay in the records
      const std::string text = "title " + std::to_string(i), id = "v" + std::to_string(i);
      memory.Publish(IdRef(id), UpdateOf(1, {SetCell(0, 1, items::TextOf(text)),
                                             SetCell(1, 1, items::I64Of(-i)),
                                             SetCell(3, 1, items::BoolOf(i % 2 == 0))}));
    }
    EXPECT_EQ(memory.dictionary().size(), later ? 4095u : 10'000u);
    if (later)
      memory.PutSchema(items::Schema(memory.layout().schema)
                           .With({{"text", ItemFieldType::kText, true},
                                  {"number", ItemFieldType::kI64, true},
                                  {"real", ItemFieldType::kF32, true},
                                  {"flag", ItemFieldType::kBool, true}})
                           .value());
    EXPECT_EQ(memory.dictionary().size(), 10'000u);
    ExpectColumns(memory, "v9999", "title 9999", -9999, false);
    ExpectColumns(memory, "v0", "title 0", 0, true);
    memory.Publish(IdRef("v0"), UpdateOf(2, {SetCell(0, 2, items::TextOf("title 1")),
                                             SetCell(1, 2, items::I64Of(5)),
                                             SetCell(3, 2, items::BoolOf(false))}));
    ExpectColumns(memory, "v0", "title 1", 5, false);
    EXPECT_EQ(memory.existing(), 10'000u);
  }
}

TEST(ItemColumns, AnErasedItemsNumberIsGivenAgainWithoutItsValues) {
  MemoryItems memory(SchemaWith(true));
  memory.Publish(IdRef("v1"), UpdateOf(1, {SetCell(1, 1, items::I64Of(5))}));
  const uint32_t number = memory.Find(IdRef("v1")).number;
  memory.Erase(memory.Find(IdRef("v1")));
  memory.epochs().Collect();
  EXPECT_EQ(memory.Find(IdRef("v1")).number, 0u);
  EXPECT_EQ(memory.records(), 0u);
  memory.Publish(IdRef("v2"), UpdateOf(1, {}));
  EXPECT_EQ(memory.Find(IdRef("v2")).number, number);
  EXPECT_EQ(WordOf(memory, 1, number), 0u);
}

TEST(ItemMemory, FindsManyAsItFindsOne) {
  MemoryItems memory(SchemaWith(false));
  std::vector<std::string> names;
  for (int i = 0; i < 2'000; ++i) names.push_back("v" + std::to_string(i));
  for (int i = 0; i < 1'000; ++i)
    memory.Publish(IdRef(names[static_cast<size_t>(i)]), UpdateOf(1, {}));
  std::vector<IdRef> ids;
  for (const std::string& name : names) ids.emplace_back(name);
  std::vector<items::Found> found(ids.size());
  memory.FindMany(ids, found.data());
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(found[i].number, memory.Find(ids[i]).number);
    ASSERT_EQ(found[i].record != nullptr, i < 1'000);
  }
}

// Sixty thousand items, each replaced ten times by a record of another size.
TEST(ItemMemory, KeepsResidentOverLiveBelowAFifthAfterTenTurnovers) {
  MemoryItems memory(SchemaWith(false));
  uint64_t seed = 1;
  const auto random = [&] {
    return seed = seed * 6364136223846793005U + 1442695040888963407U, seed >> 33;
  };
  for (uint64_t version = 1; version <= 10; ++version) {
    for (int i = 0; i < 60'000; ++i) {
      const std::string id = "v" + std::to_string(i);
      const std::string text = std::string(random() % 200, 'x') + std::to_string(random());
      memory.Publish(IdRef(id), UpdateOf(version, {SetCell(0, version, items::TextOf(text))}));
    }
  }
  memory.epochs().Collect();
  EXPECT_LE(static_cast<double>(memory.reserved_bytes()),
            1.2 * static_cast<double>(memory.used_bytes()));
}

}  // namespace columns
}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
