// server/check_config.h: the flag --check-config.

#pragma once

#include "ops/config.h"

namespace seendb {

/// Says whether a server would take the settings, on stdout or stderr; the exit code. The files and
/// hosts that they name are not looked at.
int CheckConfig(const ops::Config& config);

}  // namespace seendb
