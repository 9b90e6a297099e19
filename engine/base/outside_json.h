// base/outside_json.h: JSON that comes from outside the process, parsed only where it is no deeper
// and has no more values than whoever takes it wants: a value that is nested too deep ends a
// process by its stack, where it is copied, written or walked; and two bytes make a value of a
// hundred.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace seendb {

/// Deepest nesting that is taken from other processes and files: of records of a cluster it is part
/// of the format (server/doc/cluster-format.md).
inline constexpr size_t kOutsideDepthMost = 32;

/// Most values (texts, numbers, arrays, objects, and as many names of members) that are taken.
inline constexpr size_t kOutsideValuesMost = 2'000'000;

/// How deep arrays and objects lie in each other: 0 for a number, 1 for "{}". Of text that is no
/// JSON some number. Cost: one look at each byte.
size_t JsonDepth(std::string_view json);

/// What a text would be as JSON, before it is parsed.
struct JsonShape {
  size_t depth = 0;   ///< as JsonDepth says
  size_t values = 1;  ///< one, and one for each bracket that opens and each comma
};
/// Cost: one look at each byte.
JsonShape JsonShapeOf(std::string_view json);

/// The value; a discarded one (`is_discarded()`) where `json` is none, or deeper than `most`, or
/// has more than `values_most`. Never throws. The size is judged by whoever reads the bytes.
template <typename Json = nlohmann::json>
Json ParseOutside(std::string_view json, size_t most = kOutsideDepthMost,
                  size_t values_most = kOutsideValuesMost) {
  const JsonShape shape = JsonShapeOf(json);
  if (shape.depth > most || shape.values > values_most) {
    return Json(nlohmann::detail::value_t::discarded);
  }
  return Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
}

/// The whole number from 0 to `most` that a parsed `value` is; nothing: it is none of these.
/// nlohmann_json's own `get` makes a number of a fraction, and of one that has no room.
template <typename Json>
std::optional<uint64_t> WholeNumber(const Json& value, uint64_t most) {
  if (!value.is_number_unsigned()) return {};
  const auto number = value.template get<uint64_t>();
  return number <= most ? std::optional(number) : std::nullopt;
}

}  // namespace seendb
