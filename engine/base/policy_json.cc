// The policy as JSON. Reading is by SAX, so that a repeated field is seen as one.

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_pointer.h"
#include "base/policy_fields.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PolicyField::Kind;

/// "history" of "history/days"; "" of "window".
std::string_view ObjectOf(std::string_view field) {
  const size_t slash = field.find('/');
  return slash == std::string_view::npos ? std::string_view() : field.substr(0, slash);
}

/// "days" of "history/days"; "window" of "window".
std::string_view NameInObject(std::string_view field) { return field.substr(field.find('/') + 1); }

/// Whether PolicyToJson leaves the field out.
bool IsLeftOut(const PolicyField& field, const Policy& policy) {
  if (!field.omitted_default) return false;
  const std::string_view object = ObjectOf(field.name);
  if (object.empty()) return field.is_default(policy);
  const auto fields = PolicyFields();
  return std::all_of(fields.begin(), fields.end(), [&](const PolicyField& other) {
    return ObjectOf(other.name) != object || other.is_default(policy);
  });
}

/// Collects the value of a member that is a list.
class PartsReader {
 public:
  bool open() const { return !open_.empty(); }
  const Json& value() const { return value_; }

  /// Begins with an object or an array.
  void Begin(Json container) {
    value_ = std::move(container);
    open_ = {&value_};
    taken_ = 0;
  }
  /// False where there are too many values, too deep.
  bool Add(Json value) {
    if (++taken_ > kMostValues || open_.size() >= kMostDeep) return false;
    const bool container = value.is_structured();
    Json& in = *open_.back();
    if (in.is_array()) {
      in.push_back(std::move(value));
    } else {
      in[name_] = std::move(value);
    }
    if (container) open_.push_back(in.is_array() ? &in.back() : &in[name_]);
    return true;
  }
  /// False where the object has the member.
  bool Name(const std::string& name) {
    name_ = name;
    return !open_.back()->contains(name);
  }
  /// True where that was the whole value.
  bool End() {
    open_.pop_back();
    return open_.empty();
  }

 private:
  static constexpr size_t kMostValues = 256, kMostDeep = 3;

  Json value_;
  std::vector<Json*> open_;
  std::string name_;
  size_t taken_ = 0;
};

/// Reads the object that a policy is. A field of an object in it is named "history/days". Every
/// event returns false to stop, `failure` set.
class PatchReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  PolicyPatch patch;
  Status failure;

  bool null() override {  // a member: as if absent
    if (parts_.open()) return Part(nullptr);
    return inside_ || WrongType("null");
  }
  bool boolean(bool value) override {
    if (parts_.open()) return Part(value);
    return Is(Kind::kBoolean) ? Take(value) : WrongType("a boolean");
  }
  bool number_integer(number_integer_t value) override {
    if (value >= 0) return number_unsigned(static_cast<number_unsigned_t>(value));
    if (parts_.open()) return Part(value);
    return IsNumber() ? Fail("must not be negative") : WrongType("a number");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (parts_.open()) return Part(value);
    if (Is(Kind::kFraction)) return Take(static_cast<double>(value));
    return Is(Kind::kWhole) ? Take(uint64_t{value}) : WrongType("a number");
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    if (parts_.open()) return Part(value);
    if (Is(Kind::kFraction)) return Take(value);
    return IsNumber() ? Fail("must be a whole number") : WrongType("a number");
  }
  bool string(string_t& value) override {
    if (parts_.open()) return Part(value);
    return Is(Kind::kText) ? Take(std::string_view(value)) : WrongType("a string");
  }
  bool binary(binary_t& /*value*/) override { return WrongType("binary data"); }
  bool start_object(size_t /*size*/) override {
    if (parts_.open()) return Part(Json::object());
    if (Is(Kind::kObject)) return BeginParts(Json::object());
    if (inside_ && (field_ != nullptr || !object_.empty())) return WrongType("an object");
    object_ = inside_ ? name_ : std::string();
    inside_ = true;
    return true;
  }
  bool key(string_t& name) override {
    if (parts_.open()) return parts_.Name(name) || Fail("has a member twice");
    name_ = name;
    const std::string path = object_.empty() ? name : object_ + "/" + name;
    const auto fields = PolicyFields();
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const PolicyField& field) {
      return ObjectOf(field.name) == object_ && NameInObject(field.name) == name;
    });
    field_ = found == fields.end() ? nullptr : &*found;
    const bool is_object = object_.empty() && !name.empty() &&
                           std::any_of(fields.begin(), fields.end(), [&](const PolicyField& field) {
                             return ObjectOf(field.name) == name;
                           });
    if (field_ == nullptr && !is_object) return FailUnknown();
    if (std::find(met_.begin(), met_.end(), path) != met_.end()) return Fail("is repeated");
    met_.push_back(path);
    return true;
  }
  bool end_object() override {
    if (parts_.open()) return EndPart();
    name_ = object_;
    object_.clear();
    field_ = nullptr;
    return true;
  }
  bool start_array(size_t /*size*/) override {
    if (parts_.open()) return Part(Json::array());
    return Is(Kind::kArray) ? BeginParts(Json::array()) : WrongType("an array");
  }
  bool end_array() override { return EndPart(); }
  bool parse_error(size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    // The parser's own words may quote bytes that are not UTF-8: they go no further.
    failure = Status::InvalidArgument("not valid JSON near byte " + std::to_string(position),
                                      name_.empty() ? std::string() : Pointer());
    return false;
  }

 private:
  bool Is(Kind kind) const { return field_ != nullptr && field_->kind == kind; }
  bool IsNumber() const { return Is(Kind::kWhole) || Is(Kind::kFraction); }
  std::string Pointer() const {
    return (object_.empty() ? std::string() : PointerTo(object_)) + PointerTo(name_);
  }
  bool Fail(const std::string& what) {
    const std::string path = object_.empty() ? name_ : object_ + "/" + name_;
    failure = Status::InvalidArgument(path + " " + what, Pointer());
    return false;
  }
  bool FailUnknown() {
    std::vector<std::string_view> known;
    for (const PolicyField& field : PolicyFields()) {
      const std::string_view object = ObjectOf(field.name);
      if (object == object_) known.push_back(NameInObject(field.name));
      const bool is_new = std::find(known.begin(), known.end(), object) == known.end();
      if (object_.empty() && !object.empty() && is_new) known.push_back(object);
    }
    const std::string what = UnknownName("is not a field of a policy", name_, known);
    name_ = Utf8Prefix(name_, kMaxSuggestedBytes);
    return Fail(what);
  }
  bool WrongType(const char* given) {
    const std::string rule = field_ != nullptr ? field_->rule() : "must be an object";
    if (inside_) return Fail(rule + ", not " + given);
    failure = Status::InvalidArgument(std::string("a policy is a JSON object, not ") + given);
    return false;
  }
  bool BeginParts(Json container) {
    parts_.Begin(std::move(container));
    return true;
  }
  bool Part(Json value) { return parts_.Add(std::move(value)) || Fail(field_->rule()); }
  bool EndPart() {
    if (!parts_.End()) return true;
    const Status read = field_->read_parts(parts_.value(), &patch);
    if (!read.ok()) failure = field_->Refusal(read);
    return read.ok();
  }
  bool Take(const FieldValue& value) { return field_->read(value, &patch) || Fail(field_->rule()); }

  bool inside_ = false;
  std::string object_;                  ///< the object in the policy; empty: the policy itself
  std::string name_;                    ///< of the member in it; empty until the first is met
  const PolicyField* field_ = nullptr;  ///< that member; null for an object
  std::vector<std::string> met_;
  PartsReader parts_;  ///< open: within the value of `field_`
};

}  // namespace

std::string PolicyToJson(const Policy& policy) {
  Json json;
  for (const PolicyField& field : PolicyFields()) {
    // Software that does not know the field refuses it: at the default it is left out.
    if (IsLeftOut(field, policy)) continue;
    const std::string object(ObjectOf(field.name));
    Json& holder = object.empty() ? json : json[object];
    holder[std::string(NameInObject(field.name))] = field.write(policy);
  }
  return json.dump();
}

Result<PolicyPatch> PolicyPatchFromJson(std::string_view json) {
  PatchReader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) return reader.failure;
  const PolicyPatch& patch = reader.patch;
  if (patch.window && patch.retention && *patch.window > *patch.retention) {
    return Status::InvalidArgument("window must not be above retention", "/window");
  }
  return patch;
}

}  // namespace seendb
