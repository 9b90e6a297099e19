// server/router/appended_json.h: the answer of POST /internal/append: the outcome of a record, as
// the node that appended it tells the node that asked.
//
//   {"offset":7,"applied":true,"verdict":{"code":"not_found","message":"...","field":"..."},
//    "recorded":{"accepted":1,"refused":1,"refusals":[{"index":1,"reason":0,"message":"..."}],
//    "refused_by":[1,0,0,0,0],"outside_window":0,"beyond_cap":0,"day":"","first_today":[]},
//    "erasure":{"known":true,"written":true,"until_ms":5}}
//
// Pure functions. Threads: any.

#pragma once

#include <string>
#include <string_view>

#include "replica/replicas.h"

namespace seendb::router {

std::string AppendedToJson(const replica::Appended& appended);
/// kUnavailable: the text is no such answer.
Result<replica::Appended> AppendedFromJson(std::string_view json);

/// The failure in an error answer (`{"error":{"code","message","field"}}`). kUnavailable if the
/// text is no such answer, or its code is unknown.
Status StatusOfError(std::string_view json);

}  // namespace seendb::router
