// seendb/version.h: which software this is.

#pragma once

namespace seendb::tool {

/// "0.1.0 (5916d6f0a1b2)": the version, and the commit that was built; "unknown" outside a
/// checkout.
extern const char* const kVersion;

}  // namespace seendb::tool
