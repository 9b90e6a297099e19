// seendb/exit_code.h: what the process says to the shell. The one table Status -> exit code.

#pragma once

#include "seendb/status.h"

namespace seendb::tool {

/// The exit code of a result. Codes are append-only.
int ExitCodeOf(StatusCode code) noexcept;

/// The exit code of a malformed command line.
inline constexpr int kExitUsage = 2;
/// The exit code of a log of which more rows were refused or bad than --max-refused allows.
inline constexpr int kExitRows = 8;
/// The exit code of a comparison that found items missing.
inline constexpr int kExitMissing = 10;
/// Added to the number of the signal that interrupted a command.
inline constexpr int kExitSignal = 128;

/// The table, for --help.
extern const char* const kExitCodeHelp;

}  // namespace seendb::tool
