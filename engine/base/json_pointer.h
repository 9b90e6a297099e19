// base/json_pointer.h: where in a document something is, as RFC 6901 writes it.

#pragma once

#include <string>
#include <string_view>

namespace seendb {

/// "/" and `key`, escaped.
std::string PointerTo(std::string_view key);

}  // namespace seendb
