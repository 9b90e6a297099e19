// server/ops/exit_codes.h: how seendb-server ends, for supervisors. Documented in
// server/doc/operations.md; numbers never change their meaning.

#pragma once

#include "seendb/status.h"

namespace seendb::ops {

inline constexpr int kExitOk = 0;            ///< stopped by a signal, everything synced
inline constexpr int kExitFailure = 1;       ///< anything not below: I/O, the port is taken
inline constexpr int kExitUsage = 2;         ///< flags or config file
inline constexpr int kExitIncompatible = 3;  ///< the database was made with other fixed settings
inline constexpr int kExitCorruption = 4;    ///< the database is damaged; see --open-damaged
inline constexpr int kExitBusy = 5;          ///< another process has the database open

/// The exit code for a failed Engine::Open.
constexpr int ExitCodeOf(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return kExitOk;
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kIncompatible:
      return kExitIncompatible;
    case StatusCode::kCorruption:
      return kExitCorruption;
    case StatusCode::kBusy:
      return kExitBusy;
    case StatusCode::kNotFound:
    case StatusCode::kIOError:
    case StatusCode::kUnavailable:
    case StatusCode::kClosed:
    case StatusCode::kIncomplete:
    case StatusCode::kForbidden:
      break;
  }
  return kExitFailure;
}

}  // namespace seendb::ops
