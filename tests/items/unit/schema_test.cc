#include "items/schema.h"

#include <gtest/gtest.h>

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

ItemField Field(const std::string& name, ItemFieldType type = ItemFieldType::kI64,
                bool column = false) {
  return {name, type, column};
}

uint16_t NumberIn(const Schema& schema, std::string_view name) {
  return schema.fields().at(schema.Find(name).value()).number;
}

TEST(ItemSchema, NeverGivesANumberToAnotherField) {
  const Schema first = Schema().With({Field("a"), Field("b")}).value();
  const Schema second = first.With({Field("c"), Field("b")}).value();
  EXPECT_EQ(NumberIn(second, "b"), NumberIn(first, "b"));
  EXPECT_EQ(NumberIn(second, "c"), 2);
  EXPECT_FALSE(second.Find("a").has_value());
  EXPECT_FALSE(second.has(0));
  EXPECT_EQ(second.types()[0], ItemFieldType::kI64);  // records may still have it
  const Schema third = second.With({Field("a", ItemFieldType::kText)}).value();
  EXPECT_EQ(NumberIn(third, "a"), 3);
}

TEST(ItemSchema, IsReadAsItWasWritten) {
  const Schema schema =
      Schema()
          .With({Field("gone"), Field("a", ItemFieldType::kText, true)})
          .value()
          .With({Field("b", ItemFieldType::kTextList), Field("a", ItemFieldType::kText, true)})
          .value();
  const Result<Schema> read = Schema::FromJson(schema.ToJson());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->ToJson(), schema.ToJson());
  EXPECT_TRUE(read->was_put());
  EXPECT_TRUE(read->is_column(1));
  EXPECT_EQ(NumberIn(*read, "b"), 2);
  EXPECT_EQ(NumberIn(read->With({Field("c")}).value(), "c"), 3);
}

TEST(ItemSchema, RefusesByPosition) {
  const Schema schema = Schema().With({Field("a")}).value();
  const auto field_of = [&](const std::vector<ItemField>& fields) {
    return std::string(schema.With(fields).status().field());
  };
  EXPECT_EQ(field_of({Field("b"), Field("")}), "/1/name");
  EXPECT_EQ(field_of({Field("b"), Field("b")}), "/1/name");
  EXPECT_EQ(field_of({Field(std::string(256, 'x'))}), "/0/name");
  EXPECT_EQ(field_of({Field("a", ItemFieldType::kText)}), "/0/type");
  EXPECT_EQ(field_of({Field("b", static_cast<ItemFieldType>(9))}), "/0/type");
  EXPECT_EQ(field_of({Field("b", ItemFieldType::kI64List, true)}), "/0/column");
  std::vector<ItemField> many;
  for (size_t i = 0; i < kMaxItemFields; ++i) many.push_back(Field("f" + std::to_string(i)));
  EXPECT_EQ(field_of(many), "/1023/name");  // one number was used
  EXPECT_TRUE(Schema().With(many).ok());
  many.push_back(Field("more"));
  EXPECT_EQ(field_of(many), "/1024");
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
