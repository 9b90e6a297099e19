// server/doors.h: the addresses that the server listens on.

#pragma once

#include "http/listener.h"
#include "ops/config.h"

namespace seendb {

/// Opens those of the settings; false, and a line in the log, where one can't be had.
bool OpenDoors(const ops::Config& config, http::Listener* listener);

/// Says on stdout where the open doors are, the main one first.
void TellDoors(const ops::Config& config, const http::Listener& listener);

}  // namespace seendb
