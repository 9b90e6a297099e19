// items/row_codec.h: a state as bytes: the row of an item in the database, and a merge operand,
// which have one layout. engine/doc/item-format.md describes it.

#pragma once

#include <string>
#include <string_view>

#include "items/state.h"

namespace seendb::items {

/// Appends the row of a state whose cells are ascending and not below the floor.
void EncodeRow(const State& state, std::string* out);

/// Reads a row; the state borrows its bytes. False for bytes that EncodeRow did not write.
bool ParseRow(std::string_view row, State* state);

}  // namespace seendb::items
