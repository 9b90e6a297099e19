// items/word_test.h: a condition on a field that has a column, made ready for the field's words.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "items/column_rows.h"
#include "items/condition.h"
#include "items/dictionary.h"

namespace seendb::items {

/// See the head of this file. Good for as long as the guard lasts under which it was made: it has
/// the dictionary's numbers.
class WordTest {
 public:
  /// Nothing: words don't tell, as of texts that are compared by their order.
  static std::optional<WordTest> Make(const Condition& condition, const Dictionary& dictionary);

  /// `word`: of an item that has the field.
  bool IsMet(uint64_t word) const {
    return (among_.empty() ? word >= low_ && word <= high_ : IsAmong(word)) != negated_;
  }
  bool met_by_absence() const { return met_by_absence_; }

 private:
  bool IsAmong(uint64_t word) const;

  uint64_t low_ = 1, high_ = 0;  // a range; none as it stands here
  std::vector<uint64_t> among_;  // or these words, ascending
  bool negated_ = false, met_by_absence_ = false;
};

}  // namespace seendb::items
