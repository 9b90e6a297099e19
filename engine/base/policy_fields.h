// base/policy_fields.h: one row for each field of a policy. Validation, patches, the check of what
// is fixed, and JSON loop over the rows; a new field is a member of Policy, one of PolicyPatch and
// a row in policy_fields.cc.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json_fwd.hpp>

#include "seendb/policy.h"

namespace seendb {

/// A scalar of JSON, for the kind of a field.
using FieldValue = std::variant<bool, uint64_t, double, std::string_view>;

/// What a field is called, which values it takes, and how it is reached.
struct PolicyField {
  /// The JSON type of its values. A fraction may be written as a whole number.
  enum class Kind : uint8_t { kBoolean, kWhole, kFraction, kText, kObject, kArray };

  std::string_view name;  ///< "window"; "history/days" is `days` of the object `history`
  Kind kind;
  /// It can't change while the collection holds a play, an impression or history.
  bool fixed;
  bool omitted_default;   ///< PolicyToJson leaves it out where its whole object is at the default
  std::string (*rule)();  ///< "must be from 1 to 128"
  bool (*valid)(const Policy&);                        ///< whether the value follows the rule
  bool (*is_default)(const Policy&);                   ///< whether the value is that of Policy()
  bool (*changes)(const PolicyPatch&, const Policy&);  ///< whether the patch has another value
  void (*apply)(const PolicyPatch&, Policy*);          ///< takes the patch's value, if it has one
  nlohmann::ordered_json (*write)(const Policy&);      ///< the value as JSON
  bool (*read)(const FieldValue&, PolicyPatch*);  ///< false: the value does not follow the rule
  /// Null but for kObject and kArray, which `read` never takes: what is wrong, and where in it.
  Status (*read_parts)(const nlohmann::ordered_json&, PolicyPatch*) = nullptr;
  Status (*check_parts)(const Policy&) = nullptr;

  /// kInvalidArgument, naming the field, or its part, that `why` is about.
  Status Refusal(const Status& why) const;
};

/// All fields, in the order of PolicyToJson. The fields of an object follow each other.
std::span<const PolicyField> PolicyFields();

}  // namespace seendb
