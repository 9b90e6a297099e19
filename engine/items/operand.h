// items/operand.h: an update as the caller gives it, checked against the schema and turned into the
// state that joins the item's.

#pragma once

#include <deque>
#include <string>

#include "items/schema.h"
#include "items/state.h"

namespace seendb::items {

/// The state of an update that arrives at `now_ms`, or what is wrong with it: kInvalidArgument with
/// the field's place in the update ("/set/author"). Borrows texts of the update; `scratch` keeps
/// what it makes of lists.
Result<State> OperandOf(const ItemUpdate& update, const Schema& schema, uint64_t now_ms,
                        std::deque<std::string>* scratch);

}  // namespace seendb::items
