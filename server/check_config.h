// server/check_config.h: the flag --check-config.

#pragma once

#include "ops/config.h"

namespace seendb {

/// Says whether a server would take the settings, on stdout or stderr; the exit code. Certificates,
/// keys and tokens are read, the folder and the file of the audit are looked at; nothing is made,
/// and no host is asked.
int CheckConfig(const ops::Config& config);

}  // namespace seendb
