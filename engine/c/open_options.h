// c/open_options.h: Options as JSON, for callers that are not C++.

#pragma once

#include <string_view>

#include "seendb/options.h"
#include "seendb/status.h"

namespace seendb::c {

/// Reads an object of members of Options over `*options`; empty text changes nothing. An unknown or
/// repeated key, a wrong type and a value out of range are kInvalidArgument, with the key as the
/// field ("/shards"). Throws std::bad_alloc.
Status ReadOptions(std::string_view json, Options* options);

}  // namespace seendb::c
