// server/api/name_list.h: names in a query, with commas between: ?collections=short,live.

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "seendb/status.h"

namespace seendb::api {

/// Appends the names, which `call` holds; none where the parameter is absent or empty.
/// kInvalidArgument: more than `most` ("/collections"), or an empty one ("/collections/1").
Status ReadNames(const Call& call, std::string_view parameter, size_t most,
                 std::vector<std::string_view>* names);

}  // namespace seendb::api
