// common/wire/sets_json.h: named sets of items, and their names in filter requests, from JSON; what
// is told of sets to JSON.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "seendb/set_store.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Reads `{"items":[...]}` behind what `*items` has already, kMaxSetItems together; views are good
/// until `document` goes.
Status ParseSet(std::string_view body, JsonDocument* document, std::vector<IdRef>* items);

/// The names of sets in a filter request, at most kMaxExcludedSets; the sets are the caller's to
/// find.
Status ReadSetNames(ondemand::value value, std::vector<ExcludedSet>* sets);

/// Appends `{"name":"blocked","count":2,"bytes":99,"at":MS}`.
void AppendSetInfo(const SetInfo& info, std::string* out);
/// Appends `{"sets":[...],"bytes":n,"bytes_limit":m}`.
void AppendSets(const std::vector<SetInfo>& sets, std::string* out);
/// Appends the set's members as AppendSetInfo does, `"items":["a"]` and, where there are more,
/// `"cursor":"a"`.
void AppendSetPage(const SetPage& page, std::string* out);

}  // namespace seendb::wire
