#include "items/condition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace seendb::items {
namespace {

bool IsList(ItemFieldType type) {
  return type == ItemFieldType::kI64List || type == ItemFieldType::kTextList;
}

uint64_t OrderOfReal(float value) { return OrderedReal(value == 0 ? 0.0F : value); }

/// A number that a float can hold.
std::optional<float> RealOfLiteral(const ItemLiteral& literal) {
  const auto* const whole = std::get_if<int64_t>(&literal);
  const auto* const real = std::get_if<double>(&literal);
  if (whole == nullptr && real == nullptr) return {};
  const double value = whole != nullptr ? static_cast<double>(*whole) : *real;
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) return {};
  return static_cast<float>(value);
}

/// The literal as values of the type compare: those of a list as its entries do.
Result<std::pair<uint64_t, std::string>> ComparedAs(const ItemLiteral& literal,
                                                    ItemFieldType type) {
  std::pair<uint64_t, std::string> made;
  switch (type) {
    case ItemFieldType::kBool:
      if (const auto* const flag = std::get_if<bool>(&literal)) {
        made.first = *flag ? 1 : 0;
        return made;
      }
      return Status::InvalidArgument("must be true or false: the field is a bool");
    case ItemFieldType::kI64:
    case ItemFieldType::kI64List:
      if (const auto* const number = std::get_if<int64_t>(&literal)) {
        if (type == ItemFieldType::kI64) made.first = OrderedNumber(*number);
        if (type == ItemFieldType::kI64List) made.second = EntryOf(*number);
        return made;
      }
      return Status::InvalidArgument("must be a whole number of 64 bits: the field is an i64");
    case ItemFieldType::kF32:
      if (const auto real = RealOfLiteral(literal)) {
        made.first = OrderOfReal(*real);
        return made;
      }
      return Status::InvalidArgument(
          "must be a number that a float of 32 bits can hold: the field is an f32");
    case ItemFieldType::kText:
    case ItemFieldType::kTextList:
      break;
  }
  if (const auto* const text = std::get_if<std::string>(&literal)) {
    made.second = *text;
    return made;
  }
  return Status::InvalidArgument("must be a text: the field is a text");
}

/// Whether fields of the type are compared so.
Status CheckOperator(ItemOperator op, ItemFieldType type) {
  const std::string name(ItemOperatorName(op));
  if (op == ItemOperator::kExists) return {};
  if (IsList(type) && op != ItemOperator::kAnyOf) {
    return Status::InvalidArgument("a list takes any_of and exists, not " + name);
  }
  if (!IsList(type) && op == ItemOperator::kAnyOf) {
    return Status::InvalidArgument("any_of is of lists; the field is one value: use in");
  }
  const bool orders = op == ItemOperator::kGe || op == ItemOperator::kLe;
  if (orders && type == ItemFieldType::kBool) {
    return Status::InvalidArgument("a bool has no order: use eq, not " + name);
  }
  return {};
}

}  // namespace

Comparable ComparableOf(const ItemValueView& value) {
  switch (value.type) {
    case ItemFieldType::kBool:
      return {value.number != 0 ? uint64_t{1} : uint64_t{0}, {}};
    case ItemFieldType::kI64:
      return {OrderedNumber(value.number), {}};
    case ItemFieldType::kF32:
      return {OrderOfReal(value.real), {}};
    default:
      return {0, value.bytes};
  }
}

Result<Condition> Condition::Make(const ItemCondition& asked, ItemFieldType type, size_t position) {
  const std::string place = "/" + std::string(ItemOperatorName(asked.op));
  const auto refuse = [](const Status& status, const std::string& at) {
    return status.WithFieldPrefix(at);
  };
  if (Status fits = CheckOperator(asked.op, type); !fits.ok()) return refuse(fits, place);
  const bool many = asked.op == ItemOperator::kIn || asked.op == ItemOperator::kAnyOf;
  if (many ? asked.values.size() > kMaxItemWhereValues : asked.values.size() != 1) {
    return refuse(Status::InvalidArgument(many ? "more than 1000 values" : "takes one value"),
                  place);
  }
  Condition made;
  made.entry_ = asked.entry;
  made.position_ = position;
  made.type_ = type;
  made.op_ = asked.op;
  const bool exists = asked.op == ItemOperator::kExists;
  for (size_t i = 0; i < asked.values.size(); ++i) {
    auto value = ComparedAs(asked.values[i], exists ? ItemFieldType::kBool : type);
    if (!value.ok() && exists) {
      return refuse(Status::InvalidArgument("must be true or false"), place);
    }
    if (!value.ok()) {
      return refuse(value.status(), many ? place + "/" + std::to_string(i) : place);
    }
    made.values_.push_back(std::move(value).value());
  }
  std::sort(made.values_.begin(), made.values_.end());
  return made;
}

bool Condition::Has(const Comparable& value) const {
  const auto found = std::lower_bound(
      values_.begin(), values_.end(), value,
      [](const Kept& kept, const Comparable& one) { return Comparable(kept) < one; });
  return found != values_.end() && Comparable(*found) == value;
}

bool Condition::IsMet(const ItemView& item) const {
  const std::optional<ItemValueView> value = item.Field(position_);
  if (!value || value->type != type_) {  // the schema may have changed meanwhile
    return op_ == ItemOperator::kNe || (op_ == ItemOperator::kExists && values_.front().first == 0);
  }
  switch (op_) {
    case ItemOperator::kEq:
      return Comparable(values_.front()) == ComparableOf(*value);
    case ItemOperator::kNe:
      return Comparable(values_.front()) != ComparableOf(*value);
    case ItemOperator::kIn:
      return Has(ComparableOf(*value));
    case ItemOperator::kGe:
      return ComparableOf(*value) >= Comparable(values_.front());
    case ItemOperator::kLe:
      return ComparableOf(*value) <= Comparable(values_.front());
    case ItemOperator::kExists:
      return values_.front().first != 0;
    case ItemOperator::kAnyOf:
      break;
  }
  return AnyEntry(type_, value->bytes, [this](std::string_view entry) { return Has({0, entry}); });
}

}  // namespace seendb::items
