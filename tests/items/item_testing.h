// tests/items/item_testing.h: short ways to states, for tests of the room.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "items/row_codec.h"
#include "items/state.h"

namespace seendb::items {

inline Value TextOf(std::string_view text) {
  return {.type = ItemFieldType::kText, .number = 0, .bytes = text};
}
inline Value I64Of(int64_t number) {
  return {.type = ItemFieldType::kI64, .number = OrderedNumber(number), .bytes = {}};
}
inline Value F32Of(float real) {
  return {.type = ItemFieldType::kF32, .number = OrderedReal(real), .bytes = {}};
}
inline Value BoolOf(bool is) {
  return {.type = ItemFieldType::kBool, .number = is ? uint64_t{1} : 0, .bytes = {}};
}
inline Cell SetCell(uint16_t field, uint64_t version, Value value) {
  return {.field = field, .unset = false, .version = version, .value = value};
}
inline Cell UnsetCell(uint16_t field, uint64_t version) {
  return {.field = field, .unset = true, .version = version, .value = {}};
}

/// The state of an update of this version; its cells are ascending.
inline State UpdateOf(uint64_t version, std::vector<Cell> cells) {
  State state;
  state.seen = version;
  state.cells = std::move(cells);
  return state;
}
inline State DeletionOf(uint64_t version) {
  State state;
  state.floor = version;
  return state;
}

inline std::string RowOf(const State& state) {
  std::string row;
  EncodeRow(state, &row);
  return row;
}

}  // namespace seendb::items
