// common/wire/sets_json.h: named sets of items, and their names in filter requests, from JSON; what
// is told of sets to JSON.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "seendb/set_store.h"
#include "seendb/user_sets.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Reads `{"items":[...]}` behind what `*items` has already, kMaxSetItems together; views are good
/// until `document` goes.
Status ParseSet(std::string_view body, JsonDocument* document, std::vector<IdRef>* items);

/// Reads `{"items":[...],"expires_ms":n,"at":MS}` into a user's set, but for user and name.
Status ParseUserSet(std::string_view body, JsonDocument* document, std::vector<IdRef>* items,
                    UserSet* set);
/// A record of the log about a user's set:
/// `{"name":"session","items":[...],"expires_ms":n,"at":MS}` puts it,
/// `{"name":"session","deleted":true}` deletes it. The user is the record's key.
void AppendUserSetRecord(const UserSet& set, std::string* out);
void AppendUserSetDeletion(std::string_view name, std::string* out);
Status ParseUserSetRecord(std::string_view value, JsonDocument* document, std::vector<IdRef>* items,
                          UserSet* set, bool* deleted);
/// Appends `{"name":"session","count":2,"at":MS,"expires_at":MS}`, a list of these, and a page with
/// `"items"` and `"cursor"`.
void AppendUserSetInfo(const UserSetInfo& info, std::string* out);
void AppendUserSets(const UserSetList& list, std::string* out);
void AppendUserSetPage(const UserSetPage& page, std::string* out);
/// Appends a set's members, without braces.
void AppendUserSetMembers(const UserSetInfo& info, std::string* out);

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
