// server/version.h: which software this is.

#pragma once

namespace seendb {

/// "0.1.0".
extern const char* const kServerVersion;
/// Twelve digits of the commit that was built; "unknown" outside a checkout.
extern const char* const kServerCommit;

}  // namespace seendb
