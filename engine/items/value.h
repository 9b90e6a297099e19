// items/value.h: the value of one field of an item, as the room's codecs hand it on: the type, and
// either a number or bytes that somebody else owns.
//
//   bool, i64, f32     a number whose order as an unsigned integer is that of the values
//   text               its bytes
//   list_i64           8 bytes per entry, big-endian, the sign bit turned
//   list_text          per entry its length (2 bytes, big-endian) and its bytes

#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "seendb/item_store.h"

namespace seendb::items {

/// A value as a caller gave it, or as an item has it. Borrows `bytes`.
struct Value {
  ItemFieldType type = ItemFieldType::kBool;
  uint64_t number = 0;
  std::string_view bytes;

  friend bool operator==(const Value&, const Value&) = default;
};

/// Whether the type's values are numbers; those of the others are bytes.
constexpr bool IsNumber(ItemFieldType type) {
  return type == ItemFieldType::kBool || type == ItemFieldType::kI64 || type == ItemFieldType::kF32;
}

constexpr uint64_t OrderedNumber(int64_t value) {
  return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
}
constexpr int64_t NumberOf(uint64_t ordered) {
  return static_cast<int64_t>(ordered ^ (uint64_t{1} << 63));
}
/// The order of floats that are no NaN; of -0 and 0 the second is the greater.
constexpr uint32_t OrderedReal(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return bits >> 31 ? ~bits : bits | uint32_t{1} << 31;
}
constexpr float RealOf(uint32_t ordered) {
  return std::bit_cast<float>(ordered >> 31 ? ordered ^ uint32_t{1} << 31 : ~ordered);
}

/// Less than 0, 0 or more: the order that settles equal versions.
int Compare(const Value& a, const Value& b);

/// The type of a caller's value.
ItemFieldType TypeOf(const ItemValue& value);

/// Turns a caller's value into one of the room. `scratch` keeps a list's bytes; texts stay the
/// caller's. kInvalidArgument, with a message alone: no number, too long, too many entries, not
/// UTF-8.
Result<Value> FromCaller(const ItemValue& value, std::string* scratch);

/// A caller's own copy.
ItemValue ToCaller(const Value& value);

/// Whether `is_it` says yes to one of the entries of a list, which it is given as bytes: numbers in
/// their 8.
bool AnyEntry(ItemFieldType type, std::string_view list,
              const std::function<bool(std::string_view)>& is_it);
/// The bytes that a number has in a list.
std::string EntryOf(int64_t number);

/// Whether stored bytes can be a value of this type: lists end where their last entry does.
bool IsSound(const Value& value);

/// "bool", "i64", "f32", "text", "list_i64", "list_text".
std::string_view TypeName(ItemFieldType type);
std::optional<ItemFieldType> TypeOfName(std::string_view name);

}  // namespace seendb::items
