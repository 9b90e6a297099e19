// Conditions on words of columns: each gives the verdict that the values give.

#include "items/word_test.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "items/arena.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

class OneValue final : public ItemView {
 public:
  explicit OneValue(std::optional<ItemValueView> value) : value_(value) {}
  uint64_t version() const override { return 1; }
  std::optional<ItemValueView> Field(size_t) const override { return value_; }

 private:
  const std::optional<ItemValueView> value_;
};

class WordTestTest : public ::testing::Test {
 protected:
  uint64_t WordOf(const ItemValueView& view) {
    if (view.type == ItemFieldType::kBool) return static_cast<uint64_t>(view.number) + 1;
    if (view.type == ItemFieldType::kI64) return OrderedNumber(view.number);
    if (view.type == ItemFieldType::kF32) return OrderedReal(view.real);
    return ColumnRows::WordOfText(*dictionary_.Use(0, view.bytes, Sharing::kAlways));
  }

  /// Every value, and none, against every operator with every literal.
  void ExpectAgreement(ItemFieldType type, const std::vector<ItemValueView>& values,
                       const std::vector<ItemLiteral>& literals) {
    size_t compared = 0;
    for (const ItemOperator op : {ItemOperator::kEq, ItemOperator::kNe, ItemOperator::kIn,
                                  ItemOperator::kGe, ItemOperator::kLe}) {
      for (const ItemLiteral& literal : literals) {
        const auto condition =
            Condition::Make({.entry = 0, .field = "f", .op = op, .values = {literal}}, type, 0);
        if (!condition.ok()) continue;  // a bool has no order
        const auto words = WordTest::Make(*condition, dictionary_);
        const bool orders = op == ItemOperator::kGe || op == ItemOperator::kLe;
        ASSERT_EQ(words.has_value(), type != ItemFieldType::kText || !orders);
        if (!words) continue;
        EXPECT_EQ(words->met_by_absence(), condition->IsMet(OneValue({})));
        for (const ItemValueView& value : values) {
          const uint64_t word = WordOf(value);
          if (word == 0) continue;  // the record tells
          EXPECT_EQ(words->IsMet(word), condition->IsMet(OneValue(value)))
              << ItemOperatorName(op) << " word " << word;
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, values.size());
  }

  Arena arena_;
  Epochs epochs_;
  Dictionary dictionary_{&arena_, &epochs_};
};

ItemValueView Whole(ItemFieldType type, int64_t number) {
  ItemValueView view;
  view.type = type;
  view.number = number;
  return view;
}

TEST_F(WordTestTest, WholeNumbersAndBools) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t most = std::numeric_limits<int64_t>::max();
  std::vector<ItemValueView> values;
  std::vector<ItemLiteral> literals;
  for (const int64_t number : {least, least + 1, int64_t{-1}, int64_t{0}, int64_t{1}, most}) {
    values.push_back(Whole(ItemFieldType::kI64, number));
    literals.emplace_back(number);
  }
  ExpectAgreement(ItemFieldType::kI64, values, literals);
  ExpectAgreement(ItemFieldType::kBool,
                  {Whole(ItemFieldType::kBool, 0), Whole(ItemFieldType::kBool, 1)}, {false, true});
}

TEST_F(WordTestTest, RealsWhoseZerosHaveTwoWords) {
  std::vector<ItemValueView> values;
  std::vector<ItemLiteral> literals;
  for (const float real : {-std::numeric_limits<float>::max(), -0.1F, -0.0F, 0.0F,
                           std::numeric_limits<float>::denorm_min(), 3.0F}) {
    ItemValueView view;
    view.type = ItemFieldType::kF32;
    view.real = real;
    values.push_back(view);
    literals.emplace_back(static_cast<double>(real));
  }
  ExpectAgreement(ItemFieldType::kF32, values, literals);
}

TEST_F(WordTestTest, TextsOfWhichTheDictionaryHasSome) {
  std::vector<ItemValueView> values;
  for (const char* const text : {"", "a", "b"}) {
    ItemValueView view;
    view.type = ItemFieldType::kText;
    view.bytes = text;
    WordOf(view);
    values.push_back(view);
  }
  ExpectAgreement(ItemFieldType::kText, values,
                  {std::string(), std::string("a"), std::string("nobody's")});
}

TEST_F(WordTestTest, ExistenceIsTheWord) {
  for (const bool there : {false, true}) {
    const auto condition =
        Condition::Make({.entry = 0, .field = "f", .op = ItemOperator::kExists, .values = {there}},
                        ItemFieldType::kF32, 0);
    const auto words = WordTest::Make(condition.value(), dictionary_);
    EXPECT_EQ(words->IsMet(7), there);
    EXPECT_EQ(words->met_by_absence(), !there);
  }
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
