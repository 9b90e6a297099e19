#include "items/word_test.h"

#include <algorithm>
#include <limits>

namespace seendb::items {
namespace {

constexpr uint64_t kNoWord = std::numeric_limits<uint64_t>::max();

/// The words of a value; -0 has another word than 0, and is the same number.
struct Words {
  uint64_t low, high;
};

Words WordsOf(const Condition::Kept& value, ItemFieldType type, const Dictionary& dictionary) {
  switch (type) {
    case ItemFieldType::kBool:
      return {value.first + 1, value.first + 1};
    case ItemFieldType::kF32:
      if (value.first == OrderedReal(0.0F)) return {OrderedReal(-0.0F), value.first};
      return {value.first, value.first};
    case ItemFieldType::kText: {
      const auto number = dictionary.Find(value.second);
      const uint64_t word = number ? ColumnRows::WordOfText(*number) : kNoWord;
      return {word, word};
    }
    default:
      return {value.first, value.first};
  }
}

}  // namespace

std::optional<WordTest> WordTest::Make(const Condition& condition, const Dictionary& dictionary) {
  WordTest made;
  if (condition.op() == seendb::ItemOperator::kExists) {
    made.low_ = 0;
    made.high_ = kNoWord;
    made.negated_ = made.met_by_absence_ = condition.values().front().first == 0;
    return made;
  }
  if (condition.op() == seendb::ItemOperator::kIn) {
    for (const Condition::Kept& value : condition.values()) {
      const Words words = WordsOf(value, condition.type(), dictionary);
      made.among_.push_back(words.low);
      if (words.high != words.low) made.among_.push_back(words.high);
    }
    std::sort(made.among_.begin(), made.among_.end());
    return made;
  }
  const bool orders =
      condition.op() == seendb::ItemOperator::kGe || condition.op() == seendb::ItemOperator::kLe;
  if (orders && condition.type() == ItemFieldType::kText) return {};
  const Words words = WordsOf(condition.values().front(), condition.type(), dictionary);
  made.low_ = condition.op() == seendb::ItemOperator::kLe ? 0 : words.low;
  made.high_ = condition.op() == seendb::ItemOperator::kGe ? kNoWord : words.high;
  made.negated_ = made.met_by_absence_ = condition.op() == seendb::ItemOperator::kNe;
  return made;
}

bool WordTest::IsAmong(uint64_t word) const {
  return std::binary_search(among_.begin(), among_.end(), word);
}

}  // namespace seendb::items
