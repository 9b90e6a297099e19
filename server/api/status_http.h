// server/api/status_http.h: the one table from the engine's Status to HTTP.

#pragma once

#include <cassert>

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

/// The error answer for a failure. Precondition: !status.ok().
inline http::Error ToHttpError(const Status& status) {
  assert(!status.ok());
  return {HttpStatusOf(status.code()), StatusCodeName(status.code()), std::string(status.message()),
          std::string(status.field())};
}

}  // namespace seendb::api
