// server/api/status_http.h: a failure as the error answer that callers get.

#pragma once

#include <string>
#include <string_view>

#include "http/error.h"
#include "seendb/status.h"

namespace seendb::api {

/// `message` with the last part alone of each path in it: where files lie is the operator's affair,
/// and stands in the log.
std::string WithoutFolders(std::string_view message);

/// The error answer for a failure; those of 409 and of 500 and more name no folders.
/// Precondition: !status.ok().
http::Error ToHttpError(const Status& status);

}  // namespace seendb::api
