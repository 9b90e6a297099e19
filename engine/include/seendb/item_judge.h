// seendb/item_judge.h: drops candidates of a filter request by what a store of items knows of them.
// Library: seendb::items.
//
//   seendb::ItemRules rules;
//   rules.where = {{.entry = 0, .field = "state", .op = ItemOperator::kEq, .values = {"public"s}}};
//   rules.at_most = {.field = "author", .n = 2};
//   auto judge = seendb::ItemJudge::Make(*store, rules).value();
//   request.judge = judge.get();
//
// All conditions must hold. A field that an item does not have satisfies kNe, and kExists with
// false, alone. Items that the store does not know are returned, unless `drop_unknown`.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "seendb/item_store.h"
#include "seendb/judge.h"
#include "seendb/status.h"

namespace seendb {

/// Most entries of `where`.
inline constexpr size_t kMaxItemWhere = 16;
/// Most values of one condition.
inline constexpr size_t kMaxItemWhereValues = 1'000;

/// How a field is compared with a condition's values.
enum class ItemOperator : uint8_t {
  kEq,      ///< is the value; no lists
  kNe,      ///< is not the value, or is absent; no lists
  kIn,      ///< is one of the values; no lists
  kGe,      ///< is at least the value: numbers, and texts by their bytes
  kLe,      ///< is at most the value
  kAnyOf,   ///< a list has one of the values
  kExists,  ///< is there (true), or is not (false)
};
/// The name as requests have it: "eq", "ne", "in", "ge", "le", "any_of", "exists".
constexpr std::string_view ItemOperatorName(ItemOperator op) {
  constexpr std::string_view kNames[] = {"eq", "ne", "in", "ge", "le", "any_of", "exists"};
  return kNames[static_cast<size_t>(op)];
}

/// A value to compare with: bool, whole number, number, text. A whole number fits a field of f32,
/// too.
using ItemLiteral = std::variant<bool, int64_t, double, std::string>;

/// One comparison.
struct ItemCondition {
  size_t entry = 0;        ///< its place in `where`, below kMaxItemWhere: several may share one
  std::string field = {};  ///< of the schema
  ItemOperator op = ItemOperator::kEq;
  std::vector<ItemLiteral> values = {};  ///< one; of kIn and kAnyOf up to kMaxItemWhereValues
};

/// How many unseen items are returned that have one value of a field. Items without the field are
/// not counted.
struct ItemAtMost {
  std::string field = {};  ///< no list; empty: there is no such rule
  uint32_t n = 0;          ///< at least 1
};

/// The rules that a request has for its candidates.
struct ItemRules {
  std::vector<ItemCondition> where = {};  ///< ascending by entry
  ItemAtMost at_most = {};
  bool drop_unknown = false;  ///< items that the store does not know are dropped
};

/// Judgement::dropped_by of an item that fails an entry of `where` is 1 + the first such entry; of
/// one that the store does not know it is this.
inline constexpr uint16_t kItemUnknownRule = kMaxItemWhere + 1;

/// See the head of this file. Its status() is kUnavailable if the store lost a field of the rules
/// meanwhile, kClosed if it was closed. Cost per candidate: one look-up in the store, prefetched in
/// batches, and one comparison per condition; no allocation but for new values of at_most's field.
class ItemJudge : public CandidateJudge {
 public:
  /// A judge for one request; `store` is borrowed. kInvalidArgument, naming the place
  /// ("/where/1/ge", "/at_most/field"): an unknown field, a value or an operator that does not fit
  /// the field's type.
  static Result<std::unique_ptr<ItemJudge>> Make(const ItemStore& store, const ItemRules& rules);
};

}  // namespace seendb
