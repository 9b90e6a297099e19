// items/condition.h: one comparison of an item's field with values, made ready for many items.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "items/value.h"
#include "seendb/item_judge.h"

namespace seendb::items {

/// A value of a field, or an entry of a list, in one order for all types: numbers by the first,
/// texts and entries by the second.
using Comparable = std::pair<uint64_t, std::string_view>;

/// The value that an item has. -0 is 0.
Comparable ComparableOf(const ItemValueView& value);

/// See the head of this file.
class Condition {
 public:
  /// A value as a Comparable that owns its bytes.
  using Kept = std::pair<uint64_t, std::string>;

  /// The field has this type, and is the `position`th of those that a judge reads.
  /// kInvalidArgument, with the place below the entry ("/ge", "/in/3").
  static Result<Condition> Make(const ItemCondition& asked, ItemFieldType type, size_t position);

  size_t entry() const { return entry_; }
  size_t position() const { return position_; }
  ItemFieldType type() const { return type_; }
  ItemOperator op() const { return op_; }
  /// Ascending.
  const std::vector<Kept>& values() const { return values_; }
  /// Whether an item with this value, or without the field, meets it.
  bool IsMet(const ItemView& item) const;

 private:
  bool Has(const Comparable& value) const;

  size_t entry_ = 0, position_ = 0;
  ItemFieldType type_ = ItemFieldType::kBool;
  ItemOperator op_ = ItemOperator::kEq;
  std::vector<Kept> values_;  // ascending
};

}  // namespace seendb::items
