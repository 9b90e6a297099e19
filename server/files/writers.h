// server/files/writers.h: who may write a file that says who may do what, or holds a secret.

#pragma once

#include <string>

#include "seendb/status.h"

namespace seendb::files {

/// Refuses a file that others than its owner may write: kInvalidArgument, with the command that
/// mends it. kIOError: it can't be looked at. Links are followed.
Status CheckWriters(const std::string& path);

}  // namespace seendb::files
