// common/wire/counts_json.h: how often a user was served, saw and played what belongs to a group,
// to JSON.

#pragma once

#include <string>

#include "seendb/counts.h"

namespace seendb::wire {

/// Appends `{"counts":[{"key":"author:3","served":{"1h":0,"1d":2,"7d":2,"30d":2},"played":{..},
/// "exposed":{..}}]}`; an item's own is `{"key":"item:v1","item":"v1",..}`; a key whose events are
/// too many to be all kept has `"at_least":true`. Behind the list `"more":true` and
/// `"degraded":true`, where they are.
void AppendCounts(const CountsPage& page, std::string* out);
/// Appends a key's members, without braces.
void AppendCountMembers(const GroupCounts& group, std::string* out);

}  // namespace seendb::wire
