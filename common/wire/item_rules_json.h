// common/wire/item_rules_json.h: what a filter request asks of the store of items, from JSON.
//
//   "where":[{"field":"state","eq":"public"},{"field":"published_at","ge":500000}]
//   "at_most":{"field":"author","n":2}
//   "unknown":"drop"
//
// Whether fields are there, and values fit them, is the judge's affair (seendb/item_judge.h).

#pragma once

#include <string>
#include <vector>

#include "seendb/item_judge.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Reads the entries of `where`, at most kMaxItemWhere.
Status ReadWhere(ondemand::value value, std::vector<ItemCondition>* where);
/// Reads `{"field","n"}`.
Status ReadAtMost(ondemand::value value, ItemAtMost* at_most);
/// Reads "keep" or "drop".
Status ReadUnknown(ondemand::value value, bool* drop);
/// Reads names of fields, at most kMaxItemFields.
Status ReadItemNames(ondemand::value value, std::vector<std::string>* names);

}  // namespace seendb::wire
