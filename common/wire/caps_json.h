// common/wire/caps_json.h: caps from JSON: at most so many of one group.

#pragma once

#include <vector>

#include "seendb/facts.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Reads `[{"of":"author","fact":"served","n":2,"within":"1d"}]`; a refusal's field is the cap's.
Status ReadCaps(ondemand::value value, std::vector<Cap>* caps);

}  // namespace seendb::wire
