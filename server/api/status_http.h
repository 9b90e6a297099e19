// server/api/status_http.h: the one table from the engine's Status to HTTP.

#pragma once

#include <string>
#include <string_view>

#include "http/error.h"
#include "seendb/status.h"

namespace seendb::api {

/// The HTTP status of a failure.
constexpr unsigned HttpStatusOf(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kInvalidArgument:
      return 400;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kIncompatible:
      return 409;
    case StatusCode::kForbidden:
      return 403;
    case StatusCode::kCorruption:
      return 500;
    case StatusCode::kBusy:
    case StatusCode::kIOError:
    case StatusCode::kUnavailable:
    case StatusCode::kClosed:
    case StatusCode::kIncomplete:
      return 503;
  }
  return 500;
}

/// `message` with the last part alone of each path in it: where files lie is the operator's affair,
/// and stands in the log.
std::string WithoutFolders(std::string_view message);

/// The error answer for a failure; those of 409 and of 500 and more name no folders.
/// Precondition: !status.ok().
http::Error ToHttpError(const Status& status);

}  // namespace seendb::api
