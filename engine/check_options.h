// engine/check_options.h: which settings an engine can be opened with, whatever is in its folder.

#pragma once

#include "seendb/options.h"
#include "seendb/status.h"

namespace seendb {

/// kInvalidArgument with the setting at fault ("/ring_slots").
Status CheckOptions(const Options& options);

}  // namespace seendb
