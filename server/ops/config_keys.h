// server/ops/config_keys.h: reading a JSON object by a table of its keys: what is not in the table
// is refused by name, and every refusal names the key by its JSON pointer.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "seendb/status.h"

namespace seendb::ops {

using Json = nlohmann::json;

/// Sets one key from its value; an error's field is filled in by the caller.
using Setter = std::function<Status(const Json&)>;
/// The keys an object may have.
using Keys = std::map<std::string, Setter>;

/// An integer within min..max.
template <typename T>
Setter Integer(T* to, int64_t min, int64_t max) {
  return [=](const Json& value) {
    if (!value.is_number_integer()) return Status::InvalidArgument("must be an integer");
    const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
    if (huge || value.get<int64_t>() < min || value.get<int64_t>() > max) {
      return Status::InvalidArgument("must be within " + std::to_string(min) + ".." +
                                     std::to_string(max));
    }
    *to = static_cast<T>(value.get<int64_t>());
    return Status::Ok();
  };
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

}  // namespace seendb::ops
