// server/files/json_keys.h: reading a JSON object by a table of its keys: what is not in the table
// is refused by name, and every refusal names the key by its JSON pointer.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "seendb/status.h"

namespace seendb::files {

using Json = nlohmann::json;

class Setter;
/// The keys an object may have.
using Keys = std::map<std::string, Setter>;

/// How a value is written where it is text alone, as in a variable of the environment.
enum class Written : uint8_t {
  kJson,     ///< as JSON; what is none, as text
  kText,     ///< as it is
  kTexts,    ///< with commas between them, or as JSON
  kNumbers,  ///< likewise; a word alone is text
};

/// Sets one key from its value; an error's field is filled in by the caller.
class Setter {
 public:
  template <typename Set>
  Setter(Set set, Written written = Written::kJson)  // NOLINT(google-explicit-constructor)
      : set_(std::move(set)), written_(written) {}

  /// The same, which also tells the value that it has.
  Setter Showing(std::function<Json()> value) && {
    value_ = std::move(value);
    return std::move(*this);
  }
  /// The same, of an object whose keys are known beforehand. `optional`: without it, these have no
  /// values.
  Setter Having(std::shared_ptr<const Keys> inner, bool optional) && {
    inner_ = std::move(inner);
    optional_ = optional;
    return std::move(*this);
  }

  Status operator()(const Json& value) const { return set_(value); }
  Written written() const { return written_; }
  /// The value that the key has; null where it does not tell.
  Json value() const { return value_ ? value_() : Json(); }
  /// Of an object: its keys, as far as they are known beforehand; null: they are not.
  const Keys* inner() const { return inner_.get(); }
  bool optional() const { return optional_; }

 private:
  std::function<Status(const Json&)> set_;
  std::function<Json()> value_;
  Written written_;
  bool optional_ = false;
  std::shared_ptr<const Keys> inner_;
};

/// An integer within min..max.
template <typename T>
Setter Integer(T* to, int64_t min, int64_t max) {
  const auto set = [=](const Json& value) {
    if (!value.is_number_integer()) return Status::InvalidArgument("must be an integer");
    const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
    if (huge || value.get<int64_t>() < min || value.get<int64_t>() > max) {
      return Status::InvalidArgument("must be within " + std::to_string(min) + ".." +
                                     std::to_string(max));
    }
    *to = static_cast<T>(value.get<int64_t>());
    return Status::Ok();
  };
  return Setter(set).Showing([to] { return Json(*to); });
}

/// Parses a document, refusing repeated keys at any depth.
Status ParseStrictly(std::string_view json, Json* document);

/// A string.
Setter Text(std::string* to);
/// A string of at least one character.
Setter Name(std::string* to);
/// true or false.
Setter Flag(bool* to);
/// One of two words: false, true.
Setter OneOf(bool* to, const char* no, const char* yes);
/// A list of at most `most` strings, each of which `check` finds nothing wrong with; it says what
/// is.
Setter TextList(std::vector<std::string>* to, size_t most,
                std::function<Status(const std::string&)> check);
/// Applies every member of `object`, found at the pointer `at`.
Status Apply(const Json& object, const Keys& keys, const std::string& at);
/// An object with keys of its own.
Setter Section(Keys keys);
/// The same, read into a fresh value, which is `*to` where `check` finds nothing wrong with it.
template <typename T>
Setter SectionOf(std::optional<T>* to, Keys (*keys)(T*), Status (*check)(const T&)) {
  const auto set = [=](const Json& value) {
    T read;
    Status status = Apply(value, keys(&read), "");
    if (status.ok()) status = check(read);
    if (status.ok()) *to = std::move(read);
    return status;
  };
  static T unset;  // whose values are the defaults; nobody sets them
  return Setter(set).Having(std::make_shared<const Keys>(keys(&unset)), /*optional=*/true);
}

}  // namespace seendb::files
