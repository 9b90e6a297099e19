#include "wire/item_rules_json.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace seendb::wire {
namespace {

/// The field, and the operators in their order.
constexpr std::array<std::string_view, 8> kWhereMembers = {"field",
                                                           ItemOperatorName(ItemOperator::kEq),
                                                           ItemOperatorName(ItemOperator::kNe),
                                                           ItemOperatorName(ItemOperator::kIn),
                                                           ItemOperatorName(ItemOperator::kGe),
                                                           ItemOperatorName(ItemOperator::kLe),
                                                           ItemOperatorName(ItemOperator::kAnyOf),
                                                           ItemOperatorName(ItemOperator::kExists)};
constexpr size_t kWhereFieldMember = 0;

constexpr std::array<std::string_view, 2> kAtMostMembers = {"field", "n"};
enum AtMostMember : size_t { kAtMostFieldMember, kAtMostNMember };

Status NoLiteral() { return Status::InvalidArgument("must be true, false, a number or a text"); }

Status ReadNumberLiteral(ondemand::value value, ItemLiteral* literal) {
  if (!value.get_int64().get(literal->emplace<int64_t>())) return Status::Ok();
  const auto error = value.get_double().get(literal->emplace<double>());
  if (!error) return Status::Ok();
  return error == simdjson::NUMBER_ERROR ? Status::InvalidArgument("must be a number")
                                         : Malformed(error);
}

Status ReadLiteral(ondemand::value value, ItemLiteral* literal) {
  switch (*value.raw_json_token().data()) {
    case '"': {
      std::string_view text;
      Status status = ReadText(value, &text);
      literal->emplace<std::string>(text);
      return status;
    }
    case 't':
    case 'f':
      return ReadBool(value, &literal->emplace<bool>());
    case '{':
    case '[':
    case 'n':
      return NoLiteral();
    default:
      return ReadNumberLiteral(value, literal);
  }
}

Status ReadCondition(ondemand::value value, ItemCondition* condition) {
  if (condition->op != ItemOperator::kIn && condition->op != ItemOperator::kAnyOf) {
    return ReadLiteral(value, &condition->values.emplace_back());
  }
  return ReadElements(value, kMaxItemWhereValues, "values", [&](size_t, ondemand::value one) {
    return ReadLiteral(one, &condition->values.emplace_back());
  });
}

Status ReadItemField(ondemand::value value, std::string* field) {
  std::string_view name;
  Status status = ReadText(value, &name);
  *field = name;
  if (status.ok() && field->empty()) return Status::InvalidArgument("must not be empty");
  return status;
}

Status ReadWhereEntry(ondemand::object object, size_t entry, std::vector<ItemCondition>* where) {
  const size_t first = where->size();
  std::string field;
  FieldSet members(kWhereMembers);
  Status status = ReadFields(object, &members, [&](size_t member, ondemand::value value) {
    if (member == kWhereFieldMember) return ReadItemField(value, &field);
    ItemCondition& condition = where->emplace_back();
    condition.entry = entry;
    condition.op = static_cast<ItemOperator>(member - 1);
    return ReadCondition(value, &condition);
  });
  if (status.ok()) status = members.Require(kWhereFieldMember);
  if (!status.ok()) return status;
  if (where->size() == first) {
    return Status::InvalidArgument("compares nothing: eq, ne, in, ge, le, any_of or exists");
  }
  for (size_t i = first; i < where->size(); ++i) (*where)[i].field = field;
  return status;
}

}  // namespace

Status ReadWhere(ondemand::value value, std::vector<ItemCondition>* where) {
  size_t entry = 0;
  return ReadObjects(value, kMaxItemWhere, "entries", [&](ondemand::object object) {
    return ReadWhereEntry(object, entry++, where);
  });
}

Status ReadAtMost(ondemand::value value, ItemAtMost* at_most) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) {
    return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                             : Malformed(error);
  }
  FieldSet members(kAtMostMembers);
  Status status = ReadFields(object, &members, [&](size_t member, ondemand::value one) {
    if (member == kAtMostFieldMember) return ReadItemField(one, &at_most->field);
    uint64_t n = 0;
    Status read = ReadUint(one, &n);
    if (read.ok() && n == 0) return Status::InvalidArgument("must be at least 1");
    at_most->n = static_cast<uint32_t>(std::min<uint64_t>(n, UINT32_MAX));
    return read;
  });
  if (status.ok()) status = members.Require(kAtMostFieldMember);
  return status.ok() ? members.Require(kAtMostNMember) : status;
}

Status ReadUnknown(ondemand::value value, bool* drop) {
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  if (text != "keep" && text != "drop") {
    return Status::InvalidArgument("must be \"keep\" or \"drop\"");
  }
  *drop = text == "drop";
  return Status::Ok();
}

Status ReadItemNames(ondemand::value value, std::vector<std::string>* names) {
  return ReadElements(value, kMaxItemFields, "fields", [&](size_t, ondemand::value one) {
    std::string_view name;
    Status status = ReadText(one, &name);
    names->emplace_back(name);
    return status;
  });
}

}  // namespace seendb::wire
