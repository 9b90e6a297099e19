// seendb/local_zone.h: the zone of dates that name none: --time-zone, or the offset of the
// collection that the log goes into.

#pragma once

#include <string>

#include "database.h"
#include "log_flags.h"

namespace seendb::tool {

/// Settles `log->columns.time_form.zone`. kBusy, kUnavailable: ask again. Where the collection
/// can't be asked for its offset, rows that need it are bad.
Status TakeZoneOf(Database& database, const std::string& collection, LogFlags* log);

}  // namespace seendb::tool
