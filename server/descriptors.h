// server/descriptors.h: connections and files share the descriptors of the process.

#pragma once

#include "http/limits.h"

namespace seendb {

/// Raises the limit of descriptors as far as it goes, and lowers that of connections to half of it,
/// which is logged: a database that can open no file stops writing.
void FitConnections(http::Limits* limits);

}  // namespace seendb
