// server/api/paging.h: ?limit= and ?cursor= of routes that answer page by page.

#pragma once

#include <cstddef>
#include <string_view>

#include "api/context.h"
#include "seendb/status.h"

namespace seendb::api {

/// Reads both into `*limit` and `*cursor`, which stay as they are where the call does not name
/// them. kInvalidArgument: "/limit" is not from 1 to `most`; "/cursor" is empty.
Status ReadPage(const Call& call, size_t most, size_t* limit, std::string_view* cursor);

}  // namespace seendb::api
