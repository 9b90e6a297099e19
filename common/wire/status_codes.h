// common/wire/status_codes.h: the engine's failures as HTTP's status and as names, both ways: the
// one table of servers, nodes and the tool.

#pragma once

#include <optional>
#include <string_view>

#include "seendb/status.h"

namespace seendb::wire {

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

/// The failure of an HTTP status that comes without a name that is known: a proxy's, say, or a
/// newer server's. All that may pass by itself is kUnavailable, but 429, which is kBusy.
constexpr StatusCode CodeOfHttpStatus(unsigned status) noexcept {
  switch (status) {
    case 401:
    case 403:
      return StatusCode::kForbidden;
    case 404:
      return StatusCode::kNotFound;
    case 409:
      return StatusCode::kIncompatible;
    case 429:
      return StatusCode::kBusy;
    case 507:
      return StatusCode::kIOError;
    default:
      return status >= 500 || status == 408 ? StatusCode::kUnavailable
                                            : StatusCode::kInvalidArgument;
  }
}

/// The failure of that name (StatusCodeName); nothing: a newer version's, or none.
inline std::optional<StatusCode> StatusCodeOfName(std::string_view name) noexcept {
  for (const StatusCode code :
       {StatusCode::kInvalidArgument, StatusCode::kNotFound, StatusCode::kIncompatible,
        StatusCode::kCorruption, StatusCode::kBusy, StatusCode::kIOError, StatusCode::kUnavailable,
        StatusCode::kClosed, StatusCode::kIncomplete, StatusCode::kForbidden}) {
    if (StatusCodeName(code) == name) return code;
  }
  return {};
}

}  // namespace seendb::wire
