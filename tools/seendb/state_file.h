// seendb/state_file.h: a small JSON file that says how far a long command came.

#pragma once

#include <string>

#include "http_client.h"
#include "seendb/status.h"

namespace seendb::tool {

/// The object in `path`; an empty one where there is no such file. kInvalidArgument: the file holds
/// something else. kIOError.
Result<Json> ReadStateFile(const std::string& path);
/// Replaces the file at once: a reader finds the old object or the new one. kIOError.
Status WriteStateFile(const std::string& path, const Json& state);

}  // namespace seendb::tool
