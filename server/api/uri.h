// server/api/uri.h: the parts of a request target.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seendb/status.h"

namespace seendb::api {

/// Resolves %XX; nothing where an escape is malformed. '+' stays as it is.
std::optional<std::string> PercentDecode(std::string_view text);

/// The path of an origin-form or absolute-form target's path part ("http://host/filter").
std::string_view StripAuthority(std::string_view path);

/// Splits a query into decoded pairs; refuses malformed escapes, repeated names, and '+', which
/// forms and most libraries write for a blank, and others for itself.
Status ParseQuery(std::string_view query, std::vector<std::pair<std::string, std::string>>* pairs);

}  // namespace seendb::api
